#!/bin/sh
# Programs of tests/run that gcc 12 can compile for the host, with --host-cc=gcc: with one OpenMP library in the process, libgomp.
. tests/lib.sh
[ -n "${OMPGPU_LONG:-}" ] || skip_all "OMPGPU_LONG=1 runs it"
[ -z "${OMPGPU_SANITIZE:-}" ] || skip_all "libompgpu.so needs the run-time of clang's sanitizers"
command -v gcc >/dev/null 2>&1 || skip_all "no gcc"
one_runtime() { ldd ./prog >needed && has needed libgomp && silent needed 'libomp[.]'; }
for name in atomic barrier collapse constructors copies_of_globals critical declare_target default_host defaultmap device_ptr distribute enter_exit_data for functions globals header \
    implicit indirect lastprivate late_choice link_function loop_bounds map_deep map_scalar map_sections map_struct math memory names nested_parallel nowait parallel printf private; do
    src=$ROOT/tests/run/$name.c
    # shellcheck disable=SC2046
    check "$name: compiles" "$CC" $ARCH --host-cc=gcc -O1 $(program_says flags) "$src" -o prog -lm && check "$name: runs" run_ways && check "$name: one OpenMP library" one_runtime
done
finish
