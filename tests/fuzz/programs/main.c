/* main.c - seeds, parts, text, and the frame of a program. */
#include "gen.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned long seed;
static unsigned long long state;

unsigned below(unsigned n)
{
    state = state * 6364136223846793005ull + 1442695040888963407ull;
    return (unsigned)(state >> 33) % n;
}
bool chance(unsigned percent) { return below(100) < percent; }

/* ---- parts */
static int parts, muted, depth_of_mute[64], part_depth;
static const char *without = "";

static bool left_out(int part)
{
    for (const char *s = without; *s; s++) {
        char *end;
        if (strtol(s, &end, 10) == part) return true;
        s = end;
        if (!*s) break;
    }
    return false;
}
bool part_begin(void)
{
    depth_of_mute[part_depth++] = left_out(++parts);
    muted += depth_of_mute[part_depth - 1];
    return true;
}
bool part_end(void)
{
    muted -= depth_of_mute[--part_depth];
    return false;
}

/* ---- text: kept until the program ends */
static struct { char *s; size_t n, room; } places[PLACES];
static int indent, number;

static void append(enum place p, const char *format, va_list args)
{
    char *s;
    if (vasprintf(&s, format, args) < 0) abort();
    size_t n = strlen(s);
    if (!muted) {
        if (places[p].n + n + 1 > places[p].room) places[p].s = realloc(places[p].s, places[p].room = 2 * (places[p].n + n + 1));
        if (!places[p].s) abort();
        memcpy(places[p].s + places[p].n, s, n + 1);
        places[p].n += n;
    }
    free(s);
}
char *text(const char *format, ...)
{
    va_list args;
    char *s;
    va_start(args, format);
    if (vasprintf(&s, format, args) < 0) abort();
    va_end(args);
    return s;
}
void put(enum place p, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    append(p, format, args);
    va_end(args);
}
void line(const char *format, ...)
{
    va_list args;
    put(BODY, "%*s", *format == '#' ? 0 : 4 * indent, "");
    va_start(args, format);
    append(BODY, format, args);
    va_end(args);
    put(BODY, "\n");
}
void open_block(void)
{
    line("{");
    indent++;
}
void close_block(void)
{
    indent--;
    line("}");
}
int fresh(void) { return ++number; }

/* ---- the program */
static const char prelude[] =
    "#include <limits.h>\n#include <stddef.h>\n#include <stdint.h>\n#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
    "#ifdef _OPENMP\n#include <omp.h>\n#define SAVE(id, at, size)\n#define RESTORE(id, at, size)\n#else\n"
    "#define SAVE(id, at, size) char saved_##id[size]; memcpy(saved_##id, at, size)\n"
    "#define RESTORE(id, at, size) memcpy(at, saved_##id, size)\n#endif\n"
    "enum colour { RED, GREEN, BLUE };\n"
    "#define TEXT(...) _Pragma(#__VA_ARGS__)\n#define OMP(...) TEXT(omp __VA_ARGS__)\n"
    "typedef unsigned four __attribute__((vector_size(16)));\n"
    "static inline unsigned lanes(four v) { return v[0] + 3u * v[1] + 5u * v[2] + 7u * v[3]; }\n"
    "static inline four spread(unsigned v) { return (four){ v, v + 1u, v * 3u, v ^ 5u }; }\n"
    "static inline unsigned big(unsigned long long v) { return (unsigned)v ^ (unsigned)(v >> 32); }\n"
    "static inline unsigned huge(unsigned __int128 v) { return big((unsigned long long)v) + big((unsigned long long)(v >> 64)); }\n"
    "static inline unsigned rf(float _Complex z) { return (unsigned)__real__ z + 7u * (unsigned)__imag__ z; }\n"
    "static inline unsigned rd(double _Complex z) { return (unsigned)__real__ z + 7u * (unsigned)__imag__ z; }\n"
    "static inline float _Complex cf(unsigned v) { return __builtin_complex((float)(v & 15), (float)(v >> 4 & 15)); }\n"
    "static inline double _Complex cd(unsigned v) { return __builtin_complex((double)(v & 255), (double)(v >> 8 & 15)); }\n\n";

