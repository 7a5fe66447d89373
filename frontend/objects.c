/* objects.c - what a target region uses of struct objects.
 *
 * Which of them it needs as a whole: a list item  s.y  or  s->q->y  maps that member only.  The
 * region may use other members of the same object, or the object itself: then all of it has to be
 * there.  Each use in the region is the chain of members that it goes through from its variable,
 * whatever it subscripts or follows in between;  s->q[i].y  is  s: q, y.  It is all right where it
 * goes through a list item's chain. One that ends before the object (a copy of the pointer to it,
 * say) could reach any part of it.
 *
 * And which bytes of a struct it reads or writes for sure, where no list item names that: the
 * runtime complains if another construct mapped only a part that lacks them. */
#include "frontend/fe.h"
#include <string.h>

struct chain {
    struct omp_var *var;
    VEC(unsigned) members;
    /* bytes of the struct that the variable is, or leads to; settled: nothing that follows is part
     * of them */
    struct omp_span bytes;
    bool settled, unsure;
};
struct uses {
    struct fe *fe;
    void (*check)(struct uses *, const struct chain *); /* what to do with each use */
    const struct omp_map *listed;
    unsigned nlisted;
    const struct omp_item *object;
    bool need;
    const struct omp_var *var;
    struct omp_span bytes;
};

/* ------------------------------------------------------------------ one use */
static bool begins_with(const unsigned *all, unsigned n, const unsigned *first, unsigned nfirst)
{
    return nfirst <= n && (!nfirst || memcmp(all, first, nfirst * sizeof *first) == 0);
}

/* Does it go through storage of the object that the list maps? */
static bool is_listed(const struct uses *u, const struct chain *x)
{
    const struct omp_item *object = u->object;
    for (unsigned i = 0; i < u->nlisted; i++) {
        const struct omp_item *it = u->listed[i].item;
        for (; it && it->var == object->var; it = it->pointer)
            if (it->nmembers > object->nmembers &&
                begins_with(x->members.at, x->members.n, it->members, it->nmembers))
                return true;
    }
    return false;
}

static void check_use(struct uses *u, const struct chain *x)
{
    const struct omp_item *object = u->object;
    if (x->var != object->var)
        return;
    if (x->members.n > object->nmembers)
        u->need |= begins_with(x->members.at, x->members.n, object->members, object->nmembers) &&
                   !is_listed(u, x);
    else
        u->need |= begins_with(object->members, object->nmembers, x->members.at, x->members.n);
}

/* ------------------------------------------------------------------ all uses */
static enum CXChildVisitResult visit_expression(CXCursor, CXCursor, CXClientData);

static void visit_all(struct uses *u, CXCursor c)
{
    if (visit_expression(c, c, u) == CXChildVisit_Recurse)
        clang_visitChildren(c, visit_expression, u);
}

/* ------------------------------------------------------------------ bytes of a struct */
/* The first pointer leads to the struct, if the variable is not the struct itself. */
static void step_through_pointer(struct chain *x)
{
    x->settled |= x->bytes.end > 0 || !x->var || x->var->type->kind != OMPT_POINTER;
}

/* In bits, also of a member of an unnamed struct in the object; negative: unknown. */
static long long offset_of_member(CXCursor member, CXCursor object)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(object));
    if (type.kind == CXType_Pointer)
        type = clang_getCanonicalType(clang_getPointeeType(type));
    CXString name = clang_getCursorSpelling(member);
    long long bits = clang_Type_getOffsetOf(type, clang_getCString(name));
    clang_disposeString(name);
    return bits;
}

static void step_to_member(struct chain *x, CXCursor c, CXCursor object)
{
    CXCursor member = clang_getCursorReferenced(c);
    CXType type = clang_getCanonicalType(clang_getCursorType(member));
    long long bits = fe_is_unnamed_member(c) ? clang_Cursor_getOffsetOfField(member)
                                             : offset_of_member(member, object),
              size = clang_Type_getSizeOf(type);
    if (x->settled)
        return;
    if (bits < 0 || size <= 0) {
        x->unsure = true;
        return;
    }
    x->bytes.begin += (uint64_t)bits / 8;
    x->bytes.end = x->bytes.begin + (clang_Cursor_isBitField(member) ? 1 : (uint64_t)size);
    /* an array is not read where it only decays */
    x->unsure |= type.kind == CXType_ConstantArray;
}

static void note_bytes(struct uses *u, const struct chain *x)
{
    if (x->var != u->var || x->unsure || !x->bytes.end)
        return;
    if (!u->bytes.end || x->bytes.begin < u->bytes.begin)
        u->bytes.begin = x->bytes.begin;
    if (x->bytes.end > u->bytes.end)
        u->bytes.end = x->bytes.end;
}

/* ------------------------------------------------------------------ following a use */
static bool follows_pointer(struct fe *fe, CXCursor operand)
{
    CXType type = clang_getCanonicalType(clang_getCursorType(fe_strip(fe, operand)));
    return type.kind == CXType_Pointer;
}

