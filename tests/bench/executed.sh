#!/bin/sh
# executed.sh - what kernels execute on the PTX machine: ours beside the same ones in CUDA (cuda/*.cu under nvcc), thread instructions and 32-byte
# sectors of global memory for each element, both for sm_90 with the same number of elements.  Bar: at most CUDA's.  executed.sh NAME…: only these
# programs.
CC=${OMPGPU_CC:-$PWD/bin/ompgpu-cc}
# shellcheck disable=SC2034
ROOT=$PWD
T=$(mktemp -d "${TMPDIR:-/tmp}/ompgpu-bench-XXXXXX") || exit 1
trap 'rm -rf "$T"' EXIT
in_time() { timeout 900 "$@"; }
. tests/ptx/cuda.sh
echo "executed on the PTX machine (sm_90), ours / CUDA"
have_nvcc || { echo "  (no nvcc: no CUDA figures)"; exit 0; }
perl -MJSON::PP -e 1 2>/dev/null || { echo "  (perl has no JSON::PP)"; exit 0; }

# A line a program: source, CUDA's source, each with a comma and a flag for it, arguments; then for each kernel NAME=CUDA'S:ELEMENTS of one launch.
programs() { cat <<'PROGRAMS'
tests/bench/pairs.c pairs - copy=copy:65536 triad_int=triad_int:65536 triad_size=triad_size:65536 triad_long=triad_long:65536 static_1=static_1:65536 transpose=transpose:65536 stencil=stencil:54872 triangle=triangle:32896 gather=gather:65536 sparse=sparse:20480 histogram=histogram:65536 functions=functions:65536 bodies=bodies:262144 structs=structs:16384 escape=escape:65536 search=search:65536 convolve=convolve:131328
tests/bench/pairs.c,-ffast-math pairs,--use_fast_math - functions=functions:65536 escape=escape:65536 bodies=bodies:262144
tests/bench/lanes.c lanes - rows=rows:129792 chosen=rows:129792 matrices=matrices:131072 levels=levels:262144 particles=particles:97280
samples/axpy.c axpy 100000 axpy=axpy:100000
samples/matmul.c matmul 96 matmul=matmul:884736
samples/sum.c sum 100000 main=sum:100000
samples/jacobi.c jacobi 200 on_device_21=copy:40000 on_device_27=stencil:39204
samples/nw.c nw 400 align=wave:200
samples/nw_blocks.c nw_blocks 400 align=blocks:3200
samples/nw_called.c nw_blocks 400 align=blocks:3200
samples/fork_join.c fork_join 100 main=fork_join:10000
tests/bench/inner.c inner - product=product:1048576
tests/bench/scan.c scan 65536 scan=DeviceScanKernel:65536
samples/rows.c rows 200 main=rows:86000
samples/lud.c lud 128 diagonal=diagonal:256 perimeter=perimeter:2048 interior=interior:5000
tests/bench/gpu_reductions.c reductions 16 sum_int=sum_int:65536 sum_double=sum_double:65536 dot=dot:65536 minloc_double=minloc_double:65536 sum_complex=sum_complex:65536 four=four:65536
PROGRAMS
}
cat >"$T/table.pl" <<'PERL'
use strict;
my ($program, $ours, $theirs, @pairs) = @ARGV;
sub kernels {
    my %k; local $/;
    open my $f, '<', $_[0] or die "$_[0]: $!"; 
    for (@{JSON::PP::decode_json(<$f>)->{kernels}}) {
        my $name = $_->{kernel};
        $name = substr($2, 0, $1) if $name =~ /^_Z(\d+)(.*)/;
        $name = $1 if $name =~ /(DeviceScanKernel)/;
        $name =~ s/__omp_(wide|strided|tiled|lanes\d+)$//;
        $k{$name} = $_; (my $short = $name) =~ s/_\d+$//; $k{$short} //= $_;
    }
    return \%k;
}
my ($o, $t) = (kernels($ours), kernels($theirs));
for (@pairs) {
    my ($a, $b, $n) = /(.*)=(.*):(.*)/ or die $_;
    my ($x, $y) = ($o->{$a}, $t->{$b});
    if (!$x || !$y) { print "  $program: no kernel $a or $b\n"; next }
    my @v = map { my $k = $_; map { $k->{$_} / $k->{launched} / $n } 'thread_instructions', 'sectors' } $x, $y;
    my ($ri, $rs) = ($v[0] / $v[2], $v[3] ? $v[1] / $v[3] : 1);
    printf "  %-28s %9.2f /%9.2f  %5.2f   %7.3f /%7.3f  %5.2f   %s\n", "$program $b", @v[0, 2], $ri, @v[1, 3], $rs, $ri <= 1.005 && $rs <= 1.005 ? 'met' : 'NOT MET';
}
PERL
OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_DEVICE=ptx; export OMP_TARGET_OFFLOAD OMPGPU_DEVICE
printf '  %-28s %20s %6s   %16s %6s\n' kernel 'instructions/element' ratio 'sectors/element' ratio
programs | while read -r src cuda args pairs; do
    flag=${src#*.c} flag=${flag#,} src=${src%,*} cuda_flag=${cuda#*,} cuda=${cuda%,*}
    [ "$cuda_flag" != "$cuda" ] || cuda_flag=
    case " $* " in "  " | *" $cuda "*) ;; *) continue ;; esac
    [ "$args" != - ] || args=
    theirs=$args
    [ "$cuda" != reductions ] || args="$args $args 1"
    # shellcheck disable=SC2086
    { "$CC" -O2 $flag --gpu-arch=sm_90 -w "$src" -o "$T/ours" -lm && OMPGPU_PTX_PROFILE=$T/ours.json "$T/ours" $args &&
        NVCC_APPEND_FLAGS=$cuda_flag cuda_program "tests/bench/cuda/$cuda.cu" "$T/cuda" 90 && OMPGPU_PTX_PROFILE=$T/cuda.json "$T/cuda" $theirs; } >"$T/log" 2>&1 ||
        { echo "  $cuda: FAILED"; tail -5 "$T/log"; continue; }
    # shellcheck disable=SC2086
    perl -MJSON::PP "$T/table.pl" "$(basename "$src" .c)$flag" "$T/ours.json" "$T/cuda.json" $pairs
done | tee "$T/rows"
awk '$NF ~ /^(met|MET)$/ { n++; s += log($(NF - 5 - ($NF == "MET"))) } END { if (n) printf "  geometric mean of the instructions: %.2f over %d kernels\n", exp(s / n), n }' "$T/rows"
