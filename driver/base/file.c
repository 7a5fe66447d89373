#include "driver/base/file.h"
#include "driver/base/mem.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* ------------------------------------------------------------------ reading */
static void grow_buffer(struct file_buffer *b, size_t room)
{
    char *more = mem_alloc(room + 1);
    b->bytes = b->size ? memcpy(more, b->bytes, b->size) : more;
    b->room = room;
}

static bool read_fd(int fd, struct file_buffer *b)
{
    struct stat st;
    bool regular = fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    size_t size = regular ? (size_t)st.st_size : 0, room = regular ? size + 1 : 65536;
    b->size = 0;
    if (b->room < room)
        grow_buffer(b, room > 2 * b->room ? room : 2 * b->room);
    for (;;) {
        ssize_t r = read(fd, b->bytes + b->size, b->room - b->size);
        if (r < 0 && errno == EINTR)
            continue;
        if (r < 0)
            return false;
        if (r == 0)
            break;
        b->size += (size_t)r;
        if (b->size == size) /* unlike those of /proc, which say that they have none */
            break;
        if (b->size == b->room)
            grow_buffer(b, 2 * b->room);
    }
    b->bytes[b->size] = 0;
    return true;
}

bool file_read_into(struct file_buffer *b, const char *path)
{
    int fd = strcmp(path, "-") == 0 ? dup(0) : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool done = read_fd(fd, b);
    int error = errno;
    close(fd);
    errno = error;
    return done;
}

char *file_read(const char *path, size_t *size)
{
    struct file_buffer b = { 0 };
    if (!file_read_into(&b, path))
        return NULL;
    if (size)
        *size = b.size;
    return b.bytes;
}

