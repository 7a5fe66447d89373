/* members.c - the device link: which files belong together, and one module made of theirs.
 *
 * The driver gives the bitcode of every file of the program that has some.  Those that need device
 * code of others are members; so is every file that defines a symbol which a member refers to, and
 * on in this way; and every file that defines a symbol of a member a second time (weak, common), so
 * that a variable exists once.  The rules for symbols are ld's and are LLVM's linker's affair, but
 * for two: a symbol defined twice is reported with the names of the files, and kernels and static
 * variables, which the host asks for by name, get new names where two members have one of that name
 * (struct ir_alias).  What stays undefined is reported later (link/link.c), when it is known which
 * regions reach it. */
#include "codegen/ir/link/link.h"
#include <llvm-c/Linker.h>
#include <stdlib.h>
#include <string.h>

enum symbol_kind { WANTED, WEAK, STRONG };
struct symbol {
    const char *name;
    unsigned input;
    enum symbol_kind kind;
    bool function;
};
static VEC(struct symbol) symbols; /* sorted by name once all are in */

/* ------------------------------------------------------------------ symbols */
/* Every module has these for itself. */
static bool is_own(const char *name)
{
    return text_starts(name, "llvm.") || text_starts(name, "__ompgpu_");
}

static void add_symbol(LLVMValueRef v, unsigned input)
{
    LLVMLinkage l = LLVMGetLinkage(v);
    if (ir_is_local_linkage(v) || l == LLVMAvailableExternallyLinkage || is_own(ir_name(v)))
        return;
    enum symbol_kind kind = LLVMIsDeclaration(v)       ? WANTED
                            : l == LLVMExternalLinkage ? STRONG
                                                       : WEAK;
    *VEC_PUSH(NULL, &symbols) =
        (struct symbol){ mem_strdup(ir_name(v)), input, kind, LLVMIsAFunction(v) != NULL };
}

static int by_name(const void *a, const void *b)
{
    const struct symbol *x = a, *y = b;
    int order = strcmp(x->name, y->name);
    return order ? order : x->input < y->input ? -1 : x->input > y->input;
}

static bool read_all(struct ir_unit *u, LLVMModuleRef *modules)
{
    for (unsigned i = 0; i < u->opt->ninputs; i++) {
        if (!(modules[i] = ir_parse_input(u, &u->opt->inputs[i])))
            return false;
        IR_EACH_FUNCTION(f, modules[i])
            add_symbol(f, i);
        IR_EACH_GLOBAL(g, modules[i])
            add_symbol(g, i);
        for (LLVMValueRef a = LLVMGetFirstGlobalAlias(modules[i]); a; a = LLVMGetNextGlobalAlias(a))
            add_symbol(a, i);
    }
    if (symbols.n)
        qsort(symbols.at, symbols.n, sizeof *symbols.at, by_name);
    return true;
}

/* ------------------------------------------------------------------ members */
static bool same(unsigned a, unsigned b)
{
    return a < symbols.n && b < symbols.n && strcmp(symbols.at[a].name, symbols.at[b].name) == 0;
}

/* Does a member mention one of the symbols [first, end), which have one name?  A kernel's name is
 * no reason to belong together. */
static bool is_mentioned(const struct ir_unit *u, unsigned first, unsigned end)
{
    for (unsigned i = first; i < end; i++)
        if (u->members[symbols.at[i].input])
            return true;
    return false;
}

static bool any_needs(const struct symbol *s, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (s[i].kind != STRONG)
            return true;
    return false;
}

/* Two strong definitions and no use: kernels of one name, or an error of the host's link that the
 * user has overruled. */
static bool adopt(struct ir_unit *u, unsigned first, unsigned end)
{
    bool grown = false;
    if (!is_mentioned(u, first, end) || !any_needs(&symbols.at[first], end - first))
        return false;
    for (unsigned i = first; i < end; i++)
        if (symbols.at[i].kind != WANTED && !u->members[symbols.at[i].input])
            u->members[symbols.at[i].input] = grown = true;
    return grown;
}

