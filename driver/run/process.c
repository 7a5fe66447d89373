/* process.c - running other programs.
 *
 * SIGINT, SIGTERM, SIGHUP, SIGPIPE and SIGCHLD are blocked from drv_signals() on and are taken by
 * sigtimedwait() in drv_proc_wait(), so nothing here runs inside a signal handler.  Each child
 * leads its own process group: clang starts ld and cc1 as children of its own, and a time limit or
 * an interrupt must end those too.  On an interrupt the children are ended first, then temporary
 * files are removed (drv_exit), then the signal is raised again with its default action, so that
 * the shell sees how we ended. */
#include "driver/run/run.h"
#include <errno.h>
#include <stdio.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;
static struct proc *running;
static struct proc *unreported; /* have ended while another one was waited for */
static sigset_t waited;
static bool signals_ready;
static int pending_signal;

static const int endings[] = { SIGINT, SIGTERM, SIGHUP, SIGPIPE };
enum { N_ENDINGS = sizeof endings / sizeof *endings };

void drv_signals(void)
{
    sigemptyset(&waited);
    for (int i = 0; i < N_ENDINGS; i++)
        sigaddset(&waited, endings[i]);
    sigaddset(&waited, SIGCHLD);
    sigprocmask(SIG_BLOCK, &waited, NULL);
    signal(SIGXFSZ, SIG_IGN); /* `ulimit -f`: writing fails, here and in the tools, which say why */
    signals_ready = true;
}

double drv_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double time_limit(void)
{
    const char *text = getenv("OMPGPU_CC_TIMEOUT");
    double limit = text ? strtod(text, NULL) : 0;
    return limit > 0 ? limit : 300;
}

/* ------------------------------------------------------------------ printing */
static void print_word(const char *w)
{
    if (*w && !strpbrk(w, " \t\n\"'\\$`*?[]()<>|&;#~!{}")) {
        fprintf(stderr, " %s", w);
        return;
    }
    fputs(" \"", stderr);
    for (; *w; w++) {
        if (strchr("\"\\$`", *w))
            fputc('\\', stderr);
        fputc(*w, stderr);
    }
    fputc('"', stderr);
}

void drv_print_command(const struct words *w)
{
    for (unsigned i = 0; i < w->n; i++)
        print_word(w->v[i]);
    fputc('\n', stderr);
}

/* ------------------------------------------------------------------ start */
static void redirect(posix_spawn_file_actions_t *fa, int fd, const char *path)
{
    if (!path)
        return;
    int flags = fd == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC;
    posix_spawn_file_actions_addopen(fa, fd, path, flags, 0666);
}

void drv_proc_start(struct proc *p)
{
    posix_spawn_file_actions_t fa;
    posix_spawnattr_t at;
    sigset_t none, ignored;
    posix_spawn_file_actions_init(&fa);
    posix_spawnattr_init(&at);
    redirect(&fa, 0, p->inherit_in ? NULL : p->in ? p->in : "/dev/null");
    redirect(&fa, 1, p->out);
    redirect(&fa, 2, p->err);
    sigemptyset(&none);
    ignored = waited;
    posix_spawnattr_setsigmask(&at, &none);
    posix_spawnattr_setsigdefault(&at, &ignored);
    posix_spawnattr_setpgroup(&at, 0);
    posix_spawnattr_setflags(&at, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK |
                                      POSIX_SPAWN_SETSIGDEF);
    p->start = drv_now();
    int error = posix_spawnp(&p->pid, p->argv.v[0], &fa, &at, (char **)p->argv.v, environ);
    posix_spawn_file_actions_destroy(&fa);
    posix_spawnattr_destroy(&at);
    if (error)
        diag_fatal(EXIT_COMPILE, "cannot run '%s': %s", p->argv.v[0], strerror(error));
    p->next = running;
    running = p;
}

/* ------------------------------------------------------------------ end */
static void unlink_proc(struct proc *p)
{
    struct proc **at = &running;
    while (*at != p)
        at = &(*at)->next;
    *at = p->next;
}

static void record(struct proc *p, int status)
{
    p->seconds = drv_now() - p->start;
    p->code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    p->signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
    p->ended = true;
    unlink_proc(p);
}

