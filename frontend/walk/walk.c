/* walk.c - one walk over libclang's tree.
 *
 * The text is parsed without -fopenmp, so the bodies of OpenMP constructs are plain statements. The
 * walk collects what the later passes need and no tree of its own: declarations with extents,
 * variables with scopes, every use of a variable or a function, references to types, and the
 * statements that pragmas wait for.  A kind of cursor has its handler in the file of what it is
 * about; the handler walks on. */
#include <string.h>
#include "frontend/walk/walk.h"

static const struct {
    enum CXCursorKind kind;
    void (*handle)(struct fe *, CXCursor);
} handlers[] = {
    { CXCursor_FunctionDecl, walk_on_function },
    { CXCursor_VarDecl, walk_on_var },
    { CXCursor_ParmDecl, walk_on_var },
    { CXCursor_UnexposedAttr, walk_on_attribute },
    { CXCursor_DeclRefExpr, walk_on_reference },
    { CXCursor_BinaryOperator, walk_on_binary },
    { CXCursor_CompoundAssignOperator, walk_on_compound_assign },
    { CXCursor_UnaryOperator, walk_on_unary },
    { CXCursor_CallExpr, walk_on_call },
    { CXCursor_CompoundStmt, walk_on_scope },
    { CXCursor_ForStmt, walk_on_repeat },
    { CXCursor_IfStmt, walk_on_scope },
    { CXCursor_WhileStmt, walk_on_repeat },
    { CXCursor_DoStmt, walk_on_repeat },
    { CXCursor_SwitchStmt, walk_on_scope },
    { CXCursor_StructDecl, walk_on_tag },
    { CXCursor_UnionDecl, walk_on_tag },
    { CXCursor_EnumDecl, walk_on_tag },
    { CXCursor_TypedefDecl, walk_on_typedef },
    { CXCursor_EnumConstantDecl, walk_on_constant },
    { CXCursor_TypeRef, walk_on_type_ref },
    { CXCursor_StaticAssert, walk_on_static_assert },
    { CXCursor_DeclStmt, walk_on_declaration },
    { CXCursor_GCCAsmStmt, walk_on_asm },
    { CXCursor_MSAsmStmt, walk_on_asm },
};
static unsigned char handler_of[1024]; /* kind -> index + 1 */

static void find_statement(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (!clang_isStatement(k) && !clang_isExpression(k))
        return;
    unsigned at =
        fe_begin(fe, c); /* the pragmas' begins grow, and their `wanted` where it is set */
    unsigned i = fe_count_before(fe->pragmas.at, fe->pragmas.n, sizeof *fe->pragmas.at, at);
    while (i-- > 0) { /* the pragmas just before it, past stand-alone ones */
        struct fe_pragma *p = &fe->pragmas.at[i];
        if (p->wanted == at && !p->found) {
            p->found = true;
            p->stmt = c;
        } else if (p->wanted != at && fe_skip_blank(fe->u, p->extent.end) != at)
            break;
    }
}

static void note_long_double(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (!clang_isExpression(k) && k != CXCursor_VarDecl)
        return;
    CXType t = clang_getCursorType(c);
    if (t.kind == CXType_Typedef || t.kind == CXType_Elaborated)
        t = clang_getCanonicalType(t);
    if (t.kind == CXType_LongDouble)
        *VEC_PUSH(fe->a, &fe->marks) =
            (struct fe_mark){ fe_begin(fe, c), MARK_LONG_DOUBLE, "long double" };
    if (t.kind == CXType_Float128)
        *VEC_PUSH(fe->a, &fe->marks) =
            (struct fe_mark){ fe_begin(fe, c), MARK_LANGUAGE, "__float128" };
}

/* Types with run-time bounds, of variables, their uses and casts. */
static void note_run_time_bound(struct fe *fe, CXCursor c, enum CXCursorKind k)
{
    if (k != CXCursor_VarDecl && k != CXCursor_DeclRefExpr && k != CXCursor_CStyleCastExpr)
        return;
    if (walk_has_run_time_bound(clang_getCursorType(c)))
        *VEC_PUSH(fe->a, &fe->not_for_nvptx) = fe_begin(fe, c);
}