static void find_members(struct ir_unit *u)
{
    u->members = mem_array(u->opt->ninputs, sizeof *u->members);
    for (unsigned i = 0; i < u->opt->ninputs; i++)
        u->members[i] = u->opt->inputs[i].needs;
    for (bool again = true; again;) {
        again = false;
        for (unsigned i = 0, end; i < symbols.n; i = end) {
            for (end = i + 1; same(i, end);)
                end++;
            again |= adopt(u, i, end);
        }
    }
}

/* ----------------------------------------------------------------- names that the host asks for */
static const struct symbol *first_symbol(const char *name)
{
    unsigned low = 0, high = symbols.n;
    while (low < high) {
        unsigned middle = (low + high) / 2;
        if (strcmp(symbols.at[middle].name, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < symbols.n && strcmp(symbols.at[low].name, name) == 0 ? &symbols.at[low] : NULL;
}

static bool is_taken(struct ir_unit *u, unsigned input, const char *name)
{
    const struct symbol *s = first_symbol(name);
    for (; s && s < symbols.at + symbols.n && strcmp(s->name, name) == 0; s++)
        if (s->input != input && u->members[s->input])
            return true;
    return ir_is_export(u, name);
}

/* ------------------------------------------------------------------ one module */
static bool is_kernel(const struct ir_unit *u, const struct symbol *s)
{
    for (unsigned i = 0; i < u->naliases; i++)
        if (u->aliases[i].input == s->input && strcmp(u->aliases[i].name, s->name) == 0)
            return true;
    for (unsigned i = 0; i < u->nkernels; i++)
        if (u->kernels[i].input == &u->opt->inputs[s->input] &&
            strcmp(u->kernels[i].name, s->name) == 0)
            return true;
    return false;
}

static bool check_duplicates(const struct ir_unit *u)
{
    const struct symbol *strong = NULL;
    for (const struct symbol *s = symbols.at; s < symbols.at + symbols.n; s++) {
        if (s->kind != STRONG || !u->members[s->input] || is_kernel(u, s))
            continue;
        if (strong && strcmp(strong->name, s->name) == 0)
            diag_error("%s '%s' is defined for the device in both '%s' and '%s'",
                       s->function ? "function" : "variable", s->name,
                       u->opt->inputs[strong->input].name, u->opt->inputs[s->input].name);
        strong = s;
    }
    return diag_errors() == 0;
}

/* ------------------------------------------------------------------ declared as defined? */
/* A struct around nothing but another one is passed as that is. */
static LLVMTypeRef innermost(LLVMTypeRef type)
{
    while (LLVMGetTypeKind(type) == LLVMStructTypeKind && LLVMCountStructElementTypes(type) == 1 &&
           LLVMGetTypeKind(LLVMStructGetTypeAtIndex(type, 0)) == LLVMStructTypeKind)
        type = LLVMStructGetTypeAtIndex(type, 0);
    return type;
}

/* Types of two modules: structs of one shape are different objects. */
static bool same_type(LLVMTypeRef a, LLVMTypeRef b)
{
    a = innermost(a), b = innermost(b);
    LLVMTypeKind kind = LLVMGetTypeKind(a);
    if (a == b)
        return true;
    if (kind != LLVMGetTypeKind(b))
        return false;
    if (kind == LLVMArrayTypeKind)
        return LLVMGetArrayLength2(a) == LLVMGetArrayLength2(b) &&
               same_type(LLVMGetElementType(a), LLVMGetElementType(b));
    if (kind != LLVMStructTypeKind ||
        LLVMCountStructElementTypes(a) != LLVMCountStructElementTypes(b))
        return false;
    for (unsigned i = 0; i < LLVMCountStructElementTypes(a); i++)
        if (!same_type(LLVMStructGetTypeAtIndex(a, i), LLVMStructGetTypeAtIndex(b, i)))
            return false;
    return true;
}

static bool same_passing(LLVMValueRef f, LLVMValueRef g, unsigned at)
{
    static const char *const how[] = { "byval", "sret" };
    for (unsigned i = 0; i < 2; i++)
        if (!LLVMGetEnumAttributeAtIndex(f, at, ir_attribute_kind(how[i])) !=
            !LLVMGetEnumAttributeAtIndex(g, at, ir_attribute_kind(how[i])))
            return false;
    return true;
}

/* A declaration without a prototype says nothing of the parameters. */
static bool same_function(LLVMValueRef f, LLVMValueRef g)
{
    enum { MOST = 64 };
    LLVMTypeRef a = LLVMGlobalGetValueType(f), b = LLVMGlobalGetValueType(g), p[MOST], q[MOST];
    unsigned n = LLVMCountParamTypes(a);
    if (!same_type(LLVMGetReturnType(a), LLVMGetReturnType(b)))
        return false;
    if (n == 0 && LLVMIsFunctionVarArg(a))
        return true;
    if (n != LLVMCountParamTypes(b) || LLVMIsFunctionVarArg(a) != LLVMIsFunctionVarArg(b))
        return false;
    if (n > MOST)
        return true;
    LLVMGetParamTypes(a, p);
    LLVMGetParamTypes(b, q);
    for (unsigned i = 0; i < n; i++)
        if (!same_type(p[i], q[i]) || !same_passing(f, g, i + 1))
            return false;
    return true;
}

/* A call would pass its arguments where the function does not look for them. */
static bool check_declarations(const struct ir_unit *u, LLVMModuleRef *modules)
{
    const struct symbol *definition = NULL;
    for (unsigned i = 0, end; i < symbols.n; i = end) {
        for (end = i + 1; same(i, end);)
            end++;
        definition = NULL;
        for (unsigned k = i; k < end; k++)
            if (symbols.at[k].function && symbols.at[k].kind != WANTED &&
                u->members[symbols.at[k].input])
                definition = &symbols.at[k];
        for (unsigned k = i; k < end && definition; k++) {
            const struct symbol *s = &symbols.at[k];
            if (s->kind != WANTED || !s->function || !u->members[s->input])
                continue;
            LLVMValueRef wanted = LLVMGetNamedFunction(modules[s->input], s->name);
            if (!wanted ||
                same_function(wanted, LLVMGetNamedFunction(modules[definition->input], s->name)))
                continue;
            diag_error("function '%s' is called in '%s' in another way than it is defined in '%s': "
                       "the declarations differ",
                       s->name, u->opt->inputs[s->input].name,
                       u->opt->inputs[definition->input].name);
        }
    }
    return diag_errors() == 0;
}

static bool join(struct ir_unit *u, LLVMModuleRef *modules)
{
    for (unsigned i = 0; i < u->opt->ninputs; i++) {
        if (!u->members[i])
            continue;
        if (!u->module) {
            u->module = LLVMModuleCreateWithNameInContext("device link", u->ctx);
            LLVMSetTarget(u->module, LLVMGetTarget(modules[i]));
            LLVMSetDataLayout(u->module, LLVMGetDataLayoutStr(modules[i]));
        }
        if (LLVMLinkModules2(u->module, modules[i])) { /* takes it */
            diag_error("the device code of '%s' cannot be linked with that of the files before it",
                       u->opt->inputs[i].name);
            return false;
        }
    }
    return true;
}

bool ir_link_members(struct ir_unit *u)
{
    LLVMModuleRef *modules = mem_array(u->opt->ninputs, sizeof *modules);
    if (!read_all(u, modules))
        return false;
    find_members(u);
    for (unsigned i = 0; i < u->opt->ninputs; i++)
        if (u->members[i] && !ir_collect_info(u, modules[i], i, is_taken))
            return false;
    bool ok = check_duplicates(u) && check_declarations(u, modules) && join(u, modules);
    return ok;
}
