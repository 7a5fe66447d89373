#!/bin/sh
# packages.sh NAME_build | NAME_test | NAME_needs: how packages.t builds a package with $CC, and how the package tests itself; in its directory.
# What it needs beside a compiler and make is looked for first, where that is anything.
set -e
has_autotools() { command -v autoreconf && command -v libtoolize; }
zlib_build() { ./configure && make; }
zlib_test() { make test | grep 'zlib shared test OK'; }

# Debian's source has no test suite of Lua's.
lua5_4_build() { make -C src CC="$CC -std=gnu99" linux; }
lua5_4_test() {
    printf 'local t = {}\nfor i = 1, 1e5 do t[#t + 1] = (i * 7919) %% 1e5 end\ntable.sort(t)\nassert(t[1] == 0 and t[#t] == 99999)\nassert(("x"):rep(1e4):gsub("x", "yz"):len() == 2e4)\n' >t.lua
    src/luac -p t.lua && src/lua t.lua
}
jq_needs() { has_autotools; }
jq_build() { autoreconf -fi && ./configure --disable-docs --disable-maintainer-mode --without-oniguruma && make; }
jq_test() { NO_VALGRIND=1; export NO_VALGRIND; tests/jqtest && tests/mantest; }

# Its largest tests need Tcl's headers; the fuzz checker does not.
sqlite3_build() { ./configure --disable-tcl && make sqlite3; }
sqlite3_test() { make fuzzcheck && ./fuzzcheck test/fuzzdata1.db && ./sqlite3 :memory: 'select sqlite_version()' | grep '^3[.]'; }

busybox_build() { make defconfig && make CC="$CC" HOSTCC="$CLANG" SKIP_STRIP=y; }
busybox_test() {
    (cd testsuite && bindir=$(cd .. && pwd) ./runtest awk sed sort cut tr printf grep head tail wc cmp) | grep -v -e '^PASS' -e '^SKIPPED' -e '^UNTESTED' >failed || true
    ! grep . failed
}
redis_build() { make -C src MALLOC=libc BUILD_TLS=no CC="$CC"; }
redis_test() { ./runtest --single unit/type/list --single unit/type/hash --single unit/scripting --clients 1; }

curl_needs() { has_autotools; }
curl_build() { autoreconf -fi && ./configure --without-ssl --disable-ldap --without-libpsl --without-zlib --without-brotli --without-zstd --disable-dependency-tracking && make; }
curl_test() { make -C tests/server && cd tests && perl ./runtests.pl -a -n 1 to 60; }

coreutils_build() { ./configure --disable-nls && make; }
coreutils_test() {
    make check SUBDIRS=. VERBOSE=yes \
        TESTS="tests/misc/sort.pl tests/misc/cut.pl tests/misc/md5sum.pl tests/misc/sha256sum.pl tests/misc/printf.sh tests/cp/link.sh tests/mv/part-rename.sh tests/misc/wc.pl tests/misc/tr.pl"
}
git_build() { make CC="$CC" NO_OPENSSL=1 NO_CURL=1 NO_EXPAT=1 NO_GETTEXT=1 NO_TCLTK=1 NO_PYTHON=1 NO_PERL=1; }
git_test() { make -C t CC="$CC" T="t0000-basic.sh t1300-config.sh t3200-branch.sh t4013-diff-various.sh t5300-pack-object.sh" NO_GETTEXT=1 NO_PERL=1; }
case $1 in *_needs) command -v "$1" >/dev/null || exit 0 ;; esac
"$1"
