/* mutate.c - directives that are wrong in a random way, and what becomes of them.
 *
 *   mutate SEED COUNT EVERY TREE FILE.i…
 *
 * Takes a preprocessed file, changes the tokens of one of its directives, and gives it to omp-split; where that accepts it, to clang's own check;
 * as the command checks; where that does, too, both outputs to clang.  Each EVERYth one goes through the whole command.  A mutant must end within ten seconds of the processor, by itself,
 * with an error that has a place, or with texts that compile; nothing may be left in TMPDIR.  Works in the current directory; prints a line for
 * each failure and keeps the mutant as failed-N.i; at the end the numbers.  TREE: where bin/ and lib/ are. */
#include <ctype.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Every clause, directive and word of OpenMP. */
static const char *const words[] = {
#define OMP_CLAUSE(id, spelling, arg, role) spelling,
#define OMP_LEAF(id, spelling, leaf, assoc, since, clauses) spelling,
#define OMP_DIRECTIVE(id, spelling, leaf, assoc, role, since, clauses) spelling,
#define OMP_ALIAS(id, spelling, since) spelling,
#define OMP_KEYWORD(id, spelling) spelling,
#define OMP_WORD(set, spelling, value) spelling,
#include "frontend/omp.def"
};
static const char *const marks[] = {
    "(", ")", "()", "[", "]", "[:]", "[0:1]", "[::2]", ":", "::", ",", ",,", ";", "{", "}", "*", "&", "+", "-", "=", "==", "?", "...", "#", "##", "@", "`", "$", "\\", "\"", "'", "\"x\"",
    "'a'", "0", "-1", "1.5", "0x", "99999999999999999999", "1 / 0", "sizeof", "int", "struct", "void", "omp", "omp_get_thread_num()", "nothing_of_this_name", "main", "(((((", ")))))", "\xc3\xa4",
    "__LINE__", "_Pragma(\"omp barrier\")", "/*", "//", "0 ? 1", "({ 1; })", "(int){ 3 }", "this", "->", ".",
};
#define COUNT(table) (sizeof(table) / sizeof *(table))

static unsigned long long state;
static unsigned below(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}

/* ------------------------------------------------------------------ files and their directives */
enum { TOKENS = 300 };
struct line { const char *begin, *end; };
struct file { char *text; size_t length; struct line *directives; unsigned n; bool inscan; };

static char *read_all(const char *name, size_t *length)
{
    FILE *f = fopen(name, "rb");
    char *text = NULL;
    size_t n = 0, room = 0;
    while (f && !feof(f)) {
        if (n + 4096 > room) text = realloc(text, room = 2 * room + 8192);
        if (!text) abort();
        n += fread(text + n, 1, 4095, f);
    }
    if (f) fclose(f);
    if (text) text[n] = 0;
    *length = n;
    return text;
}
static struct file read_file(const char *name)
{
    struct file f = { 0 };
    f.text = read_all(name, &f.length);
    if (!f.text) perror(name), exit(2);
    f.inscan = strstr(f.text, "inscan") != NULL;
    for (const char *s = f.text; (s = strstr(s, "#pragma omp ")); s++) {
        f.directives = realloc(f.directives, (f.n + 1) * sizeof *f.directives);
        if (!f.directives) abort();
        f.directives[f.n++] = (struct line){ s + strlen("#pragma omp "), strchr(s, '\n') };
    }
    return f;
}

/* ------------------------------------------------------------------ one mutant */
static char tokens[TOKENS][80];
static unsigned ntokens;

