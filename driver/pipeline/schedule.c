/* schedule.c - runs the stages (stages.c) and shows what they say.
 *
 * A stage starts when the stages that it follows have ended; up to MAX_CHILDREN processes run at
 * once.  The user sees clang's messages from `check`; those of the other stages are kept in files
 * and shown when check has found nothing wrong, so that an error appears once.  The first failure
 * ends everything else, but check may finish, because its message is the better one; unless split
 * has found that clang hangs on this file or misreads it (frontend/clang22.c). */
#include "driver/image/image.h"
#include "driver/pipeline/stages.h"
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MAX_CHILDREN = 3 }; /* processes at once */

struct run {
    struct job *job;
    unsigned started, ended; /* a bit a stage */
    unsigned left[STAGES];   /* processes that have not ended */
    unsigned next[STAGES];   /* processes started */
    unsigned children;
    bool again;   /* from the start, with an older version of OpenMP */
    bool endless; /* clang hangs on this file, or misreads it, and split has found an error */
    bool extra;   /* split has found an error in what clang takes for extra tokens */
    int failed;   /* exit code */
    struct proc *culprit;
    struct proc *check;   /* while it runs */
    struct proc *waiting; /* a check that has ended: what does split have to say of it? */
};

static void end_stage(struct run *r, enum stage_id id) { r->ended |= 1u << id; }

static void print_time(const struct run *r, const char *name, double seconds)
{
    if (r->job->opt->time)
        fprintf(stderr, "%-24s %8.1f ms  %s\n", name, 1e3 * seconds, r->job->path);
}

static void launch(struct run *r, enum stage_id id)
{
    const struct stage *s = &drv_stages[id];
    struct proc *p = mem_alloc(sizeof *p);
    p->index = r->next[id]++;
    p->tag = (void *)s;
    p->err = drv_stage_err(r->job, id, p->index);
    p->doing = mem_printf("%s '%s'", s->doing, r->job->path);
    s->command(r->job, p->index, p);
    if (r->job->opt->verbose)
        drv_print_command(&p->argv);
    if (r->job->opt->dry) {
        if (--r->left[id] == 0)
            end_stage(r, id);
        return;
    }
    drv_proc_start(p);
    if (id == CHECK)
        r->check = p;
    r->children++;
}

static void run_inside(struct run *r, enum stage_id id)
{
    double start = drv_now();
    if (!r->job->opt->dry)
        r->failed = drv_stages[id].inside(r->job);
    print_time(r, drv_stages[id].name, drv_now() - start);
    end_stage(r, id);
}

/* clang checks the user's file; where gcc preprocesses it, gcc's text. */
static unsigned stages_before(const struct job *j, enum stage_id id)
{
    return drv_stages[id].after | (id == CHECK && drv_gcc_text(j) ? AFTER(PREPROCESS) : 0);
}

/* Starts what can start; true when something ended or started in doing so. */
static bool advance(struct run *r)
{
    bool moved = false;
    for (int id = 0; id < STAGES && !r->failed; id++) {
        const struct stage *s = &drv_stages[id];
        if ((r->ended >> id & 1) || (stages_before(r->job, (enum stage_id)id) & ~r->ended))
            continue;
        if (!(r->started >> id & 1)) {
            r->started |= 1u << id;
            moved = true;
            if (s->wanted && !s->wanted(r->job)) {
                end_stage(r, (enum stage_id)id);
                continue;
            }
            if (s->inside) {
                run_inside(r, (enum stage_id)id);
                continue;
            }
            r->left[id] = s->count ? s->count(r->job) : 1;
            if (!r->left[id])
                end_stage(r, (enum stage_id)id);
        }
        while (r->next[id] < (s->count ? s->count(r->job) : 1) && r->children < MAX_CHILDREN &&
               !(r->ended >> id & 1)) {
            launch(r, (enum stage_id)id);
            moved = true;
        }
    }
    return moved;
}

