/* help.c - --help and --version, and the tables in the manual page. */
#include "driver/options.h"
#include "driver/run/run.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>

static const char *const group_names[] = {
    [OURS] = "Flags of ompgpu-cc", [OUTPUT] = "What comes out", [PREPROCESSOR] = "Preprocessor",
    [CODE] = "Language and code",  [WARNING] = "Warnings",      [LINKING] = "Linking",
};
/* without OTHERS */
enum { GROUPS = sizeof group_names / sizeof *group_names, HELP_COLUMN = 24, HELP_WIDTH = 100 };

/* "--gpu-arch=LIST", "-I DIR" */
static const char *usage_of(const struct flag *f)
{
    if (!f->argument)
        return f->spelling;
    return mem_printf(f->kind == EITHER || f->kind == SEP ? "%s %s" : "%s%s", f->spelling,
                      f->argument);
}

/* ------------------------------------------------------------------ --help */
/* Terminal columns of UTF-8 text. */
static size_t columns(const char *s, size_t n)
{
    size_t c = 0;
    for (size_t i = 0; i < n; i++)
        c += ((unsigned char)s[i] & 0xC0) != 0x80;
    return c;
}

static void wrap(const char *text, size_t column)
{
    while (*text) {
        size_t n = strcspn(text, " ");
        if (column + columns(text, n) + 1 > HELP_WIDTH) {
            printf("\n%*s", HELP_COLUMN, "");
            column = HELP_COLUMN;
        }
        printf(" %.*s", (int)n, text);
        column += columns(text, n) + 1;
        text += n + (text[n] == ' ');
    }
    putchar('\n');
}

static void help_row(const struct flag *f)
{
    const char *usage = usage_of(f);
    size_t n = columns(usage, strlen(usage)) + 2;
    printf("  %s", usage);
    if (n >= HELP_COLUMN) {
        putchar('\n');
        n = 0;
    }
    printf("%*s", (int)(HELP_COLUMN - n), "");
    wrap(f->help, HELP_COLUMN);
}

void drv_print_help(void)
{
    printf("Usage: ompgpu-cc [flags] file…\n\n"
           "A C compiler for OpenMP programs that offload to NVIDIA GPUs; it is used in place of "
           "cc.\n");
    for (int g = 0; g < GROUPS; g++) {
        printf("\n%s:\n", group_names[g]);
        for (int i = 0; i < FLAG_COUNT; i++)
            if ((int)drv_flags[i].group == g && drv_flags[i].help)
                help_row(&drv_flags[i]);
    }
    printf("\nAny other flag goes to clang. More: man ompgpu-cc.\n");
}

/* ------------------------------------------------------------------ completion */
/* bash divides words at '=': what stands before it is no part of the one that is completed. */
void drv_print_completion(void)
{
    puts("# bash completion for ompgpu-cc, made from its table of flags\n"
         "_ompgpu_cc() {\n"
         "    local cur=${COMP_WORDS[COMP_CWORD]}\n"
         "    [[ $cur == -* ]] || return\n"
         "    COMPREPLY=($(compgen -W '");
    for (int i = 0; i < FLAG_COUNT; i++)
        if (drv_flags[i].help && drv_flags[i].spelling[0] == '-')
            printf("        %s\n", drv_flags[i].spelling);
    puts("    ' -- \"$cur\"))\n"
         "    [[ ${COMPREPLY[0]} != *[=,] ]] || compopt -o nospace\n"
         "}\n"
         "complete -o default -F _ompgpu_cc ompgpu-cc");
}

/* ------------------------------------------------------------------ clangd */
/* It knows clang's flags; what is ours is taken out of the commands that it reads. */
void drv_print_clangd(void)
{
    const char *separator = "";
    printf("CompileFlags:\n  Compiler: %s\n  Add: [-fopenmp, -isystem, %s]\n  Remove: [",
           drv_clang(), drv_tool("include"));
    for (int i = 0; i < FLAG_COUNT; i++) {
        if (drv_flags[i].group != OURS)
            continue;
        printf("%s%s%s", separator, drv_flags[i].spelling, drv_flags[i].kind == JOINED ? "*" : "");
        separator = ", ";
    }
    puts("]");
}

