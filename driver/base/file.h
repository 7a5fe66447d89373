/* file.h - whole files, and names of files.  Functions that fail leave errno. */
#ifndef OMPGPU_BASE_FILE_H
#define OMPGPU_BASE_FILE_H
#include <stdbool.h>
#include <stddef.h>

/* NUL-terminated, in the run's memory; "-" is standard input; size NULL: not asked for.
 * NULL: it cannot be read. */
char *file_read(const char *path, size_t *size);
/* One file after the other, in the same memory; all zero at first. */
struct file_buffer {
    char *bytes; /* NUL-terminated */
    size_t size, room;
};
bool file_read_into(struct file_buffer *, const char *path); /* false: it cannot be read */
/* A large file of which not all is looked at; not NUL-terminated, never unmapped.  NULL: it cannot
 * be read, or is empty or no plain file. */
const char *file_map(const char *path, size_t *size);
/* A line of a file, from 1, without its end; NULL: it has none. */
const char *file_line(const char *path, unsigned line, size_t *length);
/* The same, where preprocessing left it as it was, so that its columns are those of the
 * preprocessed text, a file, too; else, and without that file, NULL. */
const char *file_plain_line(const char *path, unsigned line, const char *preprocessed,
                            size_t *length);
/* Of a line in the preprocessed text: by column - 1, of which there are n, the user's column, for
 * what a macro stands for the macro's; 0: not known.  NULL: they are the same. */
const unsigned *file_users_columns(const char *path, unsigned line, const char *preprocessed,
                                   unsigned *n);
bool file_write(const char *path, const void *data, size_t size);
bool file_exists(const char *path);
/* A new empty file beside `path`, for what shall replace it: nobody can foresee its name, it is no
 * link that somebody put there, and its mode follows the umask.  NULL: it cannot be made. */
char *file_create_beside(const char *path);

const char *path_base(const char *path); /* after the last slash */
const char *path_dir(const char *path);  /* "." without a slash */
const char *path_stem(const char *path); /* path_base without its last extension */
#endif