/* Are all lines of one report, but for clang's count of errors at its end, in the other? */
static bool is_part_of(const char *report, const char *other)
{
    const char *next;
    if (!report || !other)
        return false;
    for (const char *p = report; (next = strchr(p, '\n')) && next[1]; p = next + 1) {
        const char *line = mem_printf("%.*s", (int)(next + 1 - p), p);
        if (!strstr(other, line))
            return false;
    }
    return true;
}

/* clang rejects the file: would it with an older version of OpenMP?  If not, what it says with the
 * newer one counts, unless that is what it says with the older and more: errors of the version's.
 */
static bool accepted_by_older(const struct job *j, struct proc *check)
{
    struct proc p = { .err = mem_printf("%s/older.err", drv_job_dir(j)),
                      .doing = mem_printf("checking '%s'", j->path) };
    if (!drv_older_openmp(j->opt))
        return false;
    drv_check_command(j, &p);
    if (drv_proc_run(&p) == 0)
        return true;
    if (p.code == 1 && is_part_of(file_read(p.err, NULL), file_read(check->err, NULL)))
        check->err = p.err;
    drv_newest_openmp();
    return false;
}

/* clang rejects some files wrongly: then split has written what to check instead
 * (frontend/rejected.c), and what clang says of that counts. */
static bool accepted_as_rewritten(const struct job *j, struct proc *check)
{
    const char *text = drv_job_file(j, "check.i");
    struct proc p = { .err = mem_printf("%s/rewritten.err", drv_job_dir(j)),
                      .doing = mem_printf("checking '%s'", j->path) };
    if (access(text, R_OK) != 0)
        return false;
    drv_check_text_command(j, drv_check_text(j, text), &p);
    WORDS_ADD(&p.argv, "-Wno-gnu", "-Wno-gcc-compat");
    int code = drv_proc_run(&p);
    if (code == 0)
        drv_show(check->code || j->unit.misread ? p.err : check->err, j->opt->verbose);
    if (code == 1)
        check->err = p.err;
    return code == 0;
}

static void reject(struct run *r, struct proc *check)
{
    check->silent = !drv_show(check->err, r->job->opt->verbose);
    r->failed = EXIT_COMPILE;
    r->culprit = check;
}

/* clang crashed on what split has found an error in, or misread it: that is the message. */
static bool is_explained(const struct run *r, const struct proc *check)
{
    bool crashed = check->code != 0 && check->code != 1 && !check->timed_out;
    return (crashed || r->endless) && r->failed && r->culprit &&
           r->culprit->tag == &drv_stages[SPLIT];
}

/* Split's error is about what clang warns of as extra tokens: what it says without that counts. */
static void check_again(struct run *r, struct proc *check)
{
    struct proc p = { .err = mem_printf("%s/extra.err", drv_job_dir(r->job)),
                      .doing = check->doing,
                      .tag = check->tag };
    drv_check_command(r->job, &p);
    words_add(&p.argv, "-Wno-extra-tokens");
    drv_proc_run(&p);
    *check = p;
}

static void judge(struct run *r, struct proc *check)
{
    if (is_explained(r, check))
        return;
    if (r->extra && (check->code == 0 || check->code == 1))
        check_again(r, check);
    const struct proto_unit *unit = &r->job->unit;
    if (check->code == 0 && !unit->misread && !unit->rechosen)
        drv_show(check->err, r->job->opt->verbose);
    else if (check->timed_out || !accepted_as_rewritten(r->job, check))
        reject(r, check);
}

static void end_check(struct run *r, struct proc *p)
{
    if (r->failed || p->timed_out || (r->ended >> SPLIT & 1))
        judge(r, p);
    else
        r->waiting = p;
}

static void end_waiting(struct run *r)
{
    struct proc *p = r->waiting;
    r->waiting = NULL;
    if (p)
        judge(r, p);
}

/* clang hangs on the user's text, or misreads it: it is ended, without a report, and checks the
 * other one. */
