/* gen.h - random whole programs: what the themes build on.
 *
 * gen main|other SEED…        one of the two files of a program with a case for each seed, on standard output
 * gen parts SEED              the number of parts of a case
 * gen main|other --without=2,5,7 SEED    the case without these parts: what tests/fuzz/shrink.sh tries
 *
 * A case is a function case_SEED() that returns a hash, with types, variables and helpers of its own; it depends on its seed alone.  The
 * program prints "SEED HASH" for each.  It means the same without OpenMP: what a construct makes private, or maps and does not copy back,
 * is put back by RESTORE there, which is nothing with OpenMP.  Nothing races, and nothing is read that was not written.
 *
 *   main.c      seeds, parts, text, the frame of a program        objects.c   variables, how they are mapped, views of them
 *   types.c     random types: fill, hash and add for each         theme_*.c   the cases: one theme a file
 *
 * What a construct may touch is kept as views: an lvalue, its type, and whether it may be written. */
#ifndef GEN_H
#define GEN_H
#include <stdbool.h>
#include <stddef.h>

/* ---- main.c */
extern unsigned long seed;
unsigned below(unsigned n);           /* 0 … n-1 */
bool chance(unsigned percent);
#define COUNT(table) (sizeof(table) / sizeof *(table))
#define PICK(table) (&(table)[below(COUNT(table))])
#define WORD(...) (((const char *const[]){ __VA_ARGS__ })[below(sizeof((const char *[]){ __VA_ARGS__ }) / sizeof(char *))])

/* Where text goes: into both files, at file scope of the first, its second, into the case's function. */
enum place { BOTH, HEAD, OTHER, BODY, PARAMETERS, ARGUMENTS, PLACES };
__attribute__((format(printf, 1, 2))) char *text(const char *format, ...);
__attribute__((format(printf, 2, 3))) void put(enum place p, const char *format, ...);
__attribute__((format(printf, 1, 2))) void line(const char *format, ...);      /* into the function */
void open_block(void);
void close_block(void);
int fresh(void);                      /* a number that no other name of the case has */

/* PART { … }: text that the case can do without.  No jumps out of it. */
bool part_begin(void);
bool part_end(void);
#define PART for (bool part_on = part_begin(); part_on; part_on = part_end())

/* ---- types.c */
struct scalar { const char *name, *read, *make; bool sums; };      /* read: as unsigned; make: from unsigned */
struct leaf { char *path; const struct scalar *scalar; };           /* path: ".a[2].b" */
struct member { char name[12]; struct type *type; int bits; };
struct type {
    char name[32];                    /* a typedef, or the scalar's name */
    const struct scalar *scalar;      /* NULL for the others */
    struct type *of;                  /* array */
    int n;
    struct member members[5];         /* struct; union: the first is used */
    int nmembers;
    bool is_union;
    struct leaf leaves[40];
    int nleaves;
    char *spelling;                   /* struct, union: without a tag */
};
struct type *random_type(int depth);
struct type *random_struct(int depth);
struct type *scalar_type(void);
struct type *array_of(struct type *of, int n);
struct type *named_scalar(const char *name);

/* ---- objects.c */
struct view { char *root; struct type *type; bool writable, nameless; int hidden; };      /* hidden: by a name of this scope's depth */
extern struct view views[];
extern int nviews;
struct scope { int views, terms, depth; };
struct scope begin_scope(void);
void end_scope(struct scope s);
void see(char *root, struct type *t, bool writable, bool nameless);
void see_term(char *unsigned_value);  /* what may be read besides the views: loop variables and such */
void hide(const char *name);          /* it means something else until the scope ends */
void hide_pointers(void);             /* what is reached through one may be private now */
struct view *some_view(bool writable);            /* NULL: there is none */
void see_nothing(void);
void freeze(void);                    /* from here on what is seen now is only read */
char *expression(void);
char *small(void);                    /* one term */
void set_something(void);             /* an assignment to a leaf that may be written */
void fill(struct view v, const char *value);      /* all of it */
void mix(struct view v);              /* h = hash of h and all of it */

enum storage { LOCAL, NAMELESS, STATIC, GLOBAL, EXTERN, TARGET_GLOBAL, TARGET_EXTERN, HEAP, VLA, VLA_2, PARAMETER, POINTER, STORAGES };
struct object {
    char *name;
    struct type *type;                /* of an element, where count */
    enum storage storage;
    int count, rows;                  /* HEAP, VLA, POINTER: elements; VLA_2: rows of count */
};
struct object new_object(enum storage s, struct type *t);
struct object random_object(void);
void see_object(const struct object *o, bool writable);
void fill_object(const struct object *o);
void mix_object(const struct object *o);
void save(const char *address, const char *size, int *id);        /* without OpenMP: remembers */
void restore(const char *address, const char *size, int id);      /* and puts back */
char *address_of(const struct object *o);
char *size_of(const struct object *o);
char *mapped(const struct object *o); /* as map names it: x, x[0:n] */
bool is_target(const struct object *o);

/* ---- themes: they write the case's function from its first statement to the last, with the result in h */
void theme_mapping(void);
void theme_sharing(void);
void theme_loops(void);
void theme_scopes(void);
void theme_files(void);
void theme_pointers(void);
void region_statements(int depth, int n);      /* theme_scopes.c */
#endif
