/* specialise.c - kernels whose needs differ get device code of their own: a kernel pays for nothing
 * that only its neighbours need.
 *
 * Whatever the steps from ir_globalise to ir_dispatch decide, they decide for a module: which
 * regions the state machine compares with, which state the runtime keeps, in which contexts a
 * function runs.  So a module whose kernels do not agree is divided into sets of kernels that do,
 * each becomes a module, and every one of these steps sees a set as if it stood in a file of its
 * own.  Then they are joined again.
 *
 *                      ┌─ kernels 1, 3: regions a, b ─ globalise ─ … ─ dispatch ─┐
 *     one module ─ split                                                        join ─ optimise ─ emit
 *                      └─ kernel 2: SPMD ───────────── globalise ─ … ─ dispatch ─┘
 *
 * Kernels agree when they have the same mode, can reach the same regions and, in generic mode with
 * regions, the same entries of the runtime. A module with one kernel, or with kernels that agree,
 * is one set: nothing is copied.
 *
 * What exists once, whatever the number of sets: variables in global memory, and functions that do
 * not depend on the kernel, because they reach neither the runtime nor a function that another file
 * or the system provides.  They belong to the first set, the home; the others see them as
 * available_externally, which LLVM's linker drops for the definition.  Function pointers: an
 * address may be stored by one kernel and called or compared by another.  So a function whose
 * address is taken and that depends on the kernel has its address at home only; the other sets have
 * a copy for direct calls and a stand-in with that address.  Kernels that may call such an address,
 * or start a region that is not a constant, are the home's, together and with all these functions:
 * there nobody assumes anything.
 *
 * Growth is limited: once the copies are GROWTH times the module, kernels stay with the home and
 * pay for each other as they did. */
#include "codegen/ir/tool.h"
#include <llvm-c/Linker.h>
#include <llvm-c/Transforms/PassBuilder.h>
#include <string.h>

enum { GROWTH = 3, SMALL = 3000 }; /* SMALL: instructions of copies that are always allowed */
/* of local symbols that exist once, between split and join */
static const char once_prefix[] = "__ompgpu_once_";

struct symbol { /* for all sets */
    const char *name;
    bool function, defined, once;
    bool address; /* once, but with a copy in each set */
    unsigned kernel;
};
struct splitter {
    struct ir_unit *u;
    struct ir_graph *g;
    struct symbol *symbols; /* by node */
    bool *depends;          /* by node: on the kernel */
    bool *region;           /* … a parallel region */
    bool *address;          /* … a function whose address is taken otherwise than for the runtime */
    unsigned *kernel;       /* … number of the kernel + 1 */
    unsigned *set;          /* by kernel */
    unsigned nsets;
};
/* of one kernel; size: instructions that are its set's own */
struct needs {
    bool *nodes, unknown;
    unsigned size;
};

/* ------------------------------------------------------------------ the module as it is */
static bool is_local(LLVMValueRef v)
{
    return LLVMGetLinkage(v) == LLVMInternalLinkage || LLVMGetLinkage(v) == LLVMPrivateLinkage;
}

static bool is_team_shared(const struct ir_unit *u, LLVMValueRef v)
{
    if (!LLVMIsAGlobalVariable(v) || text_starts(ir_name(v), "__ompgpu_emu_"))
        return false;
    return u->opt->target == IR_NVPTX ? LLVMGetPointerAddressSpace(LLVMTypeOf(v)) == 3
                                      : LLVMIsThreadLocal(v);
}

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

static bool is_runtime_call(LLVMValueRef user)
{
    LLVMValueRef callee = LLVMIsACallInst(user) ? LLVMGetCalledValue(user) : NULL;
    return callee && LLVMIsAFunction(callee) && LLVMIsDeclaration(callee) &&
           text_starts(ir_name(callee), "__ompgpu_");
}

/* Is operand i of a call the callee, or something handed to the runtime, which calls it and keeps
 * nothing? */
static bool is_for_call(LLVMValueRef user, unsigned i)
{
    return LLVMIsACallInst(user) &&
           (is_runtime_call(user) || i + 1 == (unsigned)LLVMGetNumOperands(user));
}