static void set(unsigned at, const char *s) { snprintf(tokens[at], sizeof tokens[at], "%s", s); }
static void insert(unsigned at, const char *s)
{
    if (ntokens + 1 >= TOKENS || at > ntokens) return;
    memmove(tokens + at + 1, tokens + at, (ntokens - at) * sizeof *tokens);
    ntokens++;
    set(at, s);
}
static void erase(unsigned at, unsigned n)
{
    if (at + n > ntokens) return;
    memmove(tokens + at, tokens + at + n, (ntokens - at - n) * sizeof *tokens);
    ntokens -= n;
}
/* Appends the line's tokens, split as C's; a string is one. */
static void split(struct line l)
{
    for (const char *s = l.begin; s < l.end && ntokens + 1 < TOKENS;) {
        const char *from = s++;
        if (isspace((unsigned char)*from)) continue;
        if (isalnum((unsigned char)*from) || *from == '_')
            while (s < l.end && (isalnum((unsigned char)*s) || *s == '_' || *s == '.')) s++;
        else if (*from == '"')
            while (s < l.end && *s++ != '"') continue;
        snprintf(tokens[ntokens++], sizeof *tokens, "%.*s", (int)(s - from), from);
    }
}
static unsigned after_clause(unsigned at)
{
    int depth = 0;
    do {
        depth += !strcmp(tokens[at], "(") - !strcmp(tokens[at], ")");
        at++;
    } while (at < ntokens && (depth > 0 || !strcmp(tokens[at], "(")));
    return at;
}
static const char *any_word(const struct file *f)
{
    static char word[80];
    switch (below(3)) {
    case 0: return words[below(COUNT(words))];
    case 1: return marks[below(COUNT(marks))];
    }
    /* of another directive */
    unsigned n = ntokens;
    split(f->directives[below(f->n)]);
    snprintf(word, sizeof word, "%s", n < ntokens ? tokens[n + below(ntokens - n)] : ",");
    ntokens = n;
    return word;
}
static void change(const struct file *f)
{
    if (!ntokens) insert(0, any_word(f));
    unsigned at = below(ntokens), other = below(ntokens), n = ntokens;
    char kept[80];
    snprintf(kept, sizeof kept, "%s", tokens[at]);
    switch (below(11)) {
    case 0: erase(at, 1); break;
    case 1: insert(other, kept); break;
    case 2: set(at, tokens[other]), set(other, kept); break;
    case 3: case 4: set(at, any_word(f)); break;
    case 5: case 6: insert(at, any_word(f)); break;
    case 7: erase(at, after_clause(at) - at); break;
    case 8: ntokens = at; break;
    case 9: split(f->directives[below(f->n)]); break;
    default:                          /* a clause of another directive */
        split(f->directives[below(f->n)]);
        if (n < ntokens) {
            unsigned from = n + below(ntokens - n), to = after_clause(from);
            erase(n, from - n);
            ntokens = n + (to - from);
        }
    }
}
/* Writes the file with another line instead of this directive; sometimes the statement is gone, too, or the directive is there twice. */
static bool write_mutant(const struct file *f, const char *name)
{
    FILE *out = fopen(name, "wb");
    if (!out) return false;
    struct line l = f->directives[below(f->n)];
    ntokens = 0;
    split(l);
    for (unsigned i = 1 + below(3); i--;) change(f);
    unsigned how = below(12);
    fwrite(f->text, 1, (size_t)(l.begin - f->text), out);
    for (int twice = how == 0; twice >= 0; twice--) {
        for (unsigned i = 0; i < ntokens; i++) fprintf(out, "%s%s", i ? " " : "", tokens[i]);
        if (twice) fputs("\n#pragma omp ", out);
    }
    const char *rest = how == 1 && *l.end ? strchr(l.end + 1, '\n') : NULL;
    fputs(rest ? rest : l.end, out);
    return !fclose(out);
}

/* ------------------------------------------------------------------ processes */
enum { HANGS = -1, CRASHES = -2 };
static volatile sig_atomic_t child;
static void kill_child(int sig)
{
    (void)sig;
    kill(-child, SIGKILL);
}
/* Its exit code; messages go to the file `messages`. */
static int run(char *const *argv)
{
    int status = 0;
    child = fork();
    if (!child) {
        int fd = open("messages", O_WRONLY | O_CREAT | O_TRUNC, 0666);
        setpgid(0, 0);
        setrlimit(RLIMIT_CPU, &(struct rlimit){ 10, 11 });
        dup2(fd, 1), dup2(fd, 2);
        execv(argv[0], argv);
        _exit(127);
    }
    setpgid(child, child);
    alarm(200);                       /* for what waits; the machine may be busy */
    while (waitpid(child, &status, 0) < 0) continue;
    bool late = !alarm(0);
    if (WIFSIGNALED(status)) return late || WTERMSIG(status) == SIGXCPU ? HANGS : CRASHES;
    return WEXITSTATUS(status);
}
static bool says(const char *what)
{
    size_t n;
    char *s = read_all("messages", &n);
    bool found = s && strstr(s, what);
    free(s);
    return found;
}

static unsigned long total, refused, accepted, whole, failed;
static void fail(const char *what)
{
    char keep[64], command[300];
    snprintf(keep, sizeof keep, "failed-%lu.i", ++failed);
    rename("x.i", keep);
    printf("%s: %s\n", keep, what);
    fflush(stdout);
    snprintf(command, sizeof command, "sed -e 's/^/    /' -e 5q messages");
    if (system(command)) return;
}
/* Is this an orderly end?  0: success; 1: an error that it says; otherwise the failure is written. */
static int judge(const char *who, int rc)
{
    char what[100];
    const char *how = rc == HANGS ? "hangs" : rc == CRASHES ? "crashes" : rc && !says("error: ") ? "fails without an error" : says("internal error") ? "has an internal error" : NULL;
    if (!how) return rc != 0;
    snprintf(what, sizeof what, "%s %s", who, how);
    fail(what);
    return 2;
}

/* ------------------------------------------------------------------ what a mutant goes through */
static char split_path[4096], clang_path[4096], command_path[4096], header_path[4096];
enum { NO_TARGETS = 3 };