/* ------------------------------------------------------------------ --version */
static char *clang_version(void)
{
    const char *out = drv_answer_file("version");
    struct proc p = { .out = out, .doing = "asking for its version" };
    words_add(&p.argv, drv_clang());
    words_add(&p.argv, "--version");
    if (drv_proc_run(&p) != 0)
        diag_fatal(EXIT_COMPILE, "'%s --version' failed", drv_clang());
    return file_read(out, NULL);
}

/* clang's lines come first: build systems take the first version number that they find for that of
 * the compiler, as they know it by its macros. */
int drv_print_version(const struct options *o)
{
    const char *clang = clang_version(), *cuda = drv_cuda_version(o);
    fputs(clang ? clang : "", stdout);
    printf("ompgpu-cc version " OMPGPU_VERSION "\n");
    if (cuda)
        printf("CUDA %s (%s)\n", cuda, drv_ptxas(o));
    else
        printf("CUDA: no ptxas found; GPUs get PTX\n");
    return 0;
}

/* ------------------------------------------------------------------ the manual page
 * Its text is man/ompgpu-cc.1.in; a line @NAME@ there stands for a table, @NAME@ in a line for a
 * word. */
/* Hyphens that a user types, and backslashes. */
static void man_text(const char *s)
{
    for (; *s; s++) {
        if (*s == '-')
            fputs("\\-", stdout);
        else if (*s == '\\')
            fputs("\\e", stdout);
        else
            putchar(*s);
    }
}

static void man_flags(void)
{
    for (int g = 0; g < GROUPS; g++) {
        printf(".SS %s\n", group_names[g]);
        for (int i = 0; i < FLAG_COUNT; i++) {
            const struct flag *f = &drv_flags[i];
            if ((int)f->group != g || !f->help)
                continue;
            printf(".TP\n.B ");
            man_text(usage_of(f));
            putchar('\n');
            man_text(f->help);
            putchar('\n');
        }
    }
}

static void man_others(void) { drv_print_others(man_text); }

static const struct remark {
    unsigned number;
    const char *meaning, *remedy;
} remarks[] = {
#define REMARK(number, meaning, remedy) { number, meaning, remedy },
#include "driver/remarks.def"
}, unsaid[] = {
#define REMARK(number, meaning, remedy)
#define NO_REMARK(number, meaning, why) { number, meaning, why },
#include "driver/remarks.def"
};

static void man_remarks(void)
{
    for (size_t i = 0; i < sizeof remarks / sizeof *remarks; i++) {
        printf(".TP\n.B OMP%u\n", remarks[i].number);
        man_text(remarks[i].meaning);
        putchar('\n');
        if (!*remarks[i].remedy)
            continue;
        fputs("Remedy: ", stdout);
        man_text(remarks[i].remedy);
        putchar('\n');
    }
}

static void man_unsaid(void)
{
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        printf(".TP\n.B OMP%u\n", unsaid[i].number);
        man_text(unsaid[i].meaning);
        fputs(": ", stdout);
        man_text(unsaid[i].remedy);
        fputs(".\n", stdout);
    }
}

static const struct splice {
    const char *mark, *word;
    void (*table)(void);
} splices[] = {
    { "@flags@", NULL, man_flags },        { "@remarks@", NULL, man_remarks },
    { "@others@", NULL, man_others },      { "@unsaid@", NULL, man_unsaid },
    { "@VERSION@", OMPGPU_VERSION, NULL }, { "@LLVM@", OMPGPU_LLVM, NULL },
};

static void man_line(const char *line)
{
    const struct splice *end = splices + sizeof splices / sizeof *splices;
    for (const struct splice *s = splices; s < end; s++) {
        const char *mark = strstr(line, s->mark);
        if (s->table && strcmp(line, s->mark) == 0) {
            s->table();
            return;
        }
        if (s->word && mark)
            line =
                mem_printf("%.*s%s%s", (int)(mark - line), line, s->word, mark + strlen(s->mark));
    }
    puts(line);
}

void drv_print_man(const char *file)
{
    char *text = file_read(file, NULL);
    if (!text)
        diag_fatal(EXIT_USAGE, "'--emit=man' needs the page's text: cannot read '%s': %s", file,
                   strerror(errno));
    puts("'\\\" t\n.\\\" Made from ompgpu-cc.1.in by `make man`; do not edit.");
    for (char *line = text_line(&text); line; line = text_line(&text))
        if (!text_starts(line, ".\\\""))
            man_line(line);
}
