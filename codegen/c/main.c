/* main.c - omp-split: one preprocessed file in, the device text and the host text out.
 *
 *   omp-split --path app.c --device T/app.device.c --host T/app.host.c [--tree FILE] [--emit-tree]
 *             [--check T/app.check.i] [--atomic-reduction] [--report] [--remarks] [--exact-lines]
 *             [--offload-mandatory] [--long-double-is-double] [--lowest-sm 75 --highest-sm 90]
 *             T/app.i -- CLANG-ARGS [--
 * ARGS-FOR-THE-USER'S-FILE] omp-split --path app.c --screen T/app.i omp-split --path app.c
 * --hide T/app.check.c app.c omp-split --path app.c --say RECORD T/app.i -- -- ARGS
 *
 * Exit status: 0 written; 1 error in the user's program; 2 usage or files; 3 the file has no device
 * constructs and nothing was written; 5 clang hangs on this file (what --screen looks for; 4: but
 * not on the text that this program would write).
 * --say shows a message of omp-device (record `message`).
 * --hide writes what clang is shown to check; status 3: the file itself.  Outputs are made in
 * memory first: a file is only touched when everything has succeeded. */
#include "codegen/c/codegen.h"
#include "driver/base/diag.h"
#include "driver/base/file.h"
#include "driver/base/protocol.h"
#include "frontend/unit.h"
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

struct options {
    const char *path, *device, *host, *check, *tree, *hide, *say, *warnings, *lowest, *highest,
        *openmp, *input;
    bool emit_tree, atomic_reduction, one_team, team_limits, report, remarks, exact_lines,
        offload_mandatory, long_double_is_double, for_gcc, screen;
    int nargs, nuser_args;
    const char *const *args, *const *user_args;
};
struct output {
    char *data;
    size_t size;
};

static int report_failure(const char *what, const char *name)
{
    if (errno)
        diag_error("omp-split: %s '%s': %s", what, name, strerror(errno));
    else
        diag_error("omp-split: %s '%s'", what, name);
    return TOOL_USAGE;
}

/* ------------------------------------------------------------------ options */
static const struct flag {
    const char *name;
    size_t member; /* of struct options: a string if it has a value, else a bool */
    bool has_value;
} flags[] = {
    { "--path", offsetof(struct options, path), true },
    { "--device", offsetof(struct options, device), true },
    { "--host", offsetof(struct options, host), true },
    { "--check", offsetof(struct options, check), true },
    { "--tree", offsetof(struct options, tree), true },
    { "--hide", offsetof(struct options, hide), true },
    { "--say", offsetof(struct options, say), true },
    { "--warnings", offsetof(struct options, warnings), true },
    { "--openmp", offsetof(struct options, openmp), true },
    { "--lowest-sm", offsetof(struct options, lowest), true },
    { "--highest-sm", offsetof(struct options, highest), true },
    { "--emit-tree", offsetof(struct options, emit_tree), false },
    { "--atomic-reduction", offsetof(struct options, atomic_reduction), false },
    { "--one-team", offsetof(struct options, one_team), false },
    { "--team-limits", offsetof(struct options, team_limits), false },
    { "--report", offsetof(struct options, report), false },
    { "--remarks", offsetof(struct options, remarks), false },
    { "--exact-lines", offsetof(struct options, exact_lines), false },
    { "--offload-mandatory", offsetof(struct options, offload_mandatory), false },
    { "--long-double-is-double", offsetof(struct options, long_double_is_double), false },
    { "--for-gcc", offsetof(struct options, for_gcc), false },
    { "--screen", offsetof(struct options, screen), false },
};

static const struct flag *find_flag(const char *name)
{
    for (unsigned i = 0; i < sizeof flags / sizeof *flags; i++)
        if (!strcmp(flags[i].name, name))
            return &flags[i];
    return NULL;
}

/* Up to `--` or NULL; the number. */
static int read_list(char **argv, const char *const **list)
{
    int n = 0;
    *list = (const char *const *)argv;
    while (argv[n] && strcmp(argv[n], "--"))
        n++;
    return n;
}

