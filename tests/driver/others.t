#!/bin/sh
# Flags of other compilers (driver/others.def): each row does what the table says, seen through -###; flags that are nearly ours.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
(cd "$ROOT" && $CLANG -E -P -I. -x c - -o "$T/rows") <<'C'
#define NULL_ARG 0
#define FLAG(...)
#define OTHER(id, spelling, kind, whose, verdict, text) ROW spelling|kind|verdict|text
#include "driver/flags.def"
C
tr '\n' ' ' <rows | sed 's/ROW /\n/g' | sed -e 's/"//g' -e 's/(void \*)0\|((void\*)0)//' -e 's/ *$//' | grep '|' >table
check "the table has rows" test "$(wc -l <table)" -gt 90
# commands FLAGS…: what would be run, without names of temporary directories, and what is said in ./said
commands() {
    "$CC" -### --gpu-arch=emu "$@" app.c -o app 2>all; rc=$?
    grep '^ompgpu-cc: ' all | grep -v 'note: no ptxas' >said
    grep -v '^ompgpu-cc: ' all | sed 's,ompgpu-cc-[A-Za-z0-9]*/[0-9]*,,g'
    return $rc
}
commands >none
# row SPELLING KIND VERDICT TEXT
# shellcheck disable=SC2086
row() {
    value=9
    [ "$3" != NAMES_GPU ] || value=arch=compute_80,code=sm_80
    case $2 in
    PLAIN | OPTIONAL) set -- "$1" "" "$3" "$4" "$1" ;;
    JOINED) set -- "$1" "" "$3" "$4" "$1$value" ;;
    JOINED_SEP) set -- "$1" "" "$3" "$4" "$1"x "$value" ;;
    *) set -- "$1" "" "$3" "$4" "$1" "$value" ;;
    esac
    verdict=$3 text=$4; shift 4
    commands "$@" >got; rc=$?; cp said heard
    as=$(printf '%s\n' "$text" | sed "s/%s/$value/g")
    case $verdict in
    SAME) cp none wanted; [ ! -s heard ] || { cat heard; return 1; } ;;
    NO_EFFECT) cp none wanted; has heard "^ompgpu-cc: warning: .*$1.*-Wompgpu-flags" ;;
    TAKEN_AS) commands $as >wanted; has heard "^ompgpu-cc: note: .*$1" && [ ! -s said ] ;;
    NAMES_GPU) commands --gpu-arch=sm_80 >wanted; has heard "^ompgpu-cc: note: .*$1.*--gpu-arch=sm_80" ;;
    REFUSED) [ $rc = 2 ] && has heard "^ompgpu-cc: error: .*$1"; return ;;
    esac && [ $rc = 0 ] && [ "$(wc -l <heard)" -le 1 ] && diff wanted got
}
while IFS='|' read -r spelling kind verdict text; do
    case $spelling in -Xcompiler* | --compiler-options=) continue ;; esac
    check "$spelling: $verdict" row "$spelling" "$kind" "$verdict" "$text"
done <table
taken() {
    as=$1; shift
    # shellcheck disable=SC2086
    commands $as >wanted && commands "$@" >got && diff wanted got && has said "^ompgpu-cc: note: .*'$as'"
}
check "-Xcompiler, a list" taken "-DX -fPIC" -Xcompiler -DX,-fPIC && check "-Xcompiler=" taken -DX -Xcompiler=-DX
check "--compiler-options=" taken -DX --compiler-options=-DX
check "-gpu=, several" taken --gpu-arch=sm_80,sm_90a -gpu=cc80,cc90a,fastmath,lineinfo
check "-h omp" sh -c "'$CC' -### -h omp app.c 2>&1 | grep -c '^ompgpu-cc: ' | grep -q '^0'"
check "-h acc" test_must_fail 2 "$CC" -h acc app.c
check "-Wno-ompgpu-flags, -w" sh -c "'$CC' -### -qhot -fast -Wno-ompgpu-flags app.c 2>said && '$CC' -### -w -qhot app.c 2>>said && ! grep '^ompgpu-cc: ' said"
check "-Werror" test_must_fail 2 "$CC" -Werror -qhot -c app.c && check "-Werror=ompgpu-flags" test_must_fail 2 "$CC" -qhot -Werror=ompgpu-flags -c app.c
check "-Wno-error=ompgpu-flags" "$CC" -### -Werror -Wno-error=ompgpu-flags -qhot app.c
# What the program says of regions that stay generic: by name it counts wherever -Wall stands.
check "-Wno-ompgpu-generic -Wall" sh -c "'$CC' -### -Wno-ompgpu-generic -Wall app.c 2>&1 | grep -c -e --warn-generic | grep -q '^0'"
check "-Wompgpu-generic" sh -c "'$CC' -### -Wompgpu-generic app.c 2>&1 | grep -q -e --warn-generic"
check "an empty word, as clang" "$CC" "" -c app.c
# nearly ours
meant() { test_must_fail 2 "$CC" "$1" -c app.c && mentions "$(cat .log)" "ompgpu-cc: error: |'$1'|'$2'"; }
for pair in --gpu-arhc=sm_80/--gpu-arch= -fompgpu-mod=spmd/-fompgpu-mode= -Rompgp/-Rompgpu -Wompgpu-flag/-Wompgpu-flags -static-ompgup/-static-ompgpu --emti=ptx/--emit=; do
    check "${pair%%/*}" meant "${pair%%/*}" "${pair#*/}"
