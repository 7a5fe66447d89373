/* cache.c - OMPGPU_CACHE=DIR: device code by what it was made from.
 *
 * An entry is a container as it goes into an object (hostrt/image.h).  Its name is the sum of the
 * device text, of the commands that would compile it, and of size and date of each file that these
 * name: clang, ptxas, our tools and libraries.  It comes there complete, by a rename, and carries
 * sums of its own: one that is damaged counts as none, and is written again.  Its date is that of
 * its last use, for whoever cleans the directory up. */
#include "driver/base/file.h"
#include "driver/image/image.h"
#include "driver/pipeline/pipeline.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *drv_cache_dir(void)
{
    const char *dir = getenv("OMPGPU_CACHE");
    return dir && *dir ? dir : NULL;
}

/* ------------------------------------------------------------------ what it is made from */
static void add_file(struct text *key, const char *path)
{
    struct stat st;
    if (stat(path, &st) == 0 && S_ISREG(st.st_mode))
        text_printf(key, " %lld %lld.%09ld", (long long)st.st_size, (long long)st.st_mtim.tv_sec,
                    st.st_mtim.tv_nsec);
}

static void add_word(struct text *key, const char *word, const char *base)
{
    const char *path = strstr(word, base) ? NULL : strchr(word, '/'), *at;
    for (; (at = strstr(word, base)); word = at + strlen(base))
        text_printf(key, "%.*s@", (int)(at - word), word);
    text_add(key, word, strlen(word) + 1);
    if (path)
        add_file(key, path);
}

void drv_cache_add_command(struct text *key, const struct words *command, const char *base)
{
    for (unsigned i = 0; i < command->n; i++)
        add_word(key, command->v[i], base);
    add_file(key, "/proc/self/exe");
}

/* Two sums, from different beginnings. */
const char *drv_cache_entry(const struct text *key)
{
    struct text second = { 0 };
    text_puts(&second, "ompgpu 2");
    text_add(&second, key->s, key->n);
    return mem_printf("%s/%016llx%016llx", drv_cache_dir(),
                      (unsigned long long)ompgpu_image_sum(key->s, key->n),
                      (unsigned long long)ompgpu_image_sum(second.s, second.n));
}

/* ------------------------------------------------------------------ entries */
bool drv_cache_find(const char *entry, const char *container)
{
    size_t size;
    const char *bytes = file_read(entry, &size);
    const struct ompgpu_image_header *h = (const struct ompgpu_image_header *)bytes;
    if (!bytes || !drv_container_sound(h, size) || h->total_size != size)
        return false;
    utimensat(AT_FDCWD, entry, NULL, 0);
    return file_write(container, bytes, size);
}

static bool write_entry(const char *entry, const char *bytes, size_t size)
{
    if (mkdir(drv_cache_dir(), 0777) != 0 && errno != EEXIST)
        return false;
    const char *name = file_create_beside(entry);
    if (!name)
        return false;
    drv_output_remove_later(name);
    return file_write(name, bytes, size) && rename(name, entry) == 0;
}

void drv_cache_store(const char *entry, const char *container)
{
    size_t size;
    const char *bytes = file_read(container, &size);
    if (bytes && !write_entry(entry, bytes, size))
        diag_warning("cannot write '%s' (OMPGPU_CACHE): %s", entry, strerror(errno));
}
