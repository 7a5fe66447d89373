#!/bin/sh
# gpu-kit.sh DIR - makes a directory to carry to a machine with a GPU: samples, run tests and benchmarks for sm_90 and as PTX, the two
# libraries that they need, and run.sh, which needs the NVIDIA driver and a shell.  Called by `make gpu-kit`; a tar of it is DIR.tar.
set -eu
cd "$(dirname "$0")/../.."
kit=${1:-gpu-kit}
cc=${OMPGPU_CC:-bin/ompgpu-cc}
arch=${OMPGPU_KIT_ARCH:-sm_90}
rm -rf "$kit"
mkdir -p "$kit/lib" "$kit/samples" "$kit/tests" "$kit/bench"

# The programs find their libraries beside themselves, wherever the directory goes.
build() {                             # SOURCE OUTPUT FLAGS…
    src=$1 out=$2; shift 2
    if ! "$cc" --gpu-arch="$arch" -O2 "$@" "$src" -o "$out" --no-rpath -Wl,-rpath,'$ORIGIN/../lib' -lm 2>"$kit/log"; then
        echo "gpu-kit: $src does not compile:" >&2
        cat "$kit/log" >&2
        basename "$out" >>"$kit/not-built"
    fi
    rm -f "$kit/log"
}
cp "$(dirname "$(dirname "$cc")")/lib"/libompgpu.so.[0-9]* "$kit/lib/"
for lib in /usr/lib/llvm-*/lib/libomp.so.5 /usr/lib/*/libomp.so.5; do
    if [ -e "$lib" ]; then cp -L "$lib" "$kit/lib/libomp.so.5"; break; fi
done
for src in samples/*.c; do
    name=$(basename "$src" .c)
    build "$src" "$kit/samples/$name"
    case $name in nw_* | fork_join | rows | lud) build "$src" "$kit/bench/generic_$name" -fompgpu-mode=generic ;; esac
done
# A test may say "flags: …" for the compiler and "with: FILE…" in its first lines; NAME.out is the output wanted.
for src in tests/run/*.c; do
    name=$(basename "$src" .c)
    if grep -q OMPGPU_PTX_DEVICES "$src"; then continue; fi        # it asks for more devices than one GPU is
    # shellcheck disable=SC2046
    build "$src" "$kit/tests/$name" $(sed -n '1,3s|.*flags: \([^*]*\) \*/.*|\1|p' "$src") \
        $(sed -n '1,3s|.*with: \([^*]*\) \*/.*|\1|p' "$src" | sed 's|[^ ][^ ]*|tests/run/&|g')
    if [ -e "tests/run/$name.out" ]; then cp "tests/run/$name.out" "$kit/tests/"; fi
