/* scan.c - may this text hold constructs for a device?  A look at the raw bytes, so that a file
 * without any costs next to nothing.
 *
 * It must never say no wrongly, for then regions would quietly run on the host.  A line (with its
 * continuation lines) counts when it has the word `omp`, followed on the same line by
 *   - a word with `target` or `declare` in it, or
 *   - a clause that clang cannot read, or
 *   - as the first word after `pragma omp` (or `_Pragma("omp`) one that is not a directive of the
 * host: it may be a macro.
 * A _Pragma whose operand is not a string may be anything, and counts when the text has the word
 * `omp` at all; so do `omp::` and `directive(`, for [[omp::directive(…)]]. */
#include "driver/pipeline/pipeline.h"
#include <ctype.h>
#include <emmintrin.h>
#include <string.h>

/* But for `ordered`, which a loop may have more of than clang takes. */
static const char host_directives[] =
    " parallel for simd sections section single master masked critical barrier atomic flush "
    "task taskwait taskyield taskgroup "
    "taskloop threadprivate cancel cancellation scan loop scope allocate requires error nothing "
    "assume assumes tile unroll teams distribute depobj ";

/* Constructs of the host with these become others first (frontend/lower). */
static const char *const lowered_clauses[] = { "transparent", "apply",         "induction",
                                               "doacross",    "init_complete", "reverse_offload",
                                               "original",    "compare",       "inscan",
                                               "destroy",     "conditional",   "filter" };

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }
static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\v' || c == '\f'; }

typedef const char *find_fn(const char *p, const char *end, const char *bytes);

static const char *find_in_line(const char *p, const char *end, const char *bytes)
{
    return memmem(p, (size_t)(end - p), bytes, strlen(bytes));
}

enum { WIDTH = sizeof(__m128i) };

/* At which of sixteen places are both this first byte and, `last` bytes further, this last one? */
static inline unsigned match(const char *p, size_t last, __m128i first_byte, __m128i last_byte)
{
    __m128i firsts = _mm_cmpeq_epi8(first_byte, _mm_loadu_si128((const __m128i *)p));
    __m128i lasts = _mm_cmpeq_epi8(last_byte, _mm_loadu_si128((const __m128i *)(p + last)));
    return (unsigned)_mm_movemask_epi8(_mm_and_si128(firsts, lasts));
}

/* The next place of these bytes, by their first and last: all headers of the user pass here. */
static const char *find_in_text(const char *p, const char *end, const char *bytes)
{
    const size_t last = strlen(bytes) - 1;
    const __m128i first_byte = _mm_set1_epi8(bytes[0]), last_byte = _mm_set1_epi8(bytes[last]);
    for (; (size_t)(end - p) >= 2 * WIDTH + last; p += 2 * WIDTH) {
        unsigned both = match(p, last, first_byte, last_byte) |
                        match(p + WIDTH, last, first_byte, last_byte) << WIDTH;
        for (; both; both &= both - 1) {
            const char *at = p + __builtin_ctz(both);
            if (memcmp(at, bytes, last) == 0)
                return at;
        }
    }
    return find_in_line(p, end, bytes);
}

/* The next place of `word` as a whole word in [p, end). */
static const char *find_word(const char *p, const char *end, const char *word, find_fn *find)
{
    size_t n = strlen(word);
    for (const char *start = p; (p = find(p, end, word)); p += n)
        if ((p == start || !is_word(p[-1])) && (p + n == end || !is_word(p[n])))
            return p;
    return NULL;
}

/* The end of the logical line that p is in. */
static const char *line_end(const char *p, const char *end)
{
    for (; p < end; p++) {
        if (*p != '\n')
            continue;
        const char *last = p[-1] == '\r' ? p - 2 : p - 1; /* p is after the word `omp` */
        if (*last != '\\')
            return p;
    }
    return end;
}

static bool after_pragma(const char *text, const char *omp)
{
    const char *p = omp;
    while (p > text &&
           (is_blank(p[-1]) || p[-1] == '"' || p[-1] == '(' || p[-1] == '\\' || p[-1] == '\n'))
        p--;
    return (p - text >= 6 && memcmp(p - 6, "pragma", 6) == 0) ||
           (p - text >= 7 && memcmp(p - 7, "_Pragma", 7) == 0);
}

/* The first word after `omp` is a directive that stays on the host. */
static bool host_word(const char *p, const char *end)
{
    while (p < end && !is_word(*p)) {
        if (*p == '"' || *p == ')')
            return true; /* a bare "omp" */
        p++;
    }
    const char *start = p;
    while (p < end && is_word(*p))
        p++;
    if (p == start)
        return true;
    char word[40] = " ";
    size_t n = (size_t)(p - start);
    if (n > sizeof word - 3)
        return false;
    memcpy(word + 1, start, n);
    word[n + 1] = ' ';
    return strstr(host_directives, word) != NULL;
}

static bool computed_pragma(const char *text, const char *end)
{
    for (const char *p = text; (p = find_word(p, end, "_Pragma", find_in_text)); p += 7) {
        const char *q = p + 7;
        while (q < end && (isspace((unsigned char)*q) || *q == '('))
            q++;
        if (q < end && *q != '"')
            return true;
    }
    return false;
}

