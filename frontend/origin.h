/* origin.h - where the user wrote a token of the preprocessed text, macros included. */
#ifndef OMPGPU_FRONTEND_ORIGIN_H
#define OMPGPU_FRONTEND_ORIGIN_H
#include "frontend/unit.h"

struct fe_expansion { /* "expanded from macro": a token of its definition */
    struct omp_place place;
    const char *macro;
};
struct fe_origin {
    struct omp_place place; /* in the file; of a macro's token: where the macro is used */
    unsigned nexpansions;   /* the outermost first */
    struct fe_expansion expansions[8];
};
/* Of column `column` of a line of the text.  `line`: all of the text that has the place's file and
 * line number.  False where the two do not agree, as in text that we wrote. */
bool fe_find_origin(struct omp_place, const char *line, unsigned column, struct fe_origin *);
#endif
