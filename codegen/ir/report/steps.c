/* steps.c - what each step makes of the kernels, before the final IR of --emit=ir.
 *
 *   ; --- before: the first step
 *   ; define … @main_14__region(…) { … }
 *   ; --- after: spmd
 *   ; …                                  the functions that the step changed
 *   ; --- after: optimise
 *   …                                    the module, as it goes to code generation
 *
 * The steps are comments, so that the whole is IR that LLVM's tools read.  Only what the user wrote
 * is shown, and what codegen puts into it; the runtime that is linked in between is not. */
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct shown {
    char *name, *text;
    unsigned set;
    bool seen;
};
static VEC(struct shown) functions;
static FILE *out;
static char *buffer;
static size_t size;

static struct shown *find(const char *name, unsigned set)
{
    for (unsigned i = 0; i < functions.n; i++)
        if (functions.at[i].set == set && strcmp(functions.at[i].name, name) == 0)
            return &functions.at[i];
    return NULL;
}

static struct shown *add(const char *name, unsigned set)
{
    struct shown *f = VEC_PUSH(NULL, &functions);
    *f = (struct shown){ .name = mem_strdup(name), .set = set };
    return f;
}

static void put_comment(const char *text)
{
    for (const char *end; *text; text = *end ? end + 1 : end) {
        end = text + strcspn(text, "\n");
        fprintf(out, "; %.*s\n", (int)(end - text), text);
    }
}

/* Attribute groups and metadata are numbered anew by each print. */
static bool same_text(const char *a, const char *b)
{
    for (; *a && *a == *b; a++, b++)
        if (*a == '#' || *a == '!') {
            a += strspn(a + 1, "0123456789");
            b += strspn(b + 1, "0123456789");
        }
    return *a == *b;
}

/* Whether it is another text than before.  What a set of kernels has for itself has the set's
 * number before it. */
static bool show_function(LLVMValueRef f, bool first, unsigned set)
{
    const char *name = ir_name(f);
    struct shown *s = find(name, set), *home = set ? find(name, 0) : NULL;
    /* the user's functions are those of the first step; later ones are ours or the runtime's */
    if (!s && !first && !home && !ir_string_attribute(f, IR_OURS))
        return false;
    if (!s)
        s = add(name, set);
    s->seen = true;
    char *text = LLVMPrintValueToString(f);
    bool changed = !s->text || !same_text(s->text, text);
    if (changed) {
        if (set)
            fprintf(out, "; set %u:\n", set);
        put_comment(text);
        LLVMDisposeMessage(s->text);
        s->text = text;
    } else {
        LLVMDisposeMessage(text);
    }
    return changed;
}

static bool show_gone(void)
{
    bool any = false;
    for (unsigned i = 0; i < functions.n; i++)
        if (functions.at[i].text && !functions.at[i].seen) {
            if (!functions.at[i].set)
                fprintf(out, "; @%s is gone\n", functions.at[i].name);
            LLVMDisposeMessage(functions.at[i].text);
            functions.at[i].text = NULL;
            any = true;
        }
    return any;
}

/* `step` has run; the first one is reading the input. */
void ir_show_step(struct ir_unit *u, const char *step)
{
    bool first = !out, changed = false;
    struct ir_unit *set;
    if (!u->opt->emit_ir || (first && !(out = open_memstream(&buffer, &size))))
        return;
    fprintf(out, "; --- %s: %s\n", first ? "before" : "after", first ? "the first step" : step);
    for (unsigned i = 0; i < functions.n; i++)
        functions.at[i].seen = false;
    for (unsigned i = 0; (set = ir_set(u, i)); i++)
        IR_EACH_FUNCTION(f, set->module)
            if (!LLVMIsDeclaration(f))
                changed |= show_function(f, first, i);
    changed |= show_gone();
    if (!changed)
        fprintf(out, "; no change\n");
}

/* All that was shown; "" if nothing. */
const char *ir_shown_steps(void)
{
    if (!out)
        return "";
    fprintf(out, "; --- after: optimise\n");
    fflush(out);
    return buffer;
}