struct probe_visit {
    struct fe *fe;
    const struct fe_probe *probe;
};

/* A parameter omp_in or omp_var: `declare reduction`, or induction, is for its type, too. */
static void note_declared_type(struct fe *fe, const struct fe_probe *probe, CXCursor c)
{
    CXString name = clang_getCursorSpelling(c);
    if (!strcmp(clang_getCString(name), "omp_in") || !strcmp(clang_getCString(name), "omp_var"))
        *VEC_PUSH(fe->a, &fe->udr_types) =
            (struct fe_udr_type){ probe->pragma->extent.begin, fe->scope_end,
                                  clang_getCursorType(c) };
    clang_disposeString(name);
}

/* A parameter of a probe: a mapper's variable or iterator is the user's. */
static void note_parameter(struct fe *fe, const struct fe_probe *probe, CXCursor c)
{
    if (probe->pragma->c->directive != OMPDIR_DECLARE_MAPPER)
        note_declared_type(fe, probe, c);
    else if (fe_text_offset(fe, walk_seen_begin(c)) < probe->pragma->extent.end)
        walk_on_var(fe, c);
}

/* An iterator of a clause.  What a combiner or an inductor declares is its own. */
static void note_iterator(struct fe *fe, const struct fe_probe *probe, CXCursor c)
{
    if (!fe_is_for_types(probe->pragma))
        walk_on_var(fe, c);
}