static const struct { const char *name; void (*write)(void); } themes[] = {
    { "mapping", theme_mapping }, { "sharing", theme_sharing }, { "loops", theme_loops }, { "scopes", theme_scopes }, { "files", theme_files }, { "pointers", theme_pointers },
};

static void make_case(unsigned long s)
{
    seed = s;
    state = seed * 0x9e3779b97f4a7c15ull + 1;
    below(2);
    parts = part_depth = muted = number = 0;
    see_nothing();
    for (int p = 0; p < PLACES; p++) put((enum place)p, ""), places[p].n = 0, *places[p].s = 0;
    indent = 1;
    themes[seed % COUNT(themes)].write();
}
/* A directive, as people write it: on several lines, with a comment, as an operator, by a macro. */
static void print_directive(const char *s, int n, unsigned how)
{
    const char *words = s + strlen("#pragma omp ");
    int rest = n - (int)(words - s), cut = 0;
    for (int i = 0; i < rest; i++)
        if (words[i] == ' ' && !cut && i > (int)(how * 7 % 40)) cut = i;
    switch (how % 8) {
    case 0: printf("_Pragma(\"omp %.*s\")\n", rest, words); break;
    case 1: printf("OMP(%.*s)\n", rest, words); break;
    case 2: printf("  #  pragma   omp\t%.*s \\\n  %.*s\n", cut, words, rest - cut, words + cut); break;
    case 3: printf("#pragma omp %.*s /* why */ %.*s // so\n", cut, words, rest - cut, words + cut); break;
    default: printf("%.*s\n", n, s);
    }
}
static void print_body(const char *s)
{
    bool varied = chance(25);
    for (const char *end; (end = strchr(s, '\n')); s = end + 1) {
        if (varied && !strncmp(s, "#pragma omp ", 12)) print_directive(s, (int)(end - s), below(80));
        else printf("%.*s\n", (int)(end - s), s);
    }
}
static void print_case(bool main_file)
{
    printf("/* ---- %lu: %s */\n%s", seed, themes[seed % COUNT(themes)].name, places[BOTH].s);
    if (!main_file) {
        printf("%s\n", places[OTHER].s);
        return;
    }
    printf("%s\nstatic unsigned body_%lu(unsigned one%s)\n{\n    unsigned h = 1;\n", places[HEAD].s, seed, places[PARAMETERS].s);
    print_body(places[BODY].s);
    printf("    return h;\n}\n");
    printf("static unsigned case_%lu(void)\n{\n    return body_%lu(1%s);\n}\n\n", seed, seed, places[ARGUMENTS].s);
}

int main(int argc, char **argv)
{
    int first = 2;
    if (argc > 2 && !strncmp(argv[2], "--without=", 10)) without = argv[2] + 10, first = 3;
    if (argc <= first) return fputs("usage: gen main|other|parts [--without=N,…] SEED…\n", stderr), 2;
    bool main_file = !strcmp(argv[1], "main");
    if (!strcmp(argv[1], "parts")) {
        make_case(strtoul(argv[first], NULL, 10));
        return printf("%d\n", parts), 0;
    }
    fputs(prelude, stdout);
    for (int i = first; i < argc; i++) {
        make_case(strtoul(argv[i], NULL, 10));
        print_case(main_file);
    }
    if (!main_file) return 0;
    puts("int main(void)\n{\n    setvbuf(stdout, NULL, _IOLBF, 0);");
    for (int i = first; i < argc; i++) printf("    printf(\"%s %%08x\\n\", case_%lu());\n", argv[i], strtoul(argv[i], NULL, 10));
    puts("    return 0;\n}");
    return 0;
}