static void check_outputs(void)
{
    char *const device[] = { clang_path, "-fsyntax-only", "-w", "-x", "c", "-include", header_path, "-O0", "d.c", NULL };
    char *const host[] = { clang_path, "-fsyntax-only", "-w", "-fopenmp", "-fopenmp-version=60", "-x", "cpp-output", "h.c", NULL };
    if (run(device)) fail("accepted, and the text for the device does not compile");
    else if (run(host)) fail("accepted, and the text for the host does not compile");
    else accepted++;
}
static unsigned entries(const char *folder)
{
    unsigned n = 0;
    DIR *d = opendir(folder);
    while (d && readdir(d)) n++;
    if (d) closedir(d);
    return n;
}
static void by_command(void)
{
    char *const compile[] = { command_path, "--gpu-arch=emu", "-w", "-O0", "-x", "cpp-output", "-c", "x.i", "-o", "x.o", NULL };
    unlink("x.o");
    whole++;
    int rc = judge("ompgpu-cc", run(compile));
    refused += rc == 1;
    if (rc == 2) return;
    if (rc == 1 && says("ompgpu-cc: note: this came up")) fail("accepted, and what is made of it does not compile");
    else if (rc == (access("x.o", F_OK) == 0)) fail(rc ? "an error, and an output" : "neither an error nor an output");
    else if (entries("tmp") != 2) fail("files are left in TMPDIR");
    else accepted += !rc;
}

/* What omp-split says of the file in its device text. */
static bool unit_is(const char *what)
{
    char line[200] = "";
    FILE *d = fopen("d.c", "r");
    if (d && !fgets(line, sizeof line, d)) *line = 0;
    if (d) fclose(d);
    return strstr(line, what) != NULL;
}
static bool is_endless(void) { return unit_is(" misread=1"); }
/* As the command checks: another text where clang hangs on this one, or rejects it, or chooses otherwise.  HANGS: it does. */
static int check_text(void)
{
    char *const check_it[] = { clang_path, "-fsyntax-only", "-w", "-fopenmp", "-fopenmp-version=60", "-x", "cpp-output", "x.i", NULL };
    char *const check_other[] = { clang_path, "-fsyntax-only", "-w", "-fopenmp", "-fopenmp-version=60", "-x", "cpp-output", "check.i", NULL };
    int rc = is_endless() ? 1 : run(check_it);
    if (rc == HANGS) return HANGS;    /* the command sees that and ends it */
    if (!is_endless()) rc = judge("clang's check", rc);
    if ((rc != 1 && (rc || !unit_is(" rechosen=1"))) || access("check.i", F_OK) != 0) return rc;
    rc = run(check_other);
    return rc == HANGS ? HANGS : judge("clang's check of another text", rc);
}
static void by_parts(const struct file *f)
{
    char *const split_it[] = { split_path, "--path", "x.c", "--device", "d.c", "--host", "h.c", "--check", "check.i", "x.i", "--", NULL };
    int rc = run(split_it);
    bool has_targets = rc != NO_TARGETS;
    if (rc == HANGS || says("internal error")) { /* omp-split relies on what clang checks: does that refuse it?  The command ends both. */
        by_command();
        return;
    }
    rc = judge("omp-split", has_targets ? rc : 0);
    if (rc || f->inscan) {            /* clang knows no inscan on target: the command hides it */
        refused += rc == 1;
        return;
    }
    rc = check_text();
    if (rc == HANGS) {
        by_command();
        return;
    }
    refused += rc == 1;
    if (!rc && has_targets) check_outputs();
}
int main(int argc, char **argv)
{
    if (argc < 6) return fputs("usage: mutate SEED COUNT EVERY TREE FILE.i…\n", stderr), 2;
    unsigned long seed = strtoul(argv[1], NULL, 10), count = strtoul(argv[2], NULL, 10), every = strtoul(argv[3], NULL, 10);
    struct file *files = calloc((size_t)argc, sizeof *files);
    const char *clang = getenv("CLANG_PATH");
    if (!files || !clang) return 2;
    for (int i = 5; i < argc; i++) files[i - 5] = read_file(argv[i]);
    snprintf(split_path, sizeof split_path, "%s/lib/ompgpu/omp-split", argv[4]);
    snprintf(command_path, sizeof command_path, "%s/bin/ompgpu-cc", argv[4]);
    snprintf(header_path, sizeof header_path, "%s/lib/ompgpu/ompgpu_device.h", argv[4]);
    snprintf(clang_path, sizeof clang_path, "%s", clang);
    mkdir("tmp", 0777);
    setenv("TMPDIR", "tmp", 1);
    struct sigaction on_alarm = { .sa_handler = kill_child };
    sigaction(SIGALRM, &on_alarm, NULL);
    for (total = 0; total < count; total++) {
        state = (seed + total) * 0x9e3779b97f4a7c15ull + 1;
        below(2);
        const struct file *f = &files[below((unsigned)argc - 5)];
        if (!f->n) continue;
        unsigned long before = entries(".") - failed;
        if (!write_mutant(f, "x.i")) return perror("x.i"), 2;
        if (every && total % every == 0) by_command();
        else by_parts(f);
        unlink("x.i"), unlink("check.i"), unlink("x.o"), unlink("d.c"), unlink("h.c"), unlink("messages");
        if (entries(".") - failed > before && total) printf("after mutant %lu: a file is left\n", seed + total), failed++;
    }
    printf("%lu mutants, %lu refused, %lu accepted, %lu by the whole command, %lu failed\n", total, refused, accepted, whole, failed);
    return failed != 0;
}
