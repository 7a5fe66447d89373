/* help.c - --help, --version and the manual page, made from the flag table. */
#include "driver/driver.h"
#include <string.h>

static const char *const group_names[] = {
    [OURS] = "Flags of ompgpu-cc", [OUTPUT] = "What comes out", [PREPROCESSOR] = "Preprocessor",
    [CODE] = "Language and code",  [WARNING] = "Warnings",      [LINKING] = "Linking",
};
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

/* ------------------------------------------------------------------ --version */
static char *clang_version(void)
{
    const char *out = mem_printf("%s/version", drv_temp_dir());
    struct proc p = { .out = out, .doing = "asking for its version" };
    words_add(&p.argv, drv_clang());
    words_add(&p.argv, "--version");
    if (drv_proc_run(&p) != 0)
        diag_fatal(EXIT_COMPILE, "'%s --version' failed", drv_clang());
    return file_read(out, NULL);
}

int drv_print_version(const struct options *o)
{
    const char *clang = clang_version(), *number = clang ? strstr(clang, "version ") : NULL,
               *cuda = drv_cuda_version(o);
    printf("ompgpu-cc version " OMPGPU_VERSION " (clang %.*s)\n",
           number ? (int)strcspn(number + 8, " \n(") : 1, number ? number + 8 : "?");
    printf("%.*s\n", clang ? (int)strcspn(clang, "\n") : 0, clang ? clang : "");
    if (cuda)
        printf("CUDA %s (%s)\n", cuda, drv_ptxas(o));
    else
        printf("CUDA: no ptxas found; GPUs get PTX\n");
    return 0;
}

/* ------------------------------------------------------------------ the manual page */
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
    fputs(".SH REMARKS\nNumbers in the remarks of\n.B \\-Rompgpu\nare those of LLVM where the "
          "meaning is the same.\n",
          stdout);
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
    fputs(".PP\nWhat LLVM says and\n.B ompgpu\\-cc\nhas no reason to:", stdout);
    for (size_t i = 0; i < sizeof unsaid / sizeof *unsaid; i++) {
        printf("%s OMP%u, ", i ? ";" : "", unsaid[i].number);
        man_text(unsaid[i].meaning);
        fputs(" (", stdout);
        man_text(unsaid[i].remedy);
        putchar(')');
    }
    fputs(".\n", stdout);
}

static const char man_head[] =
    ".\\\" Made by `make man` from driver/flags.def and driver/help.c; do not edit.\n"
    ".TH OMPGPU-CC 1 \"\" \"ompgpu-cc " OMPGPU_VERSION "\" \"User commands\"\n"
    ".SH NAME\nompgpu-cc \\- C compiler for OpenMP programs that offload to NVIDIA GPUs\n"
    ".SH SYNOPSIS\n.B ompgpu-cc\n[\\fIflags\\fR] \\fIfile\\fR…\n"
    ".SH DESCRIPTION\n"
    ".B ompgpu-cc\nis used in place of\n.BR cc .\n"
    "It compiles C with clang and OpenMP on the host; regions of\n.B #pragma omp target\n"
    "are compiled for NVIDIA GPUs and for the emulated device, which runs the same kernels on the "
    "CPU.\n"
    "What is written by\n.B \\-c\nis an ordinary object file: it goes into archives and shared "
    "libraries and is linked by\n"
    ".B ompgpu-cc\nor by\n.BR \"cc … \\-lompgpu\" .\n"
    "A file without target constructs is compiled as clang compiles it.\n.PP\n"
    "Regions may use functions and variables of other files that are\n.B declare target\nwhere "
    "they are defined. Then the link puts the device code of "
    "these files together, with the highest\n.B \\-O\nlevel, the\n.B \\-g\nand the GPUs with which "
    "they were compiled;\n.BR \\-\\-gpu\\-arch= ,\n"
    ".BR \\-fompgpu\\-mode= ,\n.B \\-Rompgpu\nand\n.B \\-Wompgpu\\-generic\nof the link command "
    "win, and\n.B \\-save\\-temps\n"
    "keeps what came about as\n.IR program .device\\-link.*.\nOnly\n.B ompgpu\\-cc\ndoes this: "
    "linked by another command, such regions run on the host.\n.PP\n"
    "A flag that is not listed here goes to clang.\n"
    ".SH OPTIONS\n";
static const char man_tail[] =
    ".SH EXIT STATUS\n0 success; 1 the input has errors, or a step failed; 2 wrong usage. On an "
    "error no output file is left, and what was there stays.\n"
    ".SH ENVIRONMENT\n"
    ".TP\n.B OMPGPU_CLANG\nThe clang to use instead of clang\\-" OMPGPU_LLVM ".\n"
    ".TP\n.B OMPGPU_CC_TIMEOUT\nSeconds after which a compiler process is ended (default 300).\n"
    ".TP\n.BR CUDA_PATH \", \" CUDA_HOME\nThe CUDA toolkit, when \\-\\-cuda\\-path= is not given.\n"
    ".TP\n.B TMPDIR\nWhere the temporary directory of a run is made (default /tmp). It is removed "
    "at the end, also on an interrupt.\n"
    ".PP\nVariables that running programs read are in\n.BR libompgpu (7).\n"
    ".SH FILES\n"
    ".TP\n.I ../lib/ompgpu\nBeside the command: omp\\-split, omp\\-device, the device runtime as "
    "bitcode. The tree may be moved as a whole.\n"
    ".TP\n.IR ../lib/libompgpu.so \", \" ../lib/libompgpu.a\nThe host runtime.\n"
    ".SH EXAMPLES\n"
    ".nf\nompgpu\\-cc \\-O2 app.c \\-o app\n"
    "ompgpu\\-cc \\-O3 \\-\\-gpu\\-arch=sm_80,sm_90 \\-c solve.c\n"
    "make CC=ompgpu\\-cc CFLAGS=\\-O2\n"
    "cmake \\-DCMAKE_C_COMPILER=ompgpu\\-cc \\-S . \\-B build\n.fi\n"
    ".SH SEE ALSO\n.BR libompgpu (7),\n.BR clang (1)\n";

void drv_print_man(void)
{
    fputs(man_head, stdout);
    man_flags();
    man_remarks();
    fputs(man_tail, stdout);
}
