#!/bin/sh
# The region of a header is found however the header is included, in a link of one file and in a compile.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
mkdir inc
cat >inc/region.h <<'C'
static inline int region(void)
{
    int s = 0;
#pragma omp target map(tofrom: s)
    s = 1;
    return s;
}
C
# Where its code is does not depend on what it is.
quick="-O0 -fno-ompgpu-check"
has_image() { readelf -SW "$1" | grep -q '\.ompgpu\.image'; }
main='int main(void) { return region() != 1; }'
# reaches NAME FLAGS…: the region of the header in x.c runs on the device
reaches() {
    name=$1; shift
    check "$name: compiles and links" "$CC" $ARCH $quick "$@" x.c -o x && check "... has device code" has_image x && check "... on the device" on_device ./x
    check "$name: compiles" "$CC" $ARCH $quick "$@" -c x.c -o x.o && check "... has device code" has_image x.o
}
# text FORMAT…: of x.c, before main
# shellcheck disable=SC2059
text() { printf "$@" >x.c; echo "$main" >>x.c; }
text '#include "inc/region.h"\n'; reaches 'in quotes'
text '#include <region.h>\n'; reaches 'by -I' -Iinc; reaches 'by -isystem' -isystem inc; reaches 'by -idirafter' -idirafter inc
check "by CPATH" env CPATH=inc "$CC" $ARCH $quick x.c -o x && check "... on the device" on_device ./x
check "by C_INCLUDE_PATH" env C_INCLUDE_PATH=inc "$CC" $ARCH $quick x.c -o x && check "... on the device" on_device ./x
text ''; reaches 'by -include' -include inc/region.h
text '#define HEADER "inc/region.h"\n#include HEADER\n'; reaches 'by a macro'
text '#include HEADER\n'; reaches 'by a macro of the command line' -DHEADER='"inc/region.h"'
text '# /* a comment */ include /* another */ "inc/region.h"\n'; reaches 'between comments'
text '%%:include "inc/region.h"\n'; reaches 'after a digraph'
text '#inc\\\nlude "inc/region.h"\n'; reaches 'in a broken word'
text '#inc\\ \t\r\nlude "inc/region.h"\n'; reaches 'in a word that is broken by blanks, too' -Wno-backslash-newline-escape
text '??=inc??/\nlude "inc/region.h"\n'; reaches 'in trigraphs' -trigraphs; reaches '... of a standard' -std=c99
text '#include_next "inc/region.h"\n'; reaches 'by include_next' -Wno-include-next-outside-header
text '#import "inc/region.h"\n'; reaches 'by import' -Wno-import-preprocessor-directive-pedantic
text "#include <%s/inc/region.h>\n" "$T"; reaches 'by its full path'
text '#include <stdio.h>\n#include "inc/region.h"\n'; reaches 'after one of the system'
text '/* \0 */\n#include "inc/region.h"\n'; reaches 'after a nul'
finish