static void nap(double seconds)
{
    struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
}

/* First an orderly end, in which clang removes its own files; after a second, the other kind.  What
 * the leader started becomes our child when it is gone, so that we can wait until none of the group
 * is there to make or remove files any more. */
static void kill_group(struct proc *p)
{
    int status = 0;
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    kill(-p->pid, SIGTERM);
    for (int i = 0; i < 100; i++) {
        if (waitpid(p->pid, &status, WNOHANG) != 0)
            goto gone;
        nap(0.01);
    }
    kill(-p->pid, SIGKILL);
    waitpid(p->pid, &status, 0);
gone:
    kill(-p->pid, SIGKILL); /* what it left behind */
    while (waitpid(-p->pid, NULL, 0) > 0)
        ;
    record(p, status);
}

void drv_proc_kill_all(void)
{
    while (running)
        kill_group(running);
    unreported = NULL; /* none of these processes is anyone's any more */
}

/* At the clauses of frontend/clang22.c clang reports the same error until its error limit, and then
 * goes round for ever in silence.  Files that cannot be screened, because their preprocessing
 * fails, may come here. */
static bool goes_round(const struct proc *p)
{
    enum { ENOUGH = 16 << 20 };
    struct stat st;
    if (!p->err || drv_now() - p->start < 1 || stat(p->err, &st) != 0 || st.st_size == 0)
        return false;
    if (st.st_size > ENOUGH)
        return true;
    const char *text = file_read(p->err, NULL);
    return text && strstr(text, "fatal error: too many errors emitted");
}

static struct proc *reap(void)
{
    for (struct proc *p = running; p; p = p->next) {
        int status;
        if (waitpid(p->pid, &status, WNOHANG) == p->pid) {
            record(p, status);
            return p;
        }
        if (goes_round(p)) {
            kill_group(p);
            p->code = 1;
            p->signal = 0;
            return p;
        }
        if (drv_now() - p->start > time_limit()) {
            p->timed_out = true;
            kill_group(p);
            return p;
        }
    }
    return NULL;
}

/* One that has ended, or a wait for something to happen. */
static struct proc *reap_or_nap(void)
{
    struct proc *p = reap();
    if (p)
        return p;
    struct timespec t = { 0, 200 * 1000 * 1000 };
    int s = sigtimedwait(&waited, NULL, &t);
    if (s > 0 && s != SIGCHLD) {
        pending_signal = s;
        drv_exit(128 + s);
    }
    return NULL;
}

struct proc *drv_proc_wait(void)
{
    struct proc *p = unreported;
    if (p)
        unreported = p->next;
    while (running && !p)
        p = reap_or_nap();
    return p;
}

/* While one process is waited for, others may end: drv_proc_wait() reports them later. */
static void wait_beside(const struct proc *p)
{
    struct proc *other = reap_or_nap();
    if (!other || other == p)
        return;
    other->next = unreported;
    unreported = other;
}

/* Whoever waits for this process knows: it may have ended while another was waited for. */
static void forget_report(const struct proc *p)
{
    for (struct proc **at = &unreported; *at; at = &(*at)->next)
        if (*at == p) {
            *at = p->next;
            return;
        }
}

bool drv_proc_wait_for(struct proc *p, double seconds)
{
    while (!p->ended && drv_now() - p->start < seconds)
        wait_beside(p);
    if (p->ended)
        forget_report(p);
    return p->ended;
}

static double cpu_of(pid_t pid)
{
    clockid_t clock;
    struct timespec t;
    if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &t))
        return 0;
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

double drv_proc_cpu(const struct proc *p)
{
    if (p->ended)
        return 0;
    double all = cpu_of(p->pid);
    FILE *f = fopen(mem_printf("/proc/%d/task/%d/children", (int)p->pid, (int)p->pid), "r");
    for (int child; f && fscanf(f, "%d", &child) == 1;)
        all += cpu_of(child);
    if (f)
        fclose(f);
    return all;
}

void drv_proc_kill(struct proc *p)
{
    if (!p->ended)
        kill_group(p);
    forget_report(p);
}