done
# Beside ours in the same program: CUDA's loops, CUB's reductions.  The CUDA runtime goes into it, so that the driver is enough there, too.
sm=$(printf '%s\n' "$arch" | tr , '\n' | sed -n '/^sm_/{p;q;}')
nvcc=$(command -v nvcc || true)
with_cuda() {                         # PROGRAM CUDA'S-SOURCE
    set -- "$1" "$2" ""
    if [ -n "$sm" ] && [ -n "$nvcc" ]; then
        if "$nvcc" -O3 -std=c++17 -arch="$sm" -c "tests/bench/cuda/$2.cu" -o "$kit/$2.o" 2>"$kit/log"; then
            set -- "$1" "$2" "$kit/$2.o -L$(dirname "$nvcc")/../lib64 -lcudart_static -l:libstdc++.a -lrt -ldl -lpthread"
        else
            echo "gpu-kit: $2.cu is not compiled: $(sed -n '/error/{p;q;}' "$kit/log")" >&2
        fi
    fi
    # shellcheck disable=SC2086
    build "tests/bench/$1.c" "$kit/bench/$1" $3
    rm -f "$kit/$2.o" "$kit/log"
}
with_cuda gpu_reductions cub
with_cuda gpu_loops loops
build tests/bench/scan.c "$kit/bench/scan"
[ -z "$sm" ] || build tests/bench/gpu_host.c "$kit/bench/gpu_host" -I.     # beside the driver
for lib in /usr/lib/*/libatomic.so.1; do
    if [ -e "$lib" ]; then cp -L "$lib" "$kit/lib/libatomic.so.1"; break; fi
done
# Hand-written CUDA that has a program around its kernels.
for src in tests/bench/cuda/*.cu; do
    if [ -z "$sm" ] || [ -z "$nvcc" ] || ! grep -q 'ifdef MAIN' "$src"; then continue; fi
    name=cuda_$(basename "$src" .cu)
    "$nvcc" -DMAIN -O2 -arch="$sm" -cudart static -o "$kit/bench/$name" "$src" 2>"$kit/log" || { cat "$kit/log" >&2; echo "$name" >>"$kit/not-built"; }
    rm -f "$kit/log"
done
cp LICENSE "$kit/"

cat >"$kit/run.sh" <<'RUN'
#!/bin/sh
# run.sh [tests|times] - runs everything here on the GPU, or a part of it: TAP, then a table of times, then "N passed, N failed".  JOBS tests at a
# time.
cd "$(dirname "$0")" || exit 1
passed=0 failed=0 n=0 table=
OMP_TARGET_OFFLOAD=${OMP_TARGET_OFFLOAD:-MANDATORY} OMPGPU_DEVICE=${OMPGPU_DEVICE:-cuda}
export OMP_TARGET_OFFLOAD OMPGPU_DEVICE
T=${KIT_SCRATCH:-$(mktemp -d)}
log=$T/log.$$
[ -n "${KIT_SCRATCH:-}" ] || trap 'rm -rf "$T"' EXIT
limit=
command -v timeout >/dev/null 2>&1 && limit="timeout 120"

good() { n=$((n + 1)) passed=$((passed + 1)); echo "ok $n - $1"; }
bad() { n=$((n + 1)) failed=$((failed + 1)); echo "not ok $n - $1"; while read -r line; do echo "#   $line"; done <"$log"; }
# "12.34" -> 1234, in the shell alone
hundredths() { f=${1#*.}; echo $((${1%.*} * 100 + 1${f} - 100)); }
# Adds up the launch lines of OMPGPU_INFO: how many, how long.
launches() {
    count=0 sum=0 on='' shape=''
    while read -r line; do
        case $line in *" launch "*" ms"*) ;; *) continue ;; esac
        set -- ${line#* launch }
        on=${3%:} shape="$4 x $7" ms=$(hundredths "${10}")
        count=$((count + 1)) sum=$((sum + ms))
    done <"$log"
}
try_one() {                           # PROGRAM ARGUMENTS…: nonzero when it is not right, the reason is in $log then
    if $limit "$@" >"$log.out" 2>"$log"; then
        [ -e "$1.out" ] && [ "$(cat "$1.out")" != "$(cat "$log.out")" ] || return 0
        echo "the output differs from $1.out" >>"$log"
    else
        echo "exit code $?" >>"$log"
        cat "$log.out" >>"$log"
    fi
    return 1
}
test_one() {                          # NAME PROGRAM ARGUMENTS…
    name=$1; shift
    if try_one "$@"; then good "$name"; else bad "$name"; fi
}
# For test_all: one of its tests, in a process of its own.
if [ "${1:-}" = one ]; then
    log=$T/$(basename "$2").$(basename "$(dirname "$2")")
    if try_one "./$2"; then rm -f "$log"; else mv "$log" "$log.bad"; fi
    rm -f "$log.out"
    exit 0
fi
test_all() {
    for p in samples/* tests/*; do case $p in *.out) ;; *) echo "$p" ;; esac; done >"$T/all"
    KIT_SCRATCH=$T xargs -P "${JOBS:-4}" -n 1 sh run.sh one <"$T/all"
    while read -r p; do
        log=$T/$(basename "$p").$(basename "$(dirname "$p")").bad
        if [ -e "$log" ]; then bad "$p"; else good "$p"; fi
    done <"$T/all"
    log=$T/log.$$
}
time_one() {                          # NAME PROGRAM ARGUMENTS…: one run that counts, then the table's
    name=$1; shift
    OMPGPU_INFO=1; export OMPGPU_INFO
    if $limit "$@" >"$log.out" 2>"$log"; then
        launches
        table="$table$(printf '%-28s %-8s %14s %8d %8d.%02d ms' "$name" "$on" "$shape" "$count" $((sum / 100)) $((sum % 100)))
"
        good "time of $name"
    else bad "time of $name"; fi
    unset OMPGPU_INFO
}
echo "# $(uname -srm)"
[ -r /proc/driver/nvidia/version ] && read -r version </proc/driver/nvidia/version && echo "# $version"
[ "${1:-}" = times ] || test_all
all_times() {
export CUDA_MODULE_LOADING=EAGER      # no launch loads a kernel
# Each sample, where it has sequential code also in generic mode, and the same in CUDA.
while read -r sample size; do
    [ -x "samples/$sample" ] || continue
    [ -z "${OMPGPU_KIT_SMALL:-}" ] || size=
    sum=0
    time_one "$sample $size" "./samples/$sample" $size
    ours=$sum cuda=$sample
    [ $sample != nw_called ] || cuda=nw_blocks
    [ -x "bench/cuda_$cuda" ] && time_one "  CUDA $sample" "./bench/cuda_$cuda" $size
    [ -x "bench/generic_$sample" ] || continue
    sum=0
    time_one "  generic $sample" "./bench/generic_$sample" $size
    case $sample in nw_*)
        [ "$ours" -gt 0 ] && [ "$sum" -gt 0 ] || continue          # they did not run
        if [ $((sum * 10)) -ge $((ours * 13)) ]; then faster=met; else faster="NOT MET"; fi
        table="$table    $sample: generic mode takes $((sum * 100 / ours)) % of the late pass's time, at least 130: $faster
" ;;
    esac
done <<'SIZES'
axpy 50000000
sum 50000000
jacobi 1000
matmul 1024
teams 20000000
nw 4000
nw_blocks 4000
nw_called 4000
fork_join 1000
rows 100000
lud 1024
SIZES
# These print tables of their own; KIT_LARGEST: exponent of the largest number of elements.
for p in "gpu_host" "gpu_loops ${KIT_LARGEST:-28}" "gpu_reductions ${KIT_LARGEST:-28}" "scan"; do
    [ -x "bench/${p%% *}" ] || continue
    # shellcheck disable=SC2086
    test_one "bench/${p%% *}" bench/$p
    cat "$log.out"
done
}
[ "${1:-}" = tests ] || all_times
if [ -e not-built ]; then while read -r p; do : >"$log"; bad "$p was not built"; done <not-built; fi
echo "1..$n"
echo
printf '%-28s %-8s %14s %8s %11s\n' program device 'teams x threads' launches 'kernel time'
printf '%s' "$table"
echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
RUN
chmod +x "$kit/run.sh"
tar cf "$kit.tar" -C "$(dirname "$kit")" "$(basename "$kit")"
echo "$kit: $(du -sm "$kit" | cut -f1) MB, $(find "$kit/samples" "$kit/tests" "$kit/bench" -type f -perm -u+x | wc -l) programs; $kit.tar"
if [ -e "$kit/not-built" ]; then echo "gpu-kit: not everything was built" >&2; exit 1; fi
[ "$(du -sm "$kit" | cut -f1)" -lt 60 ] || { echo "gpu-kit: larger than 60 MB" >&2; exit 1; }
