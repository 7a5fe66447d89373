/* sets.c - kernels whose needs differ get device code of their own: a kernel pays for nothing
 * that only its neighbours need.
 *
 * Whatever the steps from ir_globalise to ir_dispatch decide, they decide for a module: which
 * regions the state machine compares with, which state the runtime keeps, in which contexts a
 * function runs.  So a module whose kernels do not agree is divided into sets of kernels that do,
 * each becomes a module, and every one of these steps sees a set as if it stood in a file of its
 * own.  Then they are joined again.
 *
 *                     ┌─ kernels 1, 3: regions a, b ─ globalise … dispatch ─┐
 *     one module ─ split                                                    join ─ optimise ─ emit
 *                     └─ kernel 2: SPMD ───────────── globalise … dispatch ─┘
 *
 * Which kernels agree, agree.c finds.  A module with one kernel, or with kernels that agree, is one
 * set: nothing is copied.
 *
 * What exists once, whatever the number of sets: variables in global memory, and functions that do
 * not depend on the kernel, because they reach neither the runtime nor a function that another file
 * or the system provides.  They belong to the first set, the home; the others see them as
 * available_externally, which LLVM's linker drops for the definition.  Function pointers: an
 * address may be stored by one kernel and called or compared by another.  So a function whose
 * address is taken and that depends on the kernel has its address at home only; the other sets have
 * a copy for direct calls and a stand-in with that address. */
#include "codegen/ir/analysis/analysis.h"
#include "codegen/ir/link/link.h"
#include "codegen/ir/passes/passes.h"
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

/* A local symbol that exists once is external between split and join, as PREFIX NUMBER _ NAME.  The
 * number is there because LLVM's linker, where it replaces f, calls the old one f.1 for a while: an
 * f.1 of the module that comes in would be taken for that one. */
static const char once_prefix[] = "__ompgpu_once_";

struct symbol { /* for all sets */
    const char *name;
    bool function, defined, once;
    bool address; /* once, but with a copy in each set */
    unsigned kernel;
};
struct splitter {
    const struct ir_study *study;
    struct symbol *symbols; /* by node */
};
struct needs {
    bool *nodes, unknown;
    unsigned size;
};

/* ------------------------------------------------------------------ split */
/* Aliases and lists that the linker concatenates are beyond what is done here; C has them for the
 * device hardly ever. */
static bool can_divide(const struct ir_unit *u)
{
    if (LLVMGetFirstGlobalAlias(u->module) || LLVMGetFirstGlobalIFunc(u->module))
        return false;
    IR_EACH_GLOBAL(v, u->module)
        if (LLVMGetLinkage(v) == LLVMAppendingLinkage)
            return false;
    for (unsigned i = 0; i < u->nkernels; i++)
        if (LLVMGetFirstUse(ir_kernel_function(u->module, &u->kernels[i])))
            return false;
    return true;
}

/* `f` gets the name `own`, and all direct calls; whatever else is done with its address goes to a
 * stand-in of the old name, to be replaced by what has that name in another module. */
void ir_leave_address(LLVMModuleRef m, LLVMValueRef f, const char *own)
{
    const char *name = mem_strdup(ir_name(f));
    LLVMSetValueName2(f, own, strlen(own));
    LLVMValueRef there = LLVMAddFunction(m, name, LLVMGlobalGetValueType(f));
    LLVMSetFunctionCallConv(there, LLVMGetFunctionCallConv(f));
    LLVMBuilderRef b = LLVMCreateBuilderInContext(LLVMGetModuleContext(m));
    LLVMPositionBuilderAtEnd(b, LLVMAppendBasicBlockInContext(LLVMGetModuleContext(m), there, ""));
    LLVMBuildUnreachable(b);
    LLVMDisposeBuilder(b);
    LLVMReplaceAllUsesWith(f, there);
    unsigned n = 0;
    IR_EACH_USE(use, there)
        n++;
    LLVMValueRef *users = mem_array(n + 1, sizeof *users);
    n = 0;
    IR_EACH_USE(use, there)
        users[n++] = LLVMGetUser(use);
    for (unsigned i = 0; i < n; i++)
        for (unsigned o = 0;
             LLVMIsAInstruction(users[i]) && o < (unsigned)LLVMGetNumOperands(users[i]); o++)
            if (LLVMGetOperand(users[i], o) == there && ir_is_for_call(users[i], o))
                LLVMSetOperand(users[i], o, f);
    LLVMSetLinkage(there, LLVMAvailableExternallyLinkage);
}

