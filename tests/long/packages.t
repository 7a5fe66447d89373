#!/bin/sh
# Ordinary software without a target construct, built by ompgpu-cc and by clang: the same warnings, no more than 1.05 times the CPU time, and its own tests pass.
# The sources are Debian's source packages: those in the directory OMPGPU_SOURCES (.dsc files and what they name), or what apt-get fetches.
# OMPGPU_PACKAGES names the packages; tests/long/packages.sh says how each is built.
. tests/lib.sh
[ -n "${OMPGPU_LONG:-}" ] || skip_all "OMPGPU_LONG=1 runs it"
command -v dpkg-source >/dev/null 2>&1 || skip_all "no dpkg-source"
unset MAKEFLAGS MAKELEVEL CFLAGS LDFLAGS
FORCE_UNSAFE_CONFIGURE=1; export FORCE_UNSAFE_CONFIGURE CLANG
OURS=$CC
list=${OMPGPU_PACKAGES:-zlib lua5.4 jq sqlite3 busybox redis curl coreutils git}

# ------------------------------------------------------------------ sources
apt_get() {
    timeout 300 apt-get -o Dir::Etc::sourcelist="$T/apt/list" -o Dir::Etc::sourceparts=/nonexistent -o Dir::State::lists="$T/apt/lists" -o APT::Sandbox::User=root "$@" >>"$T/apt/log" 2>&1
}
sources=${OMPGPU_SOURCES:-$T/apt}
if [ -z "${OMPGPU_SOURCES:-}" ]; then
    mkdir -p apt/lists/partial
    echo "deb-src http://deb.debian.org/debian bookworm main" >apt/list
    apt_get update || skip_all "no source packages: apt-get update fails, and OMPGPU_SOURCES is not set"
fi
has_source() { set -- "$sources/$1"_*.dsc; [ -e "$1" ]; }
fetched() { has_source "$1" || { [ -z "${OMPGPU_SOURCES:-}" ] && (cd apt && apt_get source --download-only "$1") && has_source "$1"; }; }

# ------------------------------------------------------------------ one package
step() { timeout 3600 sh "$ROOT/tests/long/packages.sh" "$1"; }
# built COMPILER PACKAGE DIR: in a fresh copy of the source; the least CPU seconds of all such builds in DIR.seconds, the messages in DIR.log
built() {
    rm -rf "$3"
    dpkg-source --no-check --no-copy --skip-patches -x "$sources/$2"_*.dsc "$3" >unpacked 2>&1 || { cat unpacked; return 1; }
    (CC=$1; export CC; cd "$3" && step "${f}_build" >"../$3.log" 2>&1; rc=$?; times >"../$3.times"; exit $rc) || { tail -30 "$3.log"; return 1; }
    sed -n '2s/[ms]/ /gp' "$3.times" | awk '{ print $1 * 60 + $2 + $3 * 60 + $4 }' >>"$3.seconds"
    sort -n "$3.seconds" -o "$3.seconds"
}
tested() (CC=$1; export CC; cd "$2" && step "${f}_test" >"../$2.log" 2>&1)
failures() { grep -i -e '^not ok' -e 'fail' "$1.log" | sort; }
# All of them; some packages have tests that fail here with any compiler: then the same as in clang's build.
passes() {
    tested "$OURS" ours && return
    tail -30 ours.log
    ! tested "$CLANG" clangs && failures ours >f1 && failures clangs >f2 && same f2 f1
}
warnings() { grep -o 'warning: .*' "$1.log" | sort; }
same_warnings() { warnings clangs >w1; warnings ours >w2; same w1 w2; }
ratio() { awk -v a="$(sed q ours.seconds)" -v b="$(sed q clangs.seconds)" 'BEGIN { printf "%.3f (%.1f s, clang %.1f s)", a / b, a, b }'; }
is_fast() { awk -v r="$(ratio)" 'BEGIN { exit r + 0 > 1.05 }'; }
# Times on a machine that does other things, too: what counts is the least of up to four builds.
no_slower() {
    for more in 1 2 3; do
        is_fast && return
        echo "$(ratio): both again, $more"
        built "$CLANG" "$1" clangs && built "$OURS" "$1" ours || return
    done
    is_fast
}
for name in $list; do
    f=$(echo "$name" | tr . _)
    step "${f}_needs" >/dev/null || { skip "$name" "no autoconf or libtool"; continue; }
    fetched "$name" || { skip "$name" "no source"; continue; }
    rm -f ./*.seconds
    check "$name: clang builds it" built "$CLANG" "$name" clangs || continue
    check "$name: ompgpu-cc builds it" built "$OURS" "$name" ours || continue
    check "$name: the same $(warnings clangs | wc -l) warnings" same_warnings
    check "$name: CPU time" no_slower "$name"
    echo "# $(ratio)"
    check "$name: its own tests" passes
done
rm -rf ours clangs
finish
