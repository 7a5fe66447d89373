/* drv_base.c - the helpers of driver/base: records survive any text, outputs are new files. */
#include "driver/base/file.h"
#include "driver/base/mem.h"
#include "driver/base/protocol.h"
#include "driver/base/text.h"
#include "driver/run/run.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static int number, failed;
static void check(int good, const char *what)
{
    printf("%sok %d - %s\n", good ? "" : "not ", ++number, what);
    failed |= !good;
}

static void records(void)
{
    static const char *const odd[] = { "app.c", "a b", "a\nb", "a\\nb", "\\", "=", "", " x=1 needs=1 ", "\"'$(x)" };
    for (unsigned i = 0; i < sizeof odd / sizeof *odd; i++) {
        struct proto_member in = { .file = odd[i], .mode = "auto", .needs = 1, .warn_generic = 7 }, out = { 0 };
        const char *line = proto_write_member(&in);
        check(!strchr(line, '\n') && proto_read_member(line, &out) && !strcmp(out.file, in.file) && !strcmp(out.mode, "auto") &&
                  out.needs == 1 && out.warn_generic == 7 && !out.remarks, mem_printf("a record with '%s'", i == 2 ? "a line end" : odd[i]));
    }
    struct proto_taken t;
    struct proto_unit u;
    check(!proto_read_unit("taken member=1", &u), "another kind of record");
    check(!proto_read_taken("taken", &t), "a field is missing");
    check(!proto_read_taken("taken member=x", &t), "not a number");
    check(!proto_read_taken("taken member=1 other=2", &t), "an unknown field");
    check(proto_read_taken("taken member=12\nrest", &t) && t.member == 12, "a record ends with its line");
}

/* A process that ends while another one is waited for is reported all the same. */
static void processes(void)
{
    struct proc quick = { .doing = "being quick" }, slow = { .doing = "being slow" };
    words_add(&quick.argv, "true");
    words_add(&slow.argv, "sleep");
    words_add(&slow.argv, "0.3");
    drv_signals();
    drv_proc_start(&quick);
    check(drv_proc_run(&slow) == 0, "the one that is waited for");
    check(drv_proc_wait() == &quick, "the other one, reported later");
    check(drv_proc_wait() == NULL, "no other");
}

static void outputs(void)
{
    char dir[] = "/tmp/drv_base-XXXXXX";
    if (!mkdtemp(dir))
        return;
    umask(027);
    char *path = mem_printf("%s/out.o", dir), *a = file_create_beside(path), *b = file_create_beside(path);
    struct stat st = { 0 };
    check(a && b && strcmp(a, b) != 0, "each output has a name of its own");
    check(a && stat(a, &st) == 0 && (st.st_mode & 0777) == 0640, "its mode follows the umask");
    check(a && !strstr(a, mem_printf("%d", (int)getpid())), "the name cannot be foreseen");
    check(!file_create_beside(mem_printf("%s/none/out.o", dir)), "no directory");
    unlink(a ? a : "");
    unlink(b ? b : "");
    rmdir(dir);
}

static void texts(void)
{
    struct text t = { 0 };
    for (int i = 0; i < 1000; i++)
        text_printf(&t, "%d\n", i);
    char *p = t.s, *line;
    int n = 0;
    while ((line = text_line(&p)))
        n += atoi(line) == n;
    check(n == 1000, "text grows, and is read line by line");
    struct words w = { 0 };
    for (int i = 0; i < 100; i++)
        words_add(&w, "x");
    check(w.n == 100 && !w.v[100], "words end with NULL");
}

/* All of the table, whatever the limit is. */
static unsigned whole_distance(const char *a, size_t n, const char *b, size_t m)
{
    unsigned d[20][20];
    for (size_t i = 0; i <= n; i++)
        for (size_t k = 0; k <= m; k++) {
            if (!i || !k) {
                d[i][k] = (unsigned)(i + k);
                continue;
            }
            unsigned change = d[i - 1][k - 1] + (a[i - 1] != b[k - 1]), lack = d[i - 1][k] + 1, more = d[i][k - 1] + 1;
            d[i][k] = change < lack ? change : lack;
            d[i][k] = d[i][k] < more ? d[i][k] : more;
            if (i > 1 && k > 1 && a[i - 1] == b[k - 2] && a[i - 2] == b[k - 1] && d[i - 2][k - 2] + 1 < d[i][k])
                d[i][k] = d[i - 2][k - 2] + 1;
        }
    return d[n][m];
}

static unsigned distance(const char *a, const char *b, unsigned limit) { return text_distance(a, strlen(a), b, strlen(b), limit); }

static void distances(void)
{
    check(distance("-mode", "-mode", 3) == 0 && distance("-mode", "-mdoe", 3) == 1 && distance("-mode", "-moed", 3) == 1 &&
              distance("-mode", "-modes", 3) == 1 && distance("-mode", "-mo", 3) == 2 && distance("", "ab", 3) == 2, "distances of words");
    check(distance("-mode", "-m", 3) == 3 && distance("-mode", "-Wall", 3) == 3 && distance("a", "b", 1) == 1 && distance("a", "a", 0) == 0,
          "... end at the limit");
    int wrong = 0;
    for (unsigned i = 0; i < 20000; i++) {
        char a[12] = "", b[12] = "";
        size_t n = (size_t)rand() % 11, m = (size_t)rand() % 11;
        for (size_t k = 0; k < 11; k++) {
            a[k] = (char)('a' + rand() % 3);
            b[k] = rand() % 4 ? a[k] : (char)('a' + rand() % 3);
        }
        unsigned limit = (unsigned)rand() % 6, whole = whole_distance(a, n, b, m);
        wrong += text_distance(a, n, b, m, limit) != (whole < limit ? whole : limit);
    }
    check(!wrong, "... and are those of the whole table");
}

int main(void)
{
    distances();
    records();
    outputs();
    processes();
    texts();
    printf("1..%d\n", number);
    return failed;
}