int drv_proc_run(struct proc *p)
{
    drv_proc_start(p);
    while (!p->ended)
        wait_beside(p);
    return p->code;
}

/* ------------------------------------------------------------------ the way out */
void drv_check_stdout(void)
{
    if (fflush(stdout) == 0 && !ferror(stdout))
        return;
    if (errno == EPIPE)
        drv_exit(EXIT_COMPILE); /* by SIGPIPE, without a word */
    diag_fatal(EXIT_COMPILE, "cannot write standard output: %s", strerror(errno));
}

void drv_exit(int code)
{
    drv_proc_kill_all();
    drv_temp_remove_all();
    fflush(NULL);
    if (signals_ready) { /* one that came while no child ran */
        struct timespec now = { 0, 0 };
        for (int s; !pending_signal && (s = sigtimedwait(&waited, NULL, &now)) > 0;)
            if (s != SIGCHLD)
                pending_signal = s;
    }
    if (pending_signal) {
        sigset_t one;
        signal(pending_signal, SIG_DFL);
        sigemptyset(&one);
        sigaddset(&one, pending_signal);
        raise(pending_signal);
        sigprocmask(SIG_UNBLOCK, &one, NULL);
    }
    exit(code);
}

/* ------------------------------------------------------------------ crashes */
static bool is_ours(const char *name) { return text_starts(name, "omp-"); }

/* clang catches the signal of its own compiler proper and only says so in words. */
static int crash_in_words(const struct proc *p, const char *errors)
{
    if (!errors || p->code == 0)
        return 0;
    const char *sign = strstr(errors, "frontend command failed with exit code ");
    if (sign) {
        long code = strtol(sign + strlen("frontend command failed with exit code "), NULL, 10);
        return code > 128 && code < 128 + 65 ? (int)code - 128 : SIGABRT;
    }
    return strstr(errors, "command failed due to signal") ? SIGSEGV : 0;
}

/* It has failed and said nothing. */
static bool report_silent(const struct proc *p)
{
    if (p->code == 0 || !p->silent)
        return false;
    if (!drv_temp_report(p))
        diag_error("%s ended with exit code %d and without a message while %s",
                   path_base(p->argv.v[0]), p->code, p->doing);
    return true;
}

bool drv_proc_report(const struct proc *p, const char *errors)
{
    const char *name = path_base(p->argv.v[0]), *doing = p->doing;
    if (p->timed_out) {
        diag_error(
            "%s did not finish within %g seconds while %s; OMPGPU_CC_TIMEOUT=SECONDS changes "
            "the limit",
            name, time_limit(), doing);
        return true;
    }
    int sig = p->signal ? p->signal : crash_in_words(p, errors);
    if (!sig)
        return report_silent(p);
    if (sig == SIGKILL)
        diag_error("%s was killed while %s; the machine may be short of memory", name, doing);
    else if (is_ours(name))
        diag_error(
            "%s crashed (signal %d) while %s; this is a fault of ompgpu-cc: please report it "
            "with the files that -save-temps keeps",
            name, sig, doing);
    else
        diag_error("%s crashed (signal %d) while %s; this is a fault of %s, not of ompgpu-cc: -v "
                   "shows the command",
                   name, sig, doing, name);
    return true;
}

/* The text without a diagnostic that repeats the one before it. */
static void print_once(const char *text, size_t n)
{
    const char *last = "", *end = text + n;
    size_t last_n = 0;
    while (text < end) {
        const char *stop = memchr(text, '\n', (size_t)(end - text));
        size_t line = stop ? (size_t)(stop - text) + 1 : (size_t)(end - text);
        bool diagnostic = memmem(text, line, ": error: ", 9) != NULL;
        if (!diagnostic || line != last_n || memcmp(text, last, line) != 0)
            fwrite(text, 1, line, stderr);
        if (diagnostic)
            last = text, last_n = line;
        text += line;
    }
}

bool drv_show(const char *file, bool all)
{
    size_t n;
    const char *text = file_read(file, &n);
    if (!text)
        return false;
    const char *crash = all ? NULL : strstr(text, "PLEASE submit a bug report");
    if (crash)
        n = (size_t)(crash - text);
    print_once(text, n);
    fflush(stderr);
    return n != 0;
}
