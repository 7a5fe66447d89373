/* rt_check.c - OMPGPU_CHECK and OMPGPU_ON_ERROR: what is looked for, how many findings are shown, how the program ends. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "hostrt/core/core.h"

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
/* A process that finds `n` mistakes. */
static struct end end_after(int n, const char *on_error)
{
    struct end e = { 0 };
    int pipes[2];
    fflush(stdout);
    if (pipe(pipes))
        return e;
    if (fork() == 0) {
        struct ompgpu_where where = { "app.c", 7, "main_6", NULL, 9, NULL };
        dup2(pipes[1], 2);
        setenv("OMPGPU_ON_ERROR", on_error, 1);
        ompgpu_read_environment(&ompgpu_settings);
        for (int i = 0; i < n; i++)
            ompgpu_check_report(OMPGPU_CHECK_RACE, &where, "mistake %d", i);
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

int main(void)
{
    enum { ADDRESS = 1, UNINIT = 2, RACE = 4, STALE = 8, ALL = 7 }; /* stale is asked for */
    check("nothing without a checked unit", kinds_for("") == 0);
    check("a list", kinds_for("address,race") == (ADDRESS | RACE));
    ompgpu_check_unit();
    check("all but stale with one", kinds_for("") == ALL);
    check("a list counts there, too", kinds_for("uninit,stale") == (UNINIT | STALE));
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
    printf("1..%d\n", number);
    return bad;
}