const char *file_map(const char *path, size_t *size)
{
    struct stat st;
    void *bytes = MAP_FAILED;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return NULL;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    close(fd);
    if (bytes == MAP_FAILED)
        return NULL;
    *size = (size_t)st.st_size;
    return bytes;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

/* ------------------------------------------------------------------ writing */
static bool write_fd(int fd, const char *p, size_t size)
{
    while (size) {
        ssize_t w = write(fd, p, size);
        if (w < 0 && errno == EINTR)
            continue;
        if (w < 0)
            return false;
        p += w;
        size -= (size_t)w;
    }
    return true;
}

/* Messages come in bunches about one file, which stays in memory. */
const char *file_line(const char *path, unsigned line, size_t *length)
{
    static const char *last, *text;
    if (!path || !*path || !line)
        return NULL;
    if (!last || strcmp(last, path) != 0) {
        last = mem_strdup(path);
        text = strcmp(path, "-") == 0 ? NULL : file_read(path, NULL);
    }
    const char *p = text;
    for (; p && line > 1; line--)
        p = (p = strchr(p, '\n')) ? p + 1 : NULL;
    if (p)
        *length = strcspn(p, "\r\n");
    return p;
}

/* `# 12 "app.c" 2`: what follows is line 12 of app.c. */
static bool is_marker(const char *p, const char *path, unsigned *line, bool *here)
{
    char *end;
    unsigned long n = p[0] == '#' && p[1] == ' ' ? strtoul(p + 2, &end, 10) : 0;
    size_t length = strlen(path);
    if (!n)
        return false;
    *line = (unsigned)n;
    *here =
        end[0] == ' ' && end[1] == '"' && !strncmp(end + 2, path, length) && end[2 + length] == '"';
    return true;
}

/* Of one file: where each of its lines is in the preprocessed text. */
struct pieces {
    const char *path, **of; /* by line; NULL: it is nowhere, `many`: in several pieces */
    unsigned n, room;
    struct columns *columns; /* by line; NULL: nobody has asked for any */
    struct pieces *next;
};
struct columns { /* the user's, of the columns of a piece */
    const unsigned *of;
    unsigned n;
    bool known;
};
static const char many[] = "";

static void note_piece(struct pieces *all, unsigned line, const char *p)
{
    if (line >= all->room) {
        unsigned room = line < 1024 ? 2048 : 2 * line;
        const char **of = mem_array(room, sizeof *of);
        if (all->n)
            memcpy(of, all->of, all->n * sizeof *of);
        all->of = of, all->room = room;
    }
    all->n = line >= all->n ? line + 1 : all->n;
    all->of[line] = all->of[line] ? many : p;
}

static struct pieces *find_pieces(const char *text, const char *path)
{
    struct pieces *all = mem_alloc(sizeof *all);
    unsigned at = 0;
    bool here = false;
    *all = (struct pieces){ .path = mem_strdup(path) };
    for (const char *p = text; *p; p += strcspn(p, "\n"), p += *p == '\n')
        if (!is_marker(p, path, &at, &here) && here && at++ && *p != '\n')
            note_piece(all, at - 1, p);
    return all;
}

static struct pieces *pieces_of(const char *preprocessed, const char *path)
{
    static const char *last, *text;
    static struct pieces *known; /* of that text */
    if (!last || strcmp(last, preprocessed) != 0) {
        last = mem_strdup(preprocessed);
        text = file_read(preprocessed, NULL);
        known = NULL;
    }
    struct pieces *p = known;
    while (p && strcmp(p->path, path) != 0)
        p = p->next;
    if (!p && text) {
        p = find_pieces(text, path);
        p->next = known, known = p;
    }
    return p;
}

/* The piece of the preprocessed text that is from that line; NULL: there is none, `many`: several.
 */
static const char *piece_of(const char *preprocessed, const char *path, unsigned line)
{
    const struct pieces *p = pieces_of(preprocessed, path);
    return p && line < p->n ? p->of[line] : NULL;
}

static const char *skip_blanks(const char *p, const char *end)
{
    while (p < end && (*p == ' ' || *p == '\t'))
        p++;
    return p;
}

/* But for white space, and for what a \ at the end of the first joins to it. */
static bool is_same_line(const char *a, const char *end, const char *b)
{
    const char *stop = b + strcspn(b, "\n");
    for (;; a++, b++) {
        a = skip_blanks(a, end), b = skip_blanks(b, stop);
        if (a == end || b == stop || *a != *b)
            return (a == end && b == stop) || (a < end && *a == '\\' && a + 1 == end);
    }
}

const char *file_plain_line(const char *path, unsigned line, const char *preprocessed,
                            size_t *length)
{
    const char *users = file_line(path, line, length);
    const char *piece = users && preprocessed ? piece_of(preprocessed, path, line) : NULL;
    bool plain = piece && piece != many && is_same_line(users, users + *length, piece);
    return plain ? users : NULL;
}

/* ------------------------------------------------------------------ columns
 * The user's line and the preprocessed one, without their white space, are the same up to the first
 * use of a macro and from the last one's end on.  Between two uses tokens stand for themselves
 * where each of the lines has them once. */
struct text_line {
    const char *begin, *end;
};

static bool is_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Before the white space there. */
static const char *skip_back(const char *p, const char *begin)
{
    while (p > begin && (p[-1] == ' ' || p[-1] == '\t'))
        p--;
    return p;
}

/* What both begin with and what both end with is taken away: whole words.  *of: the user's columns
 * of that. */
static void match_ends(struct text_line *user, struct text_line *text, unsigned *of)
{
    const char *const users = user->begin, *const texts = text->begin;
    const char *u = users, *t = texts;
    for (; (u = skip_blanks(u, user->end)) < user->end &&
           (t = skip_blanks(t, text->end)) < text->end && *u == *t;
         u++, t++)
        of[t - texts] = (unsigned)(u - users) + 1;
    while (u > users && t > texts && is_word(u[-1]) && (is_word(*u) || is_word(*t)))
        u--, t--;
    user->begin = u, text->begin = skip_blanks(t, text->end);
    u = user->end, t = text->end;
    for (; (u = skip_back(u, user->begin)) > user->begin &&
           (t = skip_back(t, text->begin)) > text->begin && u[-1] == t[-1];
         u--, t--)
        of[t - 1 - texts] = (unsigned)(u - users);
    while (u < user->end && t < text->end && is_word(*u) &&
           ((u > user->begin && is_word(u[-1])) || (t > text->begin && is_word(t[-1]))))
        u++, t++;
    user->end = u, text->end = t;
}

/* A use of one macro, to the end of its arguments, which lies before `most`; NULL: it is none. */
static const char *end_of_use(const char *p, const char *most)
{
    int depth = 0;
    if (p == most || !is_word(*p) || isdigit((unsigned char)*p))
        return NULL;
    while (p < most && is_word(*p))
        p++;
    const char *call = skip_blanks(p, most);
    if (call == most || *call != '(')
        return p;
    for (p = call; p < most; p++) {
        depth += (*p == '(') - (*p == ')');
        if (!depth)
            return p + 1;
    }
    return NULL;
}

/* The same text may stand at the end of the arguments and of what the macro stands for. */
static void take_arguments(struct text_line *user, struct text_line *text, const char *end,
                           const char *text_end)
{
    while (user->end < end && text->end < text_end) {
        user->end = skip_blanks(user->end, end) + 1;
        text->end = skip_blanks(text->end, text_end) + 1;
    }
}

/* ------------------------------------------------------------------ between two uses */
/* Behind a text or a character constant, or a comment, that begins there; p itself: none does. */
static const char *skip_constant(const char *p, const char *end)
{
    const char quote = *p;
    if (quote == '/' && end - p > 1 && p[1] == '*') {
        const char *close = memmem(p + 2, (size_t)(end - p - 2), "*/", 2);
        return close ? close + 2 : end;
    }
    if (quote == '/' && end - p > 1 && p[1] == '/')
        return end;
    if (quote != '"' && quote != '\'')
        return p;
    for (p++; p < end && *p != quote; p++)
        p += *p == '\\' && p + 1 < end;
    return p < end ? p + 1 : end;
}

/* Without a comment at its end. */
static const char *end_of_code(const char *p, const char *end)
{
    const char *code = p;
    while (p < end) {
        const char *after = skip_constant(p, end);
        bool comment = after > p && *p == '/';
        p = after > p ? after : p + 1;
        if (!comment && p[-1] != ' ' && p[-1] != '\t')
            code = p;
    }
    return code;
}

/* Words, constants and single characters. */
static unsigned find_tokens(const struct text_line *line, struct text_line *tokens, unsigned most)
{
    unsigned n = 0;
    for (const char *p = line->begin, *after; n < most; p = after) {
        if ((p = skip_blanks(p, line->end)) == line->end)
            break;
        after = skip_constant(p, line->end);
        if (after > p && *p == '/')
            continue;
        while (after < line->end && is_word(*p) && is_word(*after))
            after++;
        after = after > p ? after : p + 1;
        tokens[n++] = (struct text_line){ p, after };
    }
    return n;
}

struct tokens {
    struct text_line at[200];
    unsigned n;
};

/* How often some tokens are in a line; *last: where. */
static unsigned count_runs(const struct text_line *run, unsigned length, const struct tokens *in,
                           unsigned *last)
{
    unsigned found = 0;
    for (unsigned i = 0; i + length <= in->n; i++) {
        unsigned k = 0;
        while (k < length && run[k].end - run[k].begin == in->at[i + k].end - in->at[i + k].begin &&
               memcmp(run[k].begin, in->at[i + k].begin, (size_t)(run[k].end - run[k].begin)) == 0)
            k++;
        if (k == length)
            found++, *last = i;
    }
    return found;
}

/* The shortest run of tokens from number i on that is once in the user's line is looked for in the
 * other one: what stands for itself is there. */
static bool match_token(const struct tokens *user, unsigned i, const struct tokens *text,
                        unsigned *at)
{
    enum { LONGEST = 12 };
    for (unsigned k = 1; k <= LONGEST && i + k <= user->n; k++) {
        unsigned own, n = count_runs(&user->at[i], k, text, at);
        if (!n)
            return false;
        if (n == 1 && count_runs(&user->at[i], k, user, &own) == 1)
            return true;
    }
    return false;
}

/* Columns are those of the user's line, of which `user` is a part. */
static void match_inside(const struct text_line *user, const struct text_line *text,
                         const char *users, unsigned *of)
{
    struct tokens u, t;
    u.n = find_tokens(user, u.at, sizeof u.at / sizeof *u.at);
    t.n = find_tokens(text, t.at, sizeof t.at / sizeof *t.at);
    for (unsigned i = 0, at; i < u.n; i++) {
        if (!match_token(&u, i, &t, &at))
            continue;
        unsigned *first = of + (t.at[at].begin - text->begin);
        for (const char *p = u.at[i].begin; p < u.at[i].end; p++)
            first[p - u.at[i].begin] = (unsigned)(p - users) + 1;
    }
}

static const unsigned *find_columns(const char *path, unsigned line, const char *piece, unsigned *n)
{
    size_t length;
    const char *users = piece ? file_line(path, line, &length) : NULL;
    *n = users ? (unsigned)strcspn(piece, "\n") : 0;
    if (!users || (*n == length && memcmp(users, piece, length) == 0))
        return NULL;
    unsigned *of = mem_array(*n + 1, sizeof *of);
    const char *code = end_of_code(users, users + length);
    struct text_line user = { users, code }, text = { piece, piece + *n };
    match_ends(&user, &text, of);
    const char *end = end_of_use(user.begin, code);
    if (end && end > user.end)
        take_arguments(&user, &text, end, piece + *n);
    bool one = end && end == user.end;
    for (const char *t = text.begin; t < text.end; t++)
        of[t - piece] = one ? (unsigned)(user.begin - users) + 1 : 0;
    if (!one)
        match_inside(&user, &text, users, of + (text.begin - piece));
    return of;
}

const unsigned *file_users_columns(const char *path, unsigned line, const char *preprocessed,
                                   unsigned *n)
{
    struct pieces *p = pieces_of(preprocessed, path);
    *n = 0;
    if (!p || line >= p->n)
        return NULL;
    if (!p->columns)
        p->columns = mem_array(p->n, sizeof *p->columns);
    struct columns *c = &p->columns[line];
    if (!c->known) {
        c->of = find_columns(path, line, p->of[line], &c->n);
        c->known = true;
    }
    *n = c->n;
    return c->of;
}

bool file_write(const char *path, const void *data, size_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0)
        return false;
    bool written = write_fd(fd, data, size);
    int error = errno;
    if (close(fd) == 0 && written)
        return true;
    if (!written)
        errno = error;
    return false;
}

char *file_create_beside(const char *path)
{
    mode_t mask = umask(0);
    umask(mask);
    const char *dir = path_dir(path);
    char *name = mem_printf("%s/.%s.XXXXXX.tmp", strcmp(dir, "/") == 0 ? "" : dir, path_base(path));
    int fd = mkostemps(name, 4, O_CLOEXEC); /* with O_EXCL, and mode 0600 */
    if (fd < 0)
        return NULL;
    bool ok = fchmod(fd, 0666 & ~mask) == 0;
    return close(fd) == 0 && ok ? name : NULL;
}

/* ------------------------------------------------------------------ names */
const char *path_base(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

const char *path_dir(const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash)
        return ".";
    return slash == path ? "/" : mem_strndup(path, (size_t)(slash - path));
}

const char *path_stem(const char *path)
{
    const char *base = path_base(path), *dot = strrchr(base, '.');
    return dot && dot != base ? mem_strndup(base, (size_t)(dot - base)) : base;
}