/* The name that a symbol had before name_all. */
static const char *name_before(const char *name)
{
    if (!text_starts(name, once_prefix))
        return name;
    name += strlen(once_prefix);
    return name + strspn(name, "0123456789") + strlen("_");
}

/* A set's own copy of a function whose address is the home's. */
static void add_stand_in(LLVMModuleRef m, LLVMValueRef f)
{
    ir_leave_address(m, f, mem_printf("%s.direct", name_before(ir_name(f))));
    LLVMSetLinkage(f, LLVMInternalLinkage);
}

static bool exists_once(const struct ir_study *s, unsigned node)
{
    const struct ir_node *n = &s->g->nodes[node];
    return n->defined && (LLVMIsAFunction(n->value) ? !s->depends[node] || s->address[node]
                                                    : !ir_is_team_shared(s->u, n->value));
}

/* What exists once gets a name by which the sets find it, and which nothing in a library has. */
static struct symbol *name_all(const struct ir_study *s)
{
    struct symbol *symbols = mem_array(s->g->n, sizeof *symbols);
    for (unsigned i = 0; i < s->g->n; i++) {
        LLVMValueRef v = s->g->nodes[i].value;
        bool once = exists_once(s, i);
        if (once && ir_is_local_linkage(v)) {
            const char *name = mem_printf("%s%u_%s", once_prefix, i, ir_name(v));
            LLVMSetValueName2(v, name, strlen(name));
            LLVMSetLinkage(v, LLVMExternalLinkage);
        }
        symbols[i] = (struct symbol){ .name = mem_strdup(ir_name(v)),
                                      .function = LLVMIsAFunction(v),
                                      .defined = s->g->nodes[i].defined,
                                      .once = once,
                                      .address = once && s->depends[i] && s->address[i],
                                      .kernel = s->kernel[i] };
    }
    return symbols;
}

/* Repeatedly, as the module is divided: what has its place keeps it. */
static void place_symbol(LLVMModuleRef m, const struct symbol *symbol, LLVMValueRef v, bool home)
{
    if (!symbol->once)
        LLVMSetLinkage(v, LLVMInternalLinkage);
    else if (!home && symbol->address && LLVMGetLinkage(v) != LLVMAvailableExternallyLinkage)
        add_stand_in(m, v);
    else if (!home)
        LLVMSetLinkage(v, LLVMAvailableExternallyLinkage);
}

/* Only what the kernels of sets first … end-1 reach is left in the module; the home keeps what
 * exists once. */
static void keep_sets(const struct splitter *s, LLVMModuleRef m, unsigned first, unsigned end)
{
    for (unsigned i = 0; i < s->study->g->n; i++) {
        const struct symbol *symbol = &s->symbols[i];
        LLVMValueRef v = symbol->function ? LLVMGetNamedFunction(m, symbol->name)
                                          : LLVMGetNamedGlobal(m, symbol->name);
        if (!v || !symbol->defined || text_starts(symbol->name, "llvm."))
            continue;
        unsigned set = symbol->kernel ? s->study->set[symbol->kernel - 1] : 0;
        if (!symbol->kernel)
            place_symbol(m, symbol, v, first == 0);
        else if (set < first || set >= end)
            LLVMDeleteFunction(v);
    }
    ir_run_passes(m, "globaldce", NULL);
}

/* A unit for the kernels of one set; those go back to where they were when the sets are joined. */
static struct ir_unit make_unit(const struct ir_study *s, LLVMModuleRef m, unsigned set)
{
    struct ir_unit unit = *s->u;
    unit.module = m;
    unit.layout = LLVMGetModuleDataLayout(m);
    unit.kernels = mem_array(unit.nkernels, sizeof *unit.kernels);
    unit.origin = mem_array(unit.nkernels, sizeof *unit.origin);
    unit.nkernels = 0;
    unit.partial = unit.queries = false;
    for (unsigned k = 0; k < s->u->nkernels; k++)
        if (s->set[k] == set) {
            unit.partial |= s->u->kernels[k].partial != 0;
            unit.queries |= s->u->kernels[k].queries;
            unit.origin[unit.nkernels] = k;
            unit.kernels[unit.nkernels++] = s->u->kernels[k];
        }
    if (set)
        unit.nexports = 0; /* they are the home's */
    return unit;
}

