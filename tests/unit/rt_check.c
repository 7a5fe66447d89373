/* rt_check.c - OMPGPU_CHECK and OMPGPU_ON_ERROR: what is looked for, how many findings are shown, how the program ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hostrt/emu/emu.h"

static int number, bad;
static void check(const char *what, bool ok)
{
    printf("%sok %d - %s\n", ok ? "" : "not ", ++number, what);
    bad |= !ok;
}

static unsigned kinds_for(const char *value)
{
    unsigned set = 0;
    setenv("OMPGPU_CHECK", value, 1);
    ompgpu_read_environment(&ompgpu_settings);
    for (unsigned k = 0; k < OMPGPU_CHECKS; k++)
        set |= (unsigned)ompgpu_checks(k) << k;
    return set;
}

struct end {
    int status;
    unsigned lines;
    char text[8192];
};
static struct end end_of(void (*run)(int), int n, const char *on_error)
{
    struct end e = { 0 };
    int pipes[2];
    fflush(stdout);
    if (pipe(pipes))
        return e;
    if (fork() == 0) {
        dup2(pipes[1], 2);
        setenv("OMPGPU_ON_ERROR", on_error, 1);
        ompgpu_read_environment(&ompgpu_settings);
        run(n);
        exit(0);
    }
    close(pipes[1]);
    for (ssize_t got, at = 0; (got = read(pipes[0], e.text + at, sizeof e.text - 1 - (size_t)at)) > 0;)
        at += got;
    close(pipes[0]);
    wait(&e.status);
    for (const char *p = e.text; (p = strchr(p, '\n')); p++)
        e.lines++;
    return e;
}

static void find_mistakes(int n)
{
    struct ompgpu_where where = { "app.c", 7, "main_6", NULL, 9, NULL };
    for (int i = 0; i < n; i++)
        ompgpu_check_report(OMPGPU_CHECK_RACE, &where, "mistake %d", i);
}
static void find_suspect(int status)
{
    ompgpu_check_suspect(NULL, "one");
    ompgpu_check_forget(ompgpu_check_suspect(NULL, "another"));
    exit(status);
}
static struct end end_after(int n, const char *on_error) { return end_of(find_mistakes, n, on_error); }

/* Two teams, each on an OS thread, find at the same time that one store races with either of two loads. */
enum { ROUNDS = 200 };
static struct round {
    struct ompgpu_emu_site store, loads[2];
} rounds[ROUNDS];
static atomic_uint arrived;
static const struct ompgpu_kernel_where kernel = { .kernel = "main_6" };
static void *find_races(void *team)
{
    struct emu_launch l = { .where = &kernel };
    struct emu_thread t = { .pub.team = team != NULL };
    struct emu_worker w = { .launch = &l, .current = &t };
    struct emu_accessor by = { .team = t.pub.team };
    ompgpu_emu_worker = &w;
    for (struct round *r = rounds; r < rounds + ROUNDS; r++) {
        atomic_fetch_add(&arrived, 1);
        for (unsigned both = 2 * (unsigned)(r - rounds + 1); atomic_load(&arrived) < both;)
            ; /* without a call, so that they leave together */
        ompgpu_emu_report_race(NULL, 4, &r->loads[t.pub.team], &r->store, &by);
    }
    return NULL;
}
static void find_races_twice(int unused)
{
    (void)unused;
    pthread_t other;
    for (unsigned i = 0; i < ROUNDS; i++) {
        const struct ompgpu_emu_site site = { .file = "app.c", .object = "", .line = i };
        rounds[i] = (struct round){ site, { site, site } };
        rounds[i].loads[0].column = 1, rounds[i].loads[1].column = 2;
    }
    pthread_create(&other, NULL, find_races, rounds);
    find_races(NULL);
    pthread_join(other, NULL);
}

int main(void)
{
    enum { ADDRESS = 1, UNINIT = 2, RACE = 4, STALE = 8, ALL = 15, STALE_ALL = 16, LEAK = 32 };
    check("nothing without a checked unit", kinds_for("") == 0);
    check("a list", kinds_for("address,race") == (ADDRESS | RACE));
    ompgpu_check_unit();
    check("all of the default with one", kinds_for("") == ALL);
    check("a list counts there, too", kinds_for("uninit,stale") == (UNINIT | STALE));
    check("what is asked for", kinds_for("leak,stale-all") == (LEAK | STALE_ALL | STALE));
    check("0 is none", kinds_for("0") == 0);
    check("an unknown word leaves the default", kinds_for("addres") == ALL);
    unsetenv("OMPGPU_CHECK");
    struct end e = end_after(2, "continue");
    check("goes on, exit status 1", WIFEXITED(e.status) && WEXITSTATUS(e.status) == 1 && e.lines == 2);
    check("names place, region and kind", strstr(e.text, "app.c:7:9: ") && strstr(e.text, "main_6") && strstr(e.text, "race"));
    e = end_after(25, "");
    check("20 are shown, the rest is counted", e.lines == 21 && strstr(e.text, " 5 more"));
    e = end_after(2, "exit");
    check("exit", WIFEXITED(e.status) && WEXITSTATUS(e.status) == 1 && e.lines == 1);
    e = end_after(2, "abort");
    check("abort", WIFSIGNALED(e.status) && e.lines == 1);
    e = end_after(0, "exit");
    check("no mistake, exit status 0", WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0 && e.lines == 0);
    e = end_of(find_suspect, 0, "");
    check("a suspect is no mistake", WIFEXITED(e.status) && WEXITSTATUS(e.status) == 0 && e.lines == 0);
    e = end_of(find_suspect, 4, "");
    check("... where the program fails it is shown", WIFEXITED(e.status) && WEXITSTATUS(e.status) == 4 && e.lines == 1 && strstr(e.text, "warning: one"));
    e = end_of(find_races_twice, 0, "continue");
    check("a race is reported once, also when two teams find it together", e.lines == 21 && strstr(e.text, " 180 more"));
    if (bad)
        printf("# %s", e.text);
    printf("1..%d\n", number);
    return bad;
}
