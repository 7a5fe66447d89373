#!/bin/sh
# One bit of the device images in a program is flipped, anywhere: a message and exit code 1, never a crash, a hang or another result.
# 60 random bits, 10,000 with OMPGPU_LONG=1.
# shellcheck disable=SC1091
. tests/lib.sh
count=60
[ -z "${OMPGPU_LONG:-}" ] || count=10000
cat >flip.c <<'C'
/* flip PROGRAM COUNT: runs PROGRAM.N with a random bit of its container flipped, COUNT times */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "hostrt/image.h"
static char bytes[1 << 26], command[200], text[4096];
int main(int argc, char **argv)
{
    FILE *f = fopen(argv[1], "rb");
    size_t size = fread(bytes, 1, sizeof bytes, f), at = 0, bad = 0;
    const struct ompgpu_image_header *h;
    (void)argc;
    fclose(f);
    for (; h = (void *)(bytes + at), at + sizeof *h < size; at += 8)
        if (h->magic == OMPGPU_IMAGE_MAGIC && h->version == OMPGPU_IMAGE_VERSION && h->header_size == sizeof *h)
            break;
    if (at + sizeof *h >= size || h->header_sum != ompgpu_image_header_sum(h))
        return puts("no container"), 1;
    uint64_t total = h->total_size, random = 7;
    snprintf(command, sizeof command, "timeout 20 ./damaged 2>err >out");
    for (int i = 0; i < atoi(argv[2]); i++) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        /* a quarter in the first 2000 bytes, with the tables */
        uint64_t bit = (random >> 20) % (8 * (i % 4 ? total : total < 2000 ? total : 2000));
        bytes[at + bit / 8] ^= 1 << bit % 8;
        f = fopen("damaged", "wb");
        fwrite(bytes, 1, size, f);
        fclose(f), chmod("damaged", 0755);
        int status = system(command);
        f = fopen("err", "rb");
        text[fread(text, 1, sizeof text - 1, f)] = 0;
        fclose(f);
        if (!WIFEXITED(status) || WEXITSTATUS(status) != 1 || strncmp(text, "ompgpu: ", 8))
            bad++, printf("bit %llu of %llu: status %x: %s\n", (unsigned long long)bit, (unsigned long long)total, status, text);
        bytes[at + bit / 8] ^= 1 << bit % 8;
    }
    return bad != 0;
}
C
cat >app.c <<'C'
#include <stdio.h>
int main(void)
{
    int a[10] = { 0 };
#pragma omp target parallel for map(tofrom: a)
    for (int i = 0; i < 10; i++) a[i] = i;
    return printf("%d\n", a[9]) != 2;
}
C
check "the tool" "$CLANG" -std=gnu11 -Wall -Werror -O1 -I"$ROOT" flip.c -o flip
for archs in emu emu,sm_90; do
    check "$archs compiles" "$CC" --gpu-arch=$archs app.c -o app
    check "$archs runs" env OMPGPU_DEVICE=emu ./app
    check "$archs: $count flipped bits" env OMPGPU_DEVICE=emu ./flip app $count
done
finish