static void replace_check(struct run *r)
{
    struct proc *other = mem_alloc(sizeof *other);
    *other = *r->check;
    other->code = 1;
    drv_proc_kill(r->check);
    r->check = NULL;
    r->children--;
    end_stage(r, CHECK);
    if (!accepted_as_rewritten(r->job, other))
        reject(r, other);
}

static void ended(struct run *r, struct proc *p)
{
    const struct stage *s = p->tag;
    enum stage_id id = (enum stage_id)(s - drv_stages);
    bool orderly = p->code >= 0 && !p->timed_out;
    int code = orderly && s->done ? s->done(r->job, p->code) : p->code;
    r->children--;
    r->endless |= id == SPLIT && p->code == TOOL_ENDLESS;
    r->extra |= id == SPLIT && p->code == TOOL_EXTRA;
    if (id == CHECK)
        r->check = NULL;
    if (id == SPLIT && r->job->unit.misread && r->check)
        replace_check(r);
    print_time(r, s->name, p->seconds);
    if (id == CHECK && p->code == 1 && accepted_by_older(r->job, p)) {
        r->again = true;
        r->left[id] = 0;
        end_stage(r, id);
        return;
    }
    if (id == CHECK)
        end_check(r, p);
    else if ((!orderly || code) && !r->failed) {
        r->failed = EXIT_COMPILE;
        r->culprit = p;
    }
    if (--r->left[id] == 0)
        end_stage(r, id);
    if (r->failed || id == SPLIT)
        end_waiting(r);
}

static bool check_runs(const struct run *r)
{
    return (r->started >> CHECK & 1) && !(r->ended >> CHECK & 1);
}

/* The message of a stage other than check: its own words, and what they mean where they are not
 * about the user's text. */
static void explain(const struct run *r)
{
    struct proc *p = r->culprit;
    const struct stage *s = p->tag;
    enum stage_id id = (enum stage_id)(s - drv_stages);
    if (id != CHECK && id != NATIVE)
        p->silent = !drv_show(p->err, r->job->opt->verbose);
    bool users = id == CHECK || id == SPLIT; /* its words are about the program */
    if (id == CHECK && drv_gcc_text(r->job))
        diag_note("clang reads '%s' as gcc preprocesses it", r->job->path);
    if (drv_proc_report(p, file_read(p->err, NULL)) || (!users && drv_temp_report(p)))
        return;
    if (id == HOST && r->job->opt->gcc)
        diag_note("this came up while %s: clang accepts the file, but %s does not", p->doing,
                  r->job->opt->host_cc);
    else if (id == DEVICE_GPU || id == DEVICE_EMU || id == HOST || id == HOST_IR)
        diag_note("this came up while %s: clang accepts the file, but not what a target region "
                  "makes of it",
                  p->doing);
    if (id == PTXAS) {
        const char *version = drv_cuda_version(r->job->opt);
        diag_error("ptxas of CUDA %s failed for %s while %s", version ? version : "(unknown)",
                   drv_arch_name(&r->job->archs, p->index), p->doing);
    }
}

/* Warnings and remarks of stages that succeeded, in the order of the table. */
static void show_remarks(const struct job *j)
{
    drv_show(drv_stage_err(j, SPLIT, 0), j->opt->verbose);
    drv_show(drv_stage_err(j, LOWER_GPU, 0), j->opt->verbose);
    drv_show(drv_stage_err(j, LOWER_EMU, 0), j->opt->verbose);
    drv_report_regions(j);
}

int drv_run_stages(struct job *j)
{
    struct run r = { .job = j };
    double start = drv_now();
    for (;;) {
        while (advance(&r)) {}
        if (r.again || r.endless || (r.failed && !check_runs(&r)))
            break;
        struct proc *p = drv_proc_wait();
        if (!p)
            break;
        ended(&r, p);
    }
    drv_proc_kill_all();
    if (r.again)
        return -1;
    if (r.failed) {
        if (r.culprit)
            explain(&r);
        return r.failed;
    }
    print_time(&r, "total", drv_now() - start);
    if (!j->opt->dry)
        show_remarks(j);
    return 0;
}
