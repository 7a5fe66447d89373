/* temp.c - what a run leaves on the disk only while it lasts: one temporary directory, and outputs
 * under a temporary name beside their destination, which are renamed when everything has succeeded.
 * drv_exit() removes both on every way out. */
#include "driver/run/run.h"
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *directory;
static struct words files; /* to unlink */

const char *drv_temp_dir(void)
{
    if (directory)
        return directory;
    const char *root = getenv("TMPDIR");
    char *name = mem_printf("%s/ompgpu-cc-XXXXXX", root && *root ? root : "/tmp");
    if (!mkdtemp(name))
        diag_fatal(EXIT_COMPILE, "cannot make a temporary directory in '%s': %s", path_dir(name),
                   strerror(errno));
    directory = name;
    setenv("TMPDIR", name, 1); /* what clang keeps for itself goes there as well */
    return directory;
}

void drv_make_dir(const char *path)
{
    if (mkdir(path, 0777) != 0 && errno != EEXIST)
        diag_fatal(EXIT_COMPILE, "cannot make directory '%s': %s", path, strerror(errno));
}

/* Programs that we start open it by our process's name for it. */
const char *drv_memory_file(const char *name)
{
    int fd = memfd_create(name, MFD_CLOEXEC);
    const char *path = mem_printf("/proc/%ld/fd/%d", (long)getpid(), fd);
    return fd >= 0 && file_exists(path) ? path : NULL;
}

const char *drv_answer_file(const char *name)
{
    const char *file = drv_memory_file(name);
    return file ? file : mem_printf("%s/%s", drv_temp_dir(), name);
}

bool drv_temp_report(const struct proc *p)
{
    enum { ENOUGH = 1 << 20 };
    const char *probe = mem_printf("%s/room", drv_temp_dir());
    bool room = file_write(probe, mem_alloc(ENOUGH), ENOUGH);
    int reason = errno;
    unlink(probe);
    if (!room)
        diag_error("%s failed while %s: there is no room for its output in '%s' (TMPDIR): %s",
                   path_base(p->argv.v[0]), p->doing, path_dir(directory), strerror(reason));
    return !room;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

void drv_temp_remove_all(void)
{
    for (unsigned i = 0; i < files.n; i++)
        unlink(files.v[i]);
    files.n = 0;
    if (directory)
        nftw(directory, remove_one, 16, FTW_DEPTH | FTW_PHYS);
    directory = NULL;
}

void drv_output_remove_later(const char *path) { words_add(&files, path); }

const char *drv_output_begin(const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0) {
        if (S_ISDIR(st.st_mode))
            diag_fatal(EXIT_COMPILE, "cannot write '%s': it is a directory", path);
        if (!S_ISREG(st.st_mode))
            return path; /* /dev/null, a pipe */
        if (access(path, W_OK) != 0)
            diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", path, strerror(errno));
    }
    /* The real name of a link's destination, so that the link stays a link. */
    char *real = realpath(path, NULL);
    const char *to = real ? mem_strndup(real, strlen(real)) : path;
    free(real);
    const char *name = file_create_beside(to);
    if (!name)
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", path, strerror(errno));
    words_add(&files, name);
    return name;
}

void drv_output_commit(const char *path, const char *written)
{
    if (strcmp(path, written) == 0)
        return;
    char *real = realpath(path, NULL);
    int failed = rename(written, real ? real : path);
    free(real);
    if (failed)
        diag_fatal(EXIT_COMPILE, "cannot write '%s': %s", path, strerror(errno));
}