/* Constants that nothing uses any more are still in the list of uses. */
static bool takes_address(LLVMValueRef user, LLVMValueRef f)
{
    if (LLVMIsAGlobalVariable(user))
        return true;
    if (LLVMIsAInstruction(user)) {
        for (unsigned i = 0; i < (unsigned)LLVMGetNumOperands(user); i++)
            if (LLVMGetOperand(user, i) == f && !is_for_call(user, i))
                return true;
        return false;
    }
    IR_EACH_USE(use, user)
        if (LLVMIsAInstruction(LLVMGetUser(use)) || takes_address(LLVMGetUser(use), f))
            return true;
    return false;
}

static bool has_address_taken(LLVMValueRef f)
{
    IR_EACH_USE(use, f)
        if (takes_address(LLVMGetUser(use), f))
            return true;
    return false;
}

static bool is_plain_declaration(const struct ir_node *node)
{
    const char *name = ir_name(node->value);
    return text_starts(name, "llvm.") || ir_is_math_name(name) || !LLVMIsAFunction(node->value);
}

/* Regions and helpers that the runtime calls depend on the kernel as the runtime does. */
static void note_runtime_call(struct splitter *s, LLVMValueRef call)
{
    bool parallel = strcmp(ir_name(LLVMGetCalledValue(call)), "__ompgpu_parallel") == 0;
    for (unsigned i = 0, n = LLVMGetNumArgOperands(call); i < n; i++) {
        LLVMValueRef f = LLVMGetOperand(call, i);
        if (!LLVMIsAFunction(f))
            continue;
        int node = ir_graph_find(s->g, f);
        s->depends[node] = true;
        s->region[node] |= parallel && i == 0;
    }
}

static void study_function(struct splitter *s, LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_runtime_call(i))
            note_runtime_call(s, i);
}

static void study(struct splitter *s)
{
    struct ir_graph *g = s->g;
    for (unsigned i = 0; i < g->n; i++) {
        struct ir_node *node = &g->nodes[i];
        if (!*ir_name(node->value))
            LLVMSetValueName2(node->value, "__ompgpu_unnamed", 16);
        s->address[i] = node->address_taken =
            LLVMIsAFunction(node->value) && has_address_taken(node->value);
        s->depends[i] |=
            (!node->defined && !is_plain_declaration(node)) || is_team_shared(s->u, node->value);
        if (LLVMIsAFunction(node->value))
            study_function(s, node->value);
    }
    for (unsigned k = 0; k < s->u->nkernels; k++) {
        int node = ir_graph_find(g, ir_kernel_function(s->u->module, &s->u->kernels[k]));
        s->kernel[node] = k + 1;
        s->depends[node] = true;
    }
    ir_graph_reaching(g, s->depends);
}

/* ------------------------------------------------------------------ which kernels agree */
static unsigned count_instructions(LLVMValueRef f)
{
    unsigned n = 0;
    IR_EACH_INSTRUCTION_OF(i, f)
        n++;
    return n;
}

static bool starts_unknown(LLVMValueRef f)
{
    IR_EACH_INSTRUCTION_OF(i, f)
        if (is_runtime_call(i) &&
            strcmp(ir_name(LLVMGetCalledValue(i)), "__ompgpu_parallel") == 0 &&
            !LLVMIsAFunction(LLVMGetOperand(i, 0)))
            return true;
    return false;
}

/* Something can be called through a pointer that depends on the kernel. */
static bool any_address(const struct splitter *s)
{
    for (unsigned i = 0; i < s->g->n; i++)
        if (s->address[i] && s->depends[i])
            return true;
    return false;
}

static bool reaches_region(const struct splitter *s, const int *from)
{
    for (unsigned i = 0; i < s->g->n; i++)
        if (from[i] >= 0 && s->region[i])
            return true;
    return false;
}

static struct needs find_needs(const struct splitter *s, const struct ir_kernel *k)
{
    const struct ir_graph *g = s->g;
    struct needs needs = { .nodes = mem_array(g->n, sizeof *needs.nodes) };
    int *from = mem_array(g->n, sizeof *from);
    ir_graph_reach(g, (unsigned)ir_graph_find(g, ir_kernel_function(s->u->module, k)), from, NULL);
    bool addresses = any_address(s), entries = k->mode == IR_GENERIC && reaches_region(s, from);
    for (unsigned i = 0; i < g->n; i++) {
        const struct ir_node *node = &g->nodes[i];
        if (from[i] < 0 || !LLVMIsAFunction(node->value))
            continue;
        needs.unknown |= (node->indirect && addresses) || starts_unknown(node->value);
        needs.nodes[i] = s->region[i] || (entries && !node->defined && s->depends[i]);
        if (node->defined && s->depends[i])
            needs.size += count_instructions(node->value);
    }
    return needs;
}

