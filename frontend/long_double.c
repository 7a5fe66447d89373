/* long_double.c - -fompgpu-long-double=double: long double in device code.
 *
 * GPUs have no type with more than double's precision, and clang's long double for nvptx64 is one
 * with its format; the emulated device gets the same.  libclang reads the text like that, too, so
 * that the sizes in generated code are the device's.  The host keeps its own long double: values
 * that it passes are converted (codegen/c/host/map.c), and what both have in memory must not
 * contain the type.  Calls of functions of <math.h> go to those for double: their prototypes say so
 * in the device text (codegen/c/device/device.c).  Variable arguments are read by functions that
 * expect the host's format. */
#include "frontend/fe.h"
#include <string.h>

static bool allowed;
void fe_set_long_double(bool is_double) { allowed = is_double; }
bool fe_has_long_double(void) { return allowed; }

/* ------------------------------------------------------------------ types that contain it */
struct search {
    struct fe *fe;
    VEC(CXType) records; /* seen before: recursive types end here */
    bool found;
};

static void search_type(struct search *, CXType);

static enum CXVisitorResult visit_field(CXCursor field, CXClientData data)
{
    struct search *s = data;
    search_type(s, clang_getCursorType(field));
    return s->found ? CXVisit_Break : CXVisit_Continue;
}

static void search_record(struct search *s, CXType t)
{
    t = clang_getUnqualifiedType(t);
    for (unsigned i = 0; i < s->records.n; i++)
        if (clang_equalTypes(s->records.at[i], t))
            return;
    *VEC_PUSH(s->fe->a, &s->records) = t;
    clang_Type_visitFields(t, visit_field, s);
}

static void search_type(struct search *s, CXType written)
{
    CXType t = clang_getCanonicalType(written);
    switch (t.kind) {
    case CXType_LongDouble: s->found = true; break;
    case CXType_Complex: search_type(s, clang_getElementType(t)); break;
    case CXType_Atomic: search_type(s, clang_Type_getValueType(t)); break;
    case CXType_Pointer: search_type(s, clang_getPointeeType(t)); break;
    case CXType_ConstantArray:
    case CXType_IncompleteArray:
    case CXType_VariableArray: search_type(s, clang_getArrayElementType(t)); break;
    case CXType_Record: search_record(s, t); break;
    default: break;
    }
}

static bool contains_it(struct fe *fe, const struct omp_var *v)
{
    struct search s = { .fe = fe };
    search_type(&s, fe->var_types.at[v->id]);
    return s.found;
}

/* ------------------------------------------------------------------ what the host shares */
static bool is_converted(const struct omp_capture *k)
{
    return k->kind == OMPCAP_BYVAL && k->var->type->is_long_double &&
           k->var->type->kind != OMPT_ARRAY;
}

/* The first use of the variable in the region. */
static struct omp_place place_of_use(const struct fe *fe, const struct omp_construct *c,
                                     const struct omp_var *v)
{
    FE_EACH(r, fe->refs, c->body)
        if (r->var == v)
            return fe_place(fe->u, r->offset);
    return c->place;
}

void fe_check_long_double(struct fe *fe, const struct omp_construct *c)
{
    for (unsigned i = 0; allowed && i < c->ncaptures; i++) {
        const struct omp_capture *k = &c->captures[i];
        if (k->kind != OMPCAP_PRIVATE && !is_converted(k) && contains_it(fe, k->var))
            fe_unsupported(fe, place_of_use(fe, c, k->var), UNSUPPORTED_SHARED_LONG_DOUBLE,
                           k->var->name, NULL);
    }
}

bool fe_shares_long_double(struct fe *fe, const struct omp_var *v)
{
    return allowed && v->storage == OMPS_GLOBAL && v->declare_target != OMPV_NOT_DECLARED &&
           v->declare_target != OMPV_DT_GROUP && contains_it(fe, v);
}

/* ------------------------------------------------------------------ functions of <math.h> */
const char *fe_long_double_name(struct fe *fe, const char *name)
{
    size_t n = strlen(name);
    return allowed && n && name[n - 1] == 'l' ? arena_printf(fe->a, "%.*s", (int)n - 1, name)
                                              : NULL;
}