static bool has_before(const char *text, const char *end, const char *word, const char *next)
{
    for (const char *p = text; (p = find_word(p, end, word, find_in_text));) {
        p += strlen(word);
        while (p < end && isspace((unsigned char)*p))
            p++;
        if ((size_t)(end - p) >= strlen(next) && memcmp(p, next, strlen(next)) == 0)
            return true;
    }
    return false;
}

/* num_threads(4, 2): also where the comma is in an expression */
static bool has_thread_list(const char *p, const char *end)
{
    p = find_word(p, end, "num_threads", find_in_line);
    const char *close = p ? find_in_line(p, end, ")") : NULL;
    return close && memchr(p, ',', (size_t)(close - p));
}

static bool has_lowered_clause(const char *p, const char *end)
{
    if (has_thread_list(p, end))
        return true;
    for (unsigned i = 0; i < sizeof lowered_clauses / sizeof *lowered_clauses; i++)
        if (find_word(p, end, lowered_clauses[i], find_in_line))
            return true;
    const char *parallel = find_word(p, end, "parallel", find_in_line);
    return (parallel && find_word(parallel, end, "single", find_in_line)) ||
           (find_word(p, end, "distribute", find_in_line) &&
            find_word(p, end, "schedule", find_in_line)) ||
           (find_word(p, end, "update", find_in_line) &&
            find_word(p, end, "capture", find_in_line));
}

bool drv_mentions_omp(const char *text, size_t size)
{
    const char *end = text + size;
    return find_word(text, end, "omp", find_in_text) ||
           find_word(text, end, "_OPENMP", find_in_text);
}

/* `omp` is a word of the text there. */
static bool names_device(const char *text, const char *omp, const char *end)
{
    const char *p = omp + 3, *stop = line_end(p, end);
    return memmem(p, (size_t)(stop - p), "target", 6) ||
           memmem(p, (size_t)(stop - p), "declare", 7) || has_lowered_clause(p, stop) ||
           (after_pragma(text, omp) && !host_word(p, stop));
}

/* Loops that directives generate, which clang gets wrong where others are about several of them,
 * and rejects where simd is. */
static bool collapses_generated(const char *text, const char *end)
{
    static const char *const outer[] = { "collapse", "ordered", "simd" };
    bool collapses = false;
    for (unsigned i = 0; i < sizeof outer / sizeof *outer; i++)
        collapses |= find_word(text, end, outer[i], find_in_text) != NULL;
    return collapses && (find_word(text, end, "tile", find_in_text) ||
                         find_word(text, end, "unroll", find_in_text));
}

bool drv_scan_text(const char *text, size_t size)
{
    const char *end = text + size;
    bool mentioned = false;
    for (const char *p = text; (p = find_in_text(p, end, "omp")); p += 3) {
        bool extension = p[3] == 'x'; /* ompx: directives of ours, on devices all of them */
        if ((p > text && is_word(p[-1])) || is_word(p[3 + extension]))
            continue;
        if (extension ? after_pragma(text, p) : names_device(text, p, end))
            return true;
        mentioned |= !extension;
    }
    return mentioned &&
           (collapses_generated(text, end) || computed_pragma(text, end) ||
            has_before(text, end, "omp", "::") || has_before(text, end, "directive", "("));
}

bool drv_scan_macro(const char *definition)
{
    static const char *const words[] = { "omp", "ompx", "_Pragma" };
    const char *end = definition + strlen(definition);
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if (find_word(definition, end, words[i], find_in_text))
            return true;
    return false;
}

/* ------------------------------------------------------------------ headers */
static bool is_system(const char *path)
{
    return text_starts(path, "/usr/include/") || text_starts(path, "/usr/lib/") ||
           text_starts(path, "/usr/local/cuda");
}

/* One word of a make rule, with "\ " and "$$" undone. */
static char *dep_word(const char **p)
{
    while (isspace((unsigned char)**p) || (**p == '\\' && (*p)[1] == '\n'))
        ++*p;
    if (!**p)
        return NULL;
    char *word = mem_alloc(strcspn(*p, "\n") + 1), *to = word;
    for (; **p && !isspace((unsigned char)**p); ++*p) {
        if ((**p == '\\' && ((*p)[1] == ' ' || (*p)[1] == '#')) || (**p == '$' && (*p)[1] == '$'))
            ++*p;
        else if (**p == '\\' && (*p)[1] == '\n')
            break;
        *to++ = **p;
    }
    return word;
}

bool drv_scan_depfile(const char *depfile, const char *main_file, drv_scan *scan)
{
    const char *p = file_read(depfile, NULL);
    if (!p)
        return false;
    struct file_buffer text = { 0 };
    bool found = false;
    for (char *w; !found && (w = dep_word(&p));) {
        if (text_ends(w, ":") || is_system(w) || strcmp(w, main_file) == 0)
            continue;
        found = file_read_into(&text, w) && scan(text.bytes, text.size);
    }
    return found;
}