static bool agree(const struct splitter *s, const struct needs *needs, unsigned a, unsigned b)
{
    const struct ir_kernel *x = &s->u->kernels[a], *y = &s->u->kernels[b];
    if (needs[a].unknown || needs[b].unknown)
        return needs[a].unknown && needs[b].unknown;
    return x->mode == y->mode && !x->parts == !y->parts && x->asks == y->asks &&
           memcmp(needs[a].nodes, needs[b].nodes, s->g->n * sizeof *needs->nodes) == 0;
}

/* The home is number 0. */
static void make_sets(struct splitter *s)
{
    const struct ir_unit *u = s->u;
    struct needs *needs = mem_array(u->nkernels, sizeof *needs);
    unsigned all = 0, copies = 0, home = 0;
    IR_EACH_FUNCTION(f, u->module)
        all += count_instructions(f);
    for (unsigned k = 0; k < u->nkernels; k++) {
        needs[k] = find_needs(s, &u->kernels[k]);
        if (needs[k].unknown && !needs[home].unknown)
            home = k;
    }
    s->nsets = 1;
    for (unsigned k = 0; k < u->nkernels; k++) {
        unsigned other = 0;
        while (other < k && !agree(s, needs, k, other))
            other++;
        if (agree(s, needs, k, home)) {
            s->set[k] = 0;
        } else if (other < k) {
            s->set[k] = s->set[other];
        } else if (copies + needs[k].size <= SMALL + GROWTH * all) {
            s->set[k] = s->nsets++;
            copies += needs[k].size;
        }
    }
}

/* ------------------------------------------------------------------ split */
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
            if (LLVMGetOperand(users[i], o) == there && is_for_call(users[i], o))
                LLVMSetOperand(users[i], o, f);
    LLVMSetLinkage(there, LLVMAvailableExternallyLinkage);
}

/* A set's own copy of a function whose address is the home's. */
static void add_stand_in(LLVMModuleRef m, LLVMValueRef f)
{
    const char *name = ir_name(f);
    ir_leave_address(m, f,
                     mem_printf("%s__direct", text_starts(name, once_prefix)
                                                  ? name + strlen(once_prefix)
                                                  : name));
    LLVMSetLinkage(f, LLVMInternalLinkage);
}

static bool exists_once(const struct splitter *s, unsigned node)
{
    const struct ir_node *n = &s->g->nodes[node];
    return n->defined && (LLVMIsAFunction(n->value) ? !s->depends[node] || s->address[node]
                                                    : !is_team_shared(s->u, n->value));
}

/* What exists once gets a name by which the sets find it, and which nothing in a library has. */
static void name_all(struct splitter *s)
{
    s->symbols = mem_array(s->g->n, sizeof *s->symbols);
    for (unsigned i = 0; i < s->g->n; i++) {
        LLVMValueRef v = s->g->nodes[i].value;
        bool once = exists_once(s, i);
        if (once && is_local(v)) {
            const char *name = mem_printf("%s%s", once_prefix, ir_name(v));
            LLVMSetValueName2(v, name, strlen(name));
            LLVMSetLinkage(v, LLVMExternalLinkage);
        }
        s->symbols[i] = (struct symbol){ mem_strdup(ir_name(v)),
                                         LLVMIsAFunction(v) != NULL,
                                         s->g->nodes[i].defined,
                                         once,
                                         once && s->depends[i] && s->address[i],
                                         s->kernel[i] };
    }
}

/* Again and again as the module is divided: what has its place keeps it. */
static void place(LLVMModuleRef m, const struct symbol *symbol, LLVMValueRef v, bool home)
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
static void reduce(const struct splitter *s, LLVMModuleRef m, unsigned first, unsigned end)
{
    for (unsigned i = 0; i < s->g->n; i++) {
        const struct symbol *symbol = &s->symbols[i];
        LLVMValueRef v = symbol->function ? LLVMGetNamedFunction(m, symbol->name)
                                          : LLVMGetNamedGlobal(m, symbol->name);
        if (!v || !symbol->defined || text_starts(symbol->name, "llvm."))
            continue;
        unsigned set = symbol->kernel ? s->set[symbol->kernel - 1] : 0;
        if (!symbol->kernel)
            place(m, symbol, v, first == 0);
        else if (set < first || set >= end)
            LLVMDeleteFunction(v);
    }
    LLVMPassBuilderOptionsRef options = LLVMCreatePassBuilderOptions();
    LLVMErrorRef failed = LLVMRunPasses(m, "globaldce", NULL, options);
    if (failed)
        diag_bug("%s", LLVMGetErrorMessage(failed));
    LLVMDisposePassBuilderOptions(options);
}