/* argv ends with NULL. */
static int read_options(char **argv, struct options *o)
{
    errno = 0;
    while (*++argv && strcmp(*argv, "--")) {
        const struct flag *f = find_flag(*argv);
        void *member = f ? (char *)o + f->member : NULL;
        if (f && !f->has_value)
            *(bool *)member = true;
        else if (f && !argv[1])
            return report_failure("missing argument of", *argv);
        else if (f)
            *(const char **)member = *++argv;
        else if (**argv == '-' && (*argv)[1])
            return report_failure("unknown option", *argv);
        else if (o->input)
            return report_failure("more than one input:", *argv);
        else
            o->input = *argv;
    }
    o->nargs = read_list(argv + !!*argv, &o->args);
    o->nuser_args = read_list((char **)o->args + o->nargs + !!o->args[o->nargs], &o->user_args);
    if (!o->input)
        return report_failure(
            "no input file, usage:",
            "omp-split --path NAME --device FILE --host FILE INPUT.i -- CLANG-ARGS");
    if (!o->path)
        o->path = o->input;
    return TOOL_OK;
}

/* ------------------------------------------------------------------ the steps */
static bool has_device_constructs(const struct omp_unit *u)
{
    const unsigned ours = OMPL_TARGET | OMPL_DATA;
    for (unsigned i = 0; i < u->nconstructs; i++)
        if (u->constructs[i]->leaves & ours)
            return true;
    return u->provides;
}

/* Is some code of the host not what clang would make of the user's text? */
static bool has_host_code(const struct omp_unit *u)
{
    for (unsigned i = 0; i < u->nconstructs; i++)
        if (u->constructs[i]->host_region || u->constructs[i]->for_host || u->constructs[i]->scan ||
            fe_is_later_ordered(u->constructs[i]) || fe_deals_singly(u, u->constructs[i]) ||
            fe_may_miss_last(u, u->constructs[i]))
            return true;
    return false;
}

static int write_text(int (*writer)(FILE *, const struct omp_unit *), const struct omp_unit *u,
                      const char *name, struct output *o)
{
    if (!name)
        return 0;
    FILE *f = open_memstream(&o->data, &o->size);
    if (!f)
        return report_failure("no memory for", name);
    int errors = writer(f, u);
    fclose(f);
    return errors ? TOOL_ERROR : TOOL_OK;
}

static int tree_writer(FILE *f, const struct omp_unit *u)
{
    fe_print(f, u);
    return 0;
}

static int write_all(const struct options *o, const struct omp_unit *u)
{
    struct {
        int (*writer)(FILE *, const struct omp_unit *);
        const char *name;
        struct output out;
    } files[] = {
        { tree_writer, o->tree, { NULL, 0 } },
        { cg_write_device_c, o->device, { NULL, 0 } },
        { cg_write_host_c, o->host, { NULL, 0 } },
    };
    const unsigned n = sizeof files / sizeof *files;
    int rc = TOOL_OK;
    for (unsigned i = 0; i < n && rc == TOOL_OK; i++)
        rc = write_text(files[i].writer, u, files[i].name, &files[i].out);
    for (unsigned i = 0; i < n && rc == TOOL_OK; i++)
        if (files[i].name && !file_write(files[i].name, files[i].out.data, files[i].out.size)) {
            rc = report_failure("cannot write", files[i].name);
            for (unsigned k = 0; k <= i; k++)
                if (files[k].name)
                    remove(files[k].name);
        }
    for (unsigned i = 0; i < n; i++)
        free(files[i].out.data);
    return rc;
}

static int hide(const struct options *o, char *text, size_t length)
{
    if (!fe_hide(o->path, text, length))
        return TOOL_NO_TARGETS;
    return file_write(o->hide, text, length) ? TOOL_OK : report_failure("cannot write", o->hide);
}

static int say(const struct options *o, char *text, size_t length)
{
    struct proto_message m;
    if (!proto_read_message(o->say, &m))
        return report_failure("no record of driver/base/protocol.h:", o->say);
    const struct omp_place at = { m.file, (unsigned)m.line, (unsigned)m.column };
    fe_say(o->path, text, length, at, (enum diag_severity)m.severity, m.words);
    return TOOL_OK;
}

/* The text for the check, where clang would reject the user's. */
static bool write_check(const struct options *o, const char *text)
{
    return !o->check || !text || file_write(o->check, text, strlen(text));
}

