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
    # shellcheck disable=SC2046
    build "$src" "$kit/tests/$name" $(sed -n '1,3s|.*flags: \([^*]*\) \*/.*|\1|p' "$src") \
        $(sed -n '1,3s|.*with: \([^*]*\) \*/.*|\1|p' "$src" | sed 's|[^ ][^ ]*|tests/run/&|g')
    if [ -e "tests/run/$name.out" ]; then cp "tests/run/$name.out" "$kit/tests/"; fi
done
for src in tests/bench/gpu_*.c; do
    if [ -e "$src" ]; then build "$src" "$kit/bench/$(basename "$src" .c)"; fi
done
# CUB's reductions beside ours, in the same program; the CUDA runtime goes into it, so that the driver is enough there, too.
sm=$(printf '%s\n' "$arch" | tr , '\n' | sed -n '/^sm_/{p;q;}')
if [ -n "$sm" ] && command -v nvcc >/dev/null 2>&1; then
    cuda=$(cd "$(dirname "$(command -v nvcc)")/.." && pwd)
    if nvcc -O3 -std=c++17 -arch="$sm" -c tests/bench/cuda/cub.cu -o "$kit/cub.o" 2>"$kit/log"; then
        build tests/bench/gpu_reductions.c "$kit/bench/gpu_reductions" "$kit/cub.o" -L"$cuda/lib64" -lcudart_static -l:libstdc++.a -lrt -ldl -lpthread
    else
        echo "gpu-kit: CUB is not compiled: $(sed -n '/error/{p;q;}' "$kit/log")" >&2
    fi
    rm -f "$kit/cub.o" "$kit/log"
fi
for lib in /usr/lib/*/libatomic.so.1; do
    if [ -e "$lib" ]; then cp -L "$lib" "$kit/lib/libatomic.so.1"; break; fi
done
# Hand-written CUDA that has a program around its kernels.
for src in tests/bench/cuda/*.cu; do
    if [ -z "$sm" ] || ! command -v nvcc >/dev/null 2>&1 || ! grep -q 'ifdef MAIN' "$src"; then continue; fi
    name=cuda_$(basename "$src" .cu)
    nvcc -DMAIN -O2 -arch="$sm" -cudart static -o "$kit/bench/$name" "$src" 2>"$kit/log" || { cat "$kit/log" >&2; echo "$name" >>"$kit/not-built"; }
    rm -f "$kit/log"
done
cp LICENSE "$kit/"

cat >"$kit/run.sh" <<'RUN'
#!/bin/sh
# run.sh - runs everything here on the GPU: TAP, then a table of times, then "N passed, N failed".
cd "$(dirname "$0")" || exit 1
passed=0 failed=0 n=0 table=
OMP_TARGET_OFFLOAD=${OMP_TARGET_OFFLOAD:-MANDATORY} OMPGPU_DEVICE=${OMPGPU_DEVICE:-cuda}
export OMP_TARGET_OFFLOAD OMPGPU_DEVICE
log=${TMPDIR:-/tmp}/gpu-kit.$$
trap 'rm -f "$log" "$log.out"' EXIT
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
test_one() {                          # NAME PROGRAM ARGUMENTS…
    name=$1; shift
    if $limit "$@" >"$log.out" 2>"$log"; then
        if [ -e "$1.out" ] && [ "$(cat "$1.out")" != "$(cat "$log.out")" ]; then echo "the output differs from $1.out" >>"$log"; bad "$name"
        else good "$name"; fi
    else
        echo "exit code $?" >>"$log"
        cat "$log.out" >>"$log"
        bad "$name"
    fi
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
for p in samples/*; do test_one "$p" "./$p"; done
for p in tests/*; do case $p in *.out) continue ;; esac; test_one "$p" "./$p"; done
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
# Prints a table of its own; KIT_LARGEST: exponent of the largest number of elements.
if [ -x bench/gpu_reductions ]; then
    test_one bench/gpu_reductions bench/gpu_reductions "${KIT_LARGEST:-28}"
    cat "$log.out"
fi
for p in bench/*; do
    case $p in bench/cuda_* | bench/generic_* | bench/gpu_reductions) ;; *) [ -x "$p" ] && time_one "$p" "./$p" ;; esac
done
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