/* A unit for the kernels of one set; those go back to where they were when the sets are joined. */
static struct ir_unit make_unit(const struct splitter *s, LLVMModuleRef m, unsigned set)
{
    struct ir_unit unit = *s->u;
    unit.module = m;
    unit.layout = LLVMGetModuleDataLayout(m);
    unit.kernels = mem_array(unit.nkernels, sizeof *unit.kernels);
    unit.origin = mem_array(unit.nkernels, sizeof *unit.origin);
    unit.nkernels = 0;
    unit.parts = unit.asks = false;
    for (unsigned k = 0; k < s->u->nkernels; k++)
        if (s->set[k] == set) {
            unit.parts |= s->u->kernels[k].parts != 0;
            unit.asks |= s->u->kernels[k].asks;
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
        s->u->sets[first] = make_unit(s, m, first);
        return;
    }
    unsigned middle = (first + end) / 2;
    LLVMModuleRef other = LLVMCloneModule(m);
    LLVMSetModuleInlineAsm2(other, "", 0);
    reduce(s, m, first, middle);
    reduce(s, other, middle, end);
    divide(s, m, first, middle);
    divide(s, other, middle, end);
}

bool ir_split(struct ir_unit *u)
{
    if (u->nkernels < 2 || !can_divide(u))
        return true;
    struct splitter s = { .u = u,
                          .g = ir_graph_build(u->module),
                          .set = mem_array(u->nkernels, sizeof *s.set) };
    s.depends = mem_array(s.g->n, sizeof *s.depends);
    s.region = mem_array(s.g->n, sizeof *s.region);
    s.address = mem_array(s.g->n, sizeof *s.address);
    s.kernel = mem_array(s.g->n, sizeof *s.kernel);
    study(&s);
    make_sets(&s);
    if (s.nsets > 1) {
        name_all(&s);
        u->sets = mem_array(s.nsets, sizeof *u->sets);
        divide(&s, u->module, 0, s.nsets);
        u->nsets = s.nsets;
    }
    return true;
}

/* The units that a step runs on, from i = 0 on; NULL behind the last. */
struct ir_unit *ir_set(struct ir_unit *u, unsigned i)
{
    if (!u->nsets)
        return i ? NULL : u;
    return i < u->nsets ? &u->sets[i] : NULL;
}

/* ------------------------------------------------------------------ join */
/* Of the runtime, too, a set has its own of what depends on the kernel: what touches the team's
 * state and the constants of passes/modes.c. */
static void keep_own(const struct ir_unit *u)
{
    struct ir_graph *g = ir_graph_build(u->module);
    bool *own = mem_array(g->n, sizeof *own);
    for (unsigned i = 0; i < g->n; i++)
        own[i] = is_team_shared(u, g->nodes[i].value) ||
                 text_starts(ir_name(g->nodes[i].value), "__ompgpu_cfg_");
    ir_graph_reaching(g, own);
    for (unsigned i = 0; i < u->nkernels; i++)
        own[ir_graph_find(g, ir_kernel_function(u->module, &u->kernels[i]))] = true;
    for (unsigned i = 0; i < g->n; i++) {
        LLVMValueRef v = g->nodes[i].value;
        LLVMLinkage linkage = LLVMGetLinkage(v);
        if (!g->nodes[i].defined || is_local(v) || linkage == LLVMAvailableExternallyLinkage)
            continue;
        /* nothing calls those yet */
        LLVMLinkage shared =
            ir_is_backend_call(ir_name(v)) ? LLVMWeakODRLinkage : LLVMLinkOnceODRLinkage;
        LLVMSetLinkage(v, own[i] ? LLVMInternalLinkage : shared);
    }
    for (unsigned i = 0; i < u->nkernels; i++)
        LLVMSetLinkage(ir_kernel_function(u->module, &u->kernels[i]), LLVMExternalLinkage);
}

static void give_names_back(LLVMValueRef v)
{
    const char *name = ir_name(v);
    if (text_starts(name, once_prefix) && !LLVMIsDeclaration(v)) {
        LLVMSetLinkage(v, LLVMInternalLinkage);
        name = mem_strdup(name + strlen(once_prefix));
        LLVMSetValueName2(v, name, strlen(name));
    }
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
