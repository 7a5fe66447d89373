#!/bin/sh
# setup.sh - what must be on the machine before `make` can build: Debian packages, and a libomp that
# goes with clang.
#
#   setup.sh [lint]   installs what is missing (as root, or with sudo); otherwise prints the
#                     command and stops.
#
# Must work where only make and apt exist: no compiler, no bash.  Quick when all is there: one
# dpkg-query, one stamp.
set -eu
cd "$(dirname "$0")/.."
llvm=${LLVM:-22}

# perl brings prove; gcc is the second host compiler of the tests (--host-cc=gcc); libclang-rt has
# what programs with --coverage or -fsanitize=… are linked with.
packages="clang-$llvm libclang-$llvm-dev llvm-$llvm-dev libomp-$llvm-dev libclang-rt-$llvm-dev libc6-dev libzstd-dev binutils gcc perl"
case ${1:-} in
lint) packages="$packages clang-format-$llvm cppcheck shellcheck" ;;
esac

say() { printf 'set-up: %s\n' "$*"; }

# Without dpkg (another distribution) the commands themselves are asked for.
if ! command -v dpkg-query >/dev/null 2>&1; then
    for tool in "clang-$llvm" "llvm-link-$llvm" ld prove; do
        command -v "$tool" >/dev/null 2>&1 && continue
        say "$tool not found, and this is not a Debian system: install LLVM $llvm (clang, libclang," >&2
        say "llvm headers, libomp), libzstd, binutils and perl" >&2
        exit 1
    done
    packages=
fi

missing=
for p in $packages; do
    case $(dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null) in
    installed) ;;
    *) missing="$missing $p" ;;
    esac
done

if [ -n "$missing" ]; then
    become=
    if [ "$(id -u)" != 0 ]; then
        if command -v sudo >/dev/null 2>&1 && { sudo -n true 2>/dev/null || [ -t 0 ]; }; then
            become=sudo
        else
            say "these packages are missing; run this as root, then make again:" >&2
            printf '    apt-get update && apt-get install -y --no-install-recommends%s\n' "$missing" >&2
            exit 1
        fi
    fi
    say "installing$missing"
    export DEBIAN_FRONTEND=noninteractive
    # shellcheck disable=SC2086
    install() { $become apt-get install -y --no-install-recommends $missing </dev/null; }
    # A bare machine has no package lists; a stale one has lists that name packages that are gone.
    log=${TMPDIR:-/tmp}/ompgpu-setup.$$
    trap 'rm -f "$log"' EXIT
    $become apt-get update >"$log" 2>&1 </dev/null || {
        cat "$log" >&2
        say "apt-get update failed; trying with the package lists that are here" >&2
    }
    install >"$log" 2>&1 || {
        cat "$log" >&2
        say "apt-get could not install$missing;" >&2
        say "they are in Debian 12 (bookworm, with its security archive) and later" >&2
        exit 1
    }
fi

# musl only makes the driver start faster: no machine has to have it, and it is tried once.
stamp=obj/setup.musl
if [ -n "$packages" ] && [ ! -e "$stamp" ] && [ "$(id -u)" = 0 ]; then
    mkdir -p obj
    : >"$stamp"
    [ -e /usr/lib/x86_64-linux-musl/crt1.o ] ||
        DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends musl-dev </dev/null >/dev/null 2>&1 ||
        say "no musl-dev: the driver is linked with glibc, and starts slower"
fi

# libomp-22-dev may leave an older libomp5 beside it: see that the pair links and runs.
stamp=obj/setup.stamp
# shellcheck disable=SC3013
if [ -z "$missing" ] && [ -e "$stamp" ] && [ "$stamp" -nt .ci/setup.sh ]; then exit 0; fi
mkdir -p obj/setup
cat >obj/setup/t.c <<'C'
#include <omp.h>
#include <stdio.h>
int main(void) {
    int n = 0, m = 0;
    #pragma omp parallel for schedule(dynamic) reduction(+:n) num_threads(2)
    for (int i = 0; i < 100; i++) n += i;
    #pragma omp parallel num_threads(2) reduction(max:m)
    m = omp_get_num_threads();
    return printf("%d %d\n", n, m) < 0;
}
C
if ! "clang-$llvm" -fopenmp obj/setup/t.c -o obj/setup/t || [ "$(obj/setup/t)" != "4950 2" ]; then
    say "a program built with clang-$llvm -fopenmp does not link or run: libomp does not go with" >&2
    say "clang (see above); reinstall libomp-$llvm-dev and the libomp5 package that it depends on" >&2
    exit 1
fi
: >"$stamp"