/* Uses in the operands of a probe, and the operands themselves. */
static enum CXChildVisitResult visit_operand(CXCursor c, CXCursor parent, CXClientData data)
{
    struct probe_visit *v = data;
    (void)parent;
    if (walk_seen_begin(c) >= v->probe->end)
        return CXChildVisit_Continue; /* the statement after it */
    switch (clang_getCursorKind(c)) {
    case CXCursor_DeclRefExpr: walk_on_reference(v->fe, c); break;
    case CXCursor_TypeRef: walk_on_type_ref(v->fe, c); break;
    case CXCursor_ParenExpr: fe_found_operand(v->fe, v->probe, walk_seen_begin(c), c); break;
    case CXCursor_ParmDecl: note_parameter(v->fe, v->probe, c); break;
    case CXCursor_VarDecl: note_iterator(v->fe, v->probe, c); break;
    default: break;
    }
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult visit(CXCursor c, CXCursor parent, CXClientData data)
{
    struct fe *fe = data;
    enum CXCursorKind k = clang_getCursorKind(c);
    const struct fe_probe *probe = walk_probe_of(fe, c);
    if (probe) {
        struct probe_visit v = { fe, probe };
        clang_visitChildren(c, visit_operand, &v);
        return k == CXCursor_IfStmt ? visit(walk_probed_statement(c), parent, data)
                                    : CXChildVisit_Continue;
    }
    if (fe->in) {
        find_statement(fe, c, k);
        note_long_double(fe, c, k);
        note_run_time_bound(fe, c, k);
    }
    unsigned h = k < sizeof handler_of ? handler_of[k] : 0;
    if (h)
        handlers[h - 1].handle(fe, c);
    else
        walk_children(fe, c);
    return CXChildVisit_Continue;
}
void walk_children(struct fe *fe, CXCursor c) { clang_visitChildren(c, visit, fe); }

/* ------------------------------------------------------------------ parsing */
static int report_diagnostics(struct fe *fe)
{
    int errors = 0;
    for (unsigned i = 0, n = clang_getNumDiagnostics(fe->tu); i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(fe->tu, i);
        if (clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            CXString s = clang_getDiagnosticSpelling(d);
            fe_error(fe, walk_offset(fe, clang_getDiagnosticLocation(d)), "%s",
                     clang_getCString(s));
            clang_disposeString(s);
            errors++;
        }
        clang_disposeDiagnostic(d);
    }
    return errors;
}

static enum CXErrorCode parse_text(struct fe *fe, CXIndex index, int nargs, const char *const *args)
{
    struct CXUnsavedFile file = { "ompgpu-input.i", fe->seen.at, fe->seen.n };
    const char **v = arena_alloc(fe->a, ((size_t)nargs + 8) * sizeof *v);
    int n = 0;
    for (int i = 0; i < nargs; i++)
        v[n++] = args[i];
    v[n++] = "-x";
    v[n++] = "cpp-output";
    v[n++] = "-w";
    v[n++] = "-Wno-everything";
    return clang_parseTranslationUnit2(index, file.Filename, v, n, &file, 1, CXTranslationUnit_None,
                                       &fe->tu);
}

/* Arguments with errors; their number. */
static unsigned find_bad_operands(struct fe *fe)
{
    unsigned found = 0;
    for (unsigned i = 0, n = clang_getNumDiagnostics(fe->tu); i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(fe->tu, i);
        unsigned at = walk_seen_offset(clang_getDiagnosticLocation(d));
        const struct fe_probe *probe = fe_probe_at(fe, at);
        if (probe && clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error) {
            CXString s = clang_getDiagnosticSpelling(d);
            found +=
                fe_spoil_operands(fe, probe, at, arena_printf(fe->a, "%s", clang_getCString(s)));
            clang_disposeString(s);
        }
        clang_disposeDiagnostic(d);
    }
    return found;
}

static bool has_errors(const struct fe *fe)
{
    for (unsigned i = 0, n = clang_getNumDiagnostics(fe->tu); i < n; i++) {
        CXDiagnostic d = clang_getDiagnostic(fe->tu, i);
        bool is_error = clang_getDiagnosticSeverity(d) >= CXDiagnostic_Error;
        clang_disposeDiagnostic(d);
        if (is_error)
            return true;
    }
    return false;
}

/* In C89 a variable that a for statement declares, which clang accepts, is still there after it,
 * unless a directive makes it a region; and of directives this parse knows nothing.  So text with
 * errors is parsed once more, as C99 with C89's inline functions. */
static enum CXErrorCode parse_with_scopes(struct fe *fe, CXIndex index, int nargs,
                                          const char *const *args)
{
    const char **v = arena_alloc(fe->a, ((size_t)nargs + 2) * sizeof *v);
    CXTranslationUnit first = fe->tu;
    for (int i = 0; i < nargs; i++)
        v[i] = args[i];
    v[nargs] = "-std=gnu99", v[nargs + 1] = "-fgnu89-inline";
    enum CXErrorCode rc = parse_text(fe, index, nargs + 2, v);
    bool good = rc == CXError_Success && !has_errors(fe);
    if (!good && fe->tu && rc == CXError_Success)
        clang_disposeTranslationUnit(fe->tu);
    if (!good)
        fe->tu = first;
    else
        clang_disposeTranslationUnit(first);
    return CXError_Success;
}

/* Parses the text with probes, again without the arguments that have errors. */
static enum CXErrorCode parse_probed(struct fe *fe, CXIndex index, int nargs,
                                     const char *const *args)
{
    for (;;) {
        fe_write_probes(fe);
        enum CXErrorCode rc = parse_text(fe, index, nargs, args);
        if (rc == CXError_Success && has_errors(fe) && !find_bad_operands(fe))
            return parse_with_scopes(fe, index, nargs, args);
        if (rc != CXError_Success || !has_errors(fe))
            return rc;
        clang_disposeTranslationUnit(fe->tu);
        fe->tu = NULL;
    }
}

int fe_walk(struct fe *fe, CXIndex index, int nargs, const char *const *args)
{
    for (unsigned i = 0; i < sizeof handlers / sizeof *handlers; i++)
        handler_of[handlers[i].kind] = (unsigned char)(i + 1);
    fe_hide_variants(fe);
    fe_collect_operands(fe);
    enum CXErrorCode rc = parse_probed(fe, index, nargs, args);
    if (rc != CXError_Success) {
        fe_report(fe->u, (struct omp_place){ "", 0, 0 }, DIAG_ERROR,
                  "libclang cannot parse %s (code %d)", fe->u->path, (int)rc);
        return -1;
    }
    if (report_diagnostics(fe))
        return -1;
    fe->scope_end = (unsigned)fe->u->length + 1;
    walk_children(fe, clang_getTranslationUnitCursor(fe->tu));
    for (unsigned i = 0; i < fe->pending.n; i++)
        if (!fe->pending.at[i]->visited && fe->pending.at[i]->f->defined)
            walk_body(fe, fe->pending.at[i]);
    return 0;
}