done
check "--gpu-arch sm_80" test_must_fail "$CC" --gpu-arch sm_80 -c app.c && cp .log err && check "... says" has err "did you mean '--gpu-arch='"
check "a flag of clang's that is near" "$CC" -time -### app.c
if have_ptxas; then check "--ptxas=" "$CC" --gpu-arch=sm_75 --ptxas=-maxrregcount=24,-w -c app.c; else skip "--ptxas=" "not installed"; fi
# A makefile with a mode for each compiler, of which only CC is replaced.
cat >Makefile <<'M'
COMPILER = llvm
program = bench
source = app.c
obj = $(source:.c=.o)
CFLAGS := -std=gnu99 -Wall
LDFLAGS = -lm
ifeq ($(COMPILER),gnu)
  CFLAGS += -fopenmp -foffload=nvptx-none -foffload-options=nvptx-none="-misa=sm_80 -lm" -O3
endif
ifeq ($(COMPILER),intel)
  CFLAGS += -fiopenmp -fopenmp-targets=spir64 -O3 -xHost -qopt-report
endif
ifeq ($(COMPILER),llvm)
  CFLAGS += -fopenmp -fopenmp-targets=nvptx64-nvidia-cuda -Xopenmp-target -march=sm_80 -O3 -fopenmp-cuda-mode
endif
ifeq ($(COMPILER),llvm-amd)
  CFLAGS += -fopenmp -fopenmp-targets=amdgcn-amd-amdhsa -Xopenmp-target=amdgcn-amd-amdhsa -march=gfx906 -O3
endif
ifeq ($(COMPILER),ibm)
  CFLAGS += -qsmp=omp -qoffload -qtgtarch=sm_75 -qarch=pwr9 -O3
endif
ifeq ($(COMPILER),nvidia)
  CFLAGS += -mp=gpu -Minfo=mp -gpu=cc80,managed -fast
endif
ifeq ($(COMPILER),cray)
  CFLAGS += -h omp -O3
endif
$(program): $(obj)
	$(CC) $(CFLAGS) $(obj) -o $@ $(LDFLAGS)
%.o: %.c
	$(CC) $(CFLAGS) -c $< -o $@
M
unset MAKEFLAGS MAKELEVEL CFLAGS LDFLAGS
mode() { rm -f -- *.o bench; make -s COMPILER="$1" CC="$CC --gpu-arch=emu" && [ "$(./bench)" = OK ]; }
modes="nvidia cray"
[ -z "${OMPGPU_LONG:-}" ] || modes="gnu intel llvm llvm-amd ibm nvidia cray"
for m in $modes; do check "a makefile in its mode for $m" mode "$m"; done
# clang's, with arguments of their own
printf 'int f(int *p) { int unused; if (p) return 1;\nreturn *p; }\nint main(void) {\n#pragma omp target\n;\nreturn 0; }\n' >null.c
check "--analyze" sh -c "'$CC' --analyze --analyzer-output text null.c 2>&1 | grep -q 'core.NullDereference'"
check "--serialize-diagnostics" sh -c "'$CC' $ARCH -Wall --serialize-diagnostics null.dia -c null.c 2>/dev/null && grep -q 'unused variable' null.dia"
finish