/* lowered: clang is to check that text at least. */
static struct omp_unit *parse(const struct options *o, char *text, size_t length, bool lowered)
{
    struct omp_unit *u = fe_parse(o->path, text, length, o->nargs, o->args, NULL);
    char *accepted = u && !u->errors ? u->accepted : NULL;
    if (accepted) {
        struct omp_unit *first = u;
        u = fe_parse(o->path, accepted, strlen(accepted), o->nargs, o->args, first->prefix);
        omp_unit_free(first);
    }
    const char *checked = lowered ? text : NULL;
    if (accepted)
        checked = accepted;
    bool good = u && !u->errors;
    if (u && (good || !u->accepted) && !write_check(o, u->checked ? u->checked : checked))
        report_failure("cannot write", o->check);
    if (!good)
        omp_unit_free(u);
    return good ? u : NULL;
}

/* Of the user's program. */
static int error_code(void) { return fe_found_extra_tokens() ? TOOL_EXTRA : TOOL_ERROR; }

static int split_text(const struct options *o, char *text, size_t length, bool lowered,
                      struct fe_reading user)
{
    struct omp_unit *u = parse(o, text, length, lowered || user.misread || user.rechosen);
    if (!u)
        return error_code();
    u->atomic_reduction = o->atomic_reduction;
    u->team_limits = o->team_limits;
    u->report = o->report;
    u->remarks = o->remarks;
    u->offload_mandatory = o->offload_mandatory;
    u->for_gcc = o->for_gcc;
    u->exact_lines = o->exact_lines || u->needs_link || u->provides; /* messages of the link */
    int rc = fe_check(u) ? TOOL_ERROR : TOOL_OK;
    u->misread = user.misread;
    u->rechosen = user.rechosen;
    if (o->emit_tree && rc == TOOL_OK)
        fe_print(stdout, u);
    u->host_only = !has_device_constructs(u);
    if (rc == TOOL_OK && !o->emit_tree && u->host_only && !lowered && !has_host_code(u))
        rc = TOOL_NO_TARGETS;
    if (rc == TOOL_OK)
        rc = write_all(o, u);
    omp_unit_free(u);
    return rc;
}

static int split_file(const struct options *o, char *text, size_t length)
{
    bool ours, declares;
    int errors, rc = TOOL_OK;
    text = fe_expand_attributes(o->path, text, &length, &declares, &errors);
    if (errors)
        return TOOL_ERROR;
    struct fe_reading user;
    if (fe_read_by_clang(o->path, text, length, &user))
        return TOOL_ENDLESS;
    user.misread |= declares;
    char *lowered = fe_lower(o->path, text, length, o->nargs, o->args, &errors);
    if (errors)
        return TOOL_ENDLESS; /* clang may take what is wrong for something else */
    if (lowered) {
        text = lowered;
        length = strlen(text);
    }
    if (fe_screen(o->path, text, length, &ours))
        rc = TOOL_ENDLESS;
    else if (!o->screen && !ours && !o->emit_tree && !lowered && !declares)
        rc = TOOL_NO_TARGETS;
    else if (o->screen)
        rc = user.misread ? TOOL_REWRITTEN : TOOL_OK;
    else
        rc = split_text(o, text, length, lowered || declares, user);
    return rc;
}

int main(int argc, char **argv)
{
    struct options o = { 0 };
    size_t length = 0;
    (void)argc;
    int rc = read_options(argv, &o);
    if (rc)
        return rc;
    fe_set_command(o.nuser_args, o.user_args);
    fe_set_openmp(o.openmp ? strtoul(o.openmp, NULL, 10) : 0);
    fe_set_archs(o.lowest ? strtoul(o.lowest, NULL, 10) : 0,
                 o.highest ? strtoul(o.highest, NULL, 10) : 0);
    fe_set_spread(!o.one_team, o.remarks);
    fe_set_host(o.for_gcc);
    fe_set_long_double(o.long_double_is_double);
    fe_set_warnings(o.warnings);
    char *text = file_read(o.input, &length);
    if (!text)
        return report_failure("cannot read", o.input);
    if (o.say)
        return say(&o, text, length);
    return o.hide ? hide(&o, text, length) : split_file(&o, text, length);
}