/* Follows the operand in which a member, an element or what a pointer leads to is looked up; visits
 * the subscripts. */
static void follow(struct uses *u, CXCursor c, struct chain *x)
{
    fe_cursors v = { 0 };
    c = fe_strip(u->fe, c);
    enum CXCursorKind k = clang_getCursorKind(c);
    bool deref =
        k == CXCursor_UnaryOperator && clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_Deref;
    if (k == CXCursor_DeclRefExpr)
        x->var = fe_var_of(u->fe, clang_getCursorReferenced(c));
    if (deref || k == CXCursor_MemberRefExpr || k == CXCursor_ArraySubscriptExpr)
        fe_children(u->fe, c, &v);
    if (!v.n) {
        if (k != CXCursor_DeclRefExpr)
            clang_visitChildren(c, visit_expression, u);
        return;
    }
    follow(u, v.at[0], x);
    if (follows_pointer(u->fe, v.at[0]))
        step_through_pointer(x);
    x->unsure |= k == CXCursor_ArraySubscriptExpr && !x->settled;
    if (k == CXCursor_MemberRefExpr)
        step_to_member(x, c, fe_strip(u->fe, v.at[0]));
    if (k == CXCursor_MemberRefExpr && !fe_is_unnamed_member(c))
        *VEC_PUSH(u->fe->a, &x->members) = fe_location(u->fe, clang_getCursorReferenced(c));
    for (unsigned i = 1; i < v.n && k == CXCursor_ArraySubscriptExpr; i++)
        visit_all(u, v.at[i]);
}

static enum CXChildVisitResult visit_expression(CXCursor c, CXCursor parent, CXClientData data)
{
    (void)parent;
    struct uses *u = data;
    struct chain x = { 0 };
    fe_cursors v = { 0 };
    switch (clang_getCursorKind(c)) {
    case CXCursor_UnaryOperator:
        if (clang_getCursorUnaryOperatorKind(c) == CXUnaryOperator_AddrOf) {
            x.unsure = x.settled = true;
            fe_children(u->fe, c, &v);
            c = v.at[0];
        }
        /* fall through */
    case CXCursor_DeclRefExpr:
    case CXCursor_MemberRefExpr:
    case CXCursor_ArraySubscriptExpr:
        follow(u, c, &x);
        u->check(u, &x);
        return CXChildVisit_Continue;
    case CXCursor_UnaryExpr: return CXChildVisit_Continue; /* sizeof and friends */
    default: return CXChildVisit_Recurse;
    }
}

/* Is the operand an expression that the region itself evaluates? */
static bool is_inside(const struct omp_construct *c, const struct fe_operand *o)
{
    for (const struct omp_clause *k = c->clauses; k; k = k->next)
        if (fe_inside(o->text.begin, k->extent))
            return !o->item && (fe_evaluated_inside(k->kind) || fe_gives_attribute(k->kind));
    return false;
}

/* The statement, and the arguments of directives: of those just before it, too, which are not part
 * of it. */
static void visit_region(struct uses *u, const struct omp_construct *c)
{
    struct omp_extent whole = fe_whole(c);
    for (unsigned i = 0; i < u->fe->pragmas.n; i++) {
        const struct fe_pragma *p = &u->fe->pragmas.at[i];
        for (unsigned k = 0; fe_inside(p->extent.begin, whole) && k < p->noperands; k++) {
            const struct fe_operand *o = &u->fe->operands.at[p->first_operand + k];
            if (o->found && (p->c != c || is_inside(c, o)))
                visit_all(u, o->cursor);
        }
        if (p->c == c && p->found)
            visit_all(u, p->stmt);
    }
}

/* A section of the same base is taken to hold the object. */
static bool is_mapped(const struct fe *fe, const struct omp_map *listed, unsigned nlisted,
                      const struct omp_item *object)
{
    for (unsigned i = 0; i < nlisted; i++) {
        const struct omp_item *it = listed[i].item;
        if (it && it->var == object->var && it->derefs == object->derefs &&
            fe_same_text(fe->u, it->base, object->base))
            return true;
    }
    return false;
}

bool fe_needs_object(struct fe *fe, const struct omp_construct *c, const struct omp_map *listed,
                     unsigned nlisted, const struct omp_item *object)
{
    struct uses u = {
        .fe = fe, .check = check_use, .listed = listed, .nlisted = nlisted, .object = object
    };
    if (is_mapped(fe, listed, nlisted, object))
        return false;
    visit_region(&u, c);
    return u.need;
}

struct omp_span fe_used_bytes(struct fe *fe, const struct omp_construct *c, const struct omp_var *v)
{
    struct uses u = { .fe = fe, .check = note_bytes, .var = v };
    visit_region(&u, c);
    return u.bytes;
}