/* By halves, so that the work does not grow with the square of the number of sets. */
static void divide(const struct splitter *s, LLVMModuleRef m, unsigned first, unsigned end)
{
    if (end - first == 1) {
        s->study->u->sets[first] = make_unit(s->study, m, first);
        return;
    }
    unsigned middle = (first + end) / 2;
    LLVMModuleRef other = LLVMCloneModule(m);
    LLVMSetModuleInlineAsm2(other, "", 0);
    keep_sets(s, m, first, middle);
    keep_sets(s, other, middle, end);
    divide(s, m, first, middle);
    divide(s, other, middle, end);
}

bool ir_split(struct ir_unit *u)
{
    if (u->nkernels < 2 || !can_divide(u))
        return true;
    struct ir_study *study = ir_study_kernels(u);
    if (study->nsets > 1) {
        struct splitter s = { study, name_all(study) };
        u->sets = mem_array(study->nsets, sizeof *u->sets);
        divide(&s, u->module, 0, study->nsets);
        u->nsets = study->nsets;
    }
    return true;
}

/* The units that a step runs on, from i = 0 on; NULL after the last. */
struct ir_unit *ir_set(struct ir_unit *u, unsigned i)
{
    if (!u->nsets)
        return i ? NULL : u;
    return i < u->nsets ? &u->sets[i] : NULL;
}

/* ------------------------------------------------------------------ join */
/* Of the runtime, too, a set has its own of what depends on the kernel: what touches the team's
 * state and the constants of configure.c.  By node. */
static bool *find_own(const struct ir_unit *u, const struct ir_graph *g)
{
    bool *own = mem_array(g->n, sizeof *own);
    for (unsigned i = 0; i < g->n; i++)
        own[i] = ir_is_team_shared(u, g->nodes[i].value) ||
                 text_starts(ir_name(g->nodes[i].value), "__ompgpu_cfg_");
    ir_graph_reaching(g, own);
    for (unsigned i = 0; i < u->nkernels; i++)
        own[ir_graph_find(g, ir_kernel_function(u->module, &u->kernels[i]))] = true;
    return own;
}

static void keep_own(const struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    bool *own = find_own(u, g);
    for (unsigned i = 0; i < g->n; i++) {
        LLVMValueRef v = g->nodes[i].value;
        if (!g->nodes[i].defined || ir_is_local_linkage(v) ||
            LLVMGetLinkage(v) == LLVMAvailableExternallyLinkage)
            continue;
        /* nothing calls those of the backend yet */
        LLVMLinkage shared =
            ir_is_backend_call(ir_name(v)) ? LLVMWeakODRLinkage : LLVMLinkOnceODRLinkage;
        LLVMSetLinkage(v, own[i] ? LLVMInternalLinkage : shared);
    }
    for (unsigned i = 0; i < u->nkernels; i++)
        LLVMSetLinkage(ir_kernel_function(u->module, &u->kernels[i]), LLVMExternalLinkage);
}

static void give_names_back(LLVMValueRef v)
{
    const char *name = ir_name(v), *before = name_before(name);
    if (before == name || LLVMIsDeclaration(v))
        return;
    LLVMSetLinkage(v, LLVMInternalLinkage);
    before = mem_strdup(before);
    LLVMSetValueName2(v, before, strlen(before));
}

static LLVMModuleRef join(const struct ir_unit *u, unsigned first, unsigned end)
{
    if (end - first == 1) {
        if (first)
            keep_own(&u->sets[first]);
        return u->sets[first].module;
    }
    LLVMModuleRef m = join(u, first, (first + end) / 2);
    if (LLVMLinkModules2(m, join(u, (first + end) / 2, end))) /* takes it */
        diag_bug("the kernels of a file cannot be joined again");
    return m;
}

bool ir_join(struct ir_unit *u)
{
    if (!u->nsets)
        return true;
    join(u, 0, u->nsets); /* into u->module, which is the home's */
    for (unsigned i = 0; i < u->nsets; i++)
        for (unsigned k = 0; k < u->sets[i].nkernels; k++)
            u->kernels[u->sets[i].origin[k]] = u->sets[i].kernels[k];
    IR_EACH_FUNCTION(f, u->module)
        give_names_back(f);
    IR_EACH_GLOBAL(v, u->module)
        give_names_back(v);
    u->nsets = 0;
    return true;
}
