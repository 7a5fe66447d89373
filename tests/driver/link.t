#!/bin/sh
# Fat objects in everything that links: archives, shared libraries, ld -r, --gc-sections, plain clang, gcc.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
lib=$(dirname "$(dirname "$CC")")/lib
cc() { "$CC" $ARCH -O2 "$@"; }
runs() { [ "$(on_device ./"$1")" = OK ]; }
offload_function f.c f; offload_function g.c g; offload_function h.c h
calling_main main.c f g h
for s in f g h main; do check "-c $s" cc -fPIC -c $s.c; done

check "three fat objects" cc main.o f.o g.o h.o -o prog && check "... run" runs prog
check "sources and objects" cc main.c f.o g.c h.o -o prog && check "... run" runs prog
ar rcs libfgh.a f.o g.o h.o
check "from an archive, -L -l" cc main.c -L. -lfgh -o prog && check "... runs" runs prog
check "-L DIR, -l NAME in two words" cc main.c -L . -l fgh -o prog && check "... runs" runs prog
check "-Wl,--gc-sections" cc main.o f.o g.o h.o -Wl,--gc-sections -o prog && check "... runs" runs prog
check "-Xlinker --gc-sections -s" cc -ffunction-sections -fdata-sections main.c f.c g.o h.o -Xlinker --gc-sections -s -o prog && check "... runs" runs prog
check "-r" cc -r f.o g.o -o fg.o && check "... links" cc main.o fg.o h.o -o prog && check "... runs" runs prog
check "ld -r" ld -r f.o g.o h.o -o fgh.o && check "... links" cc main.o fgh.o -o prog && check "... runs" runs prog
check "-shared -fPIC" cc -shared -fPIC f.c g.c h.o -o libs.so && check "... links" cc main.c ./libs.so -o prog && check "... runs" runs prog
check "-pthread -rdynamic" cc -pthread -rdynamic main.o fgh.o -o prog && check "... runs" runs prog
check "-no-pie" cc -fno-pie -no-pie main.c f.c g.c h.c -o prog && check "... runs" runs prog
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "plain clang -lompgpu" "libompgpu.so needs the run-time of the sanitizers"
else check "plain clang -lompgpu" "$CLANG" -fopenmp main.o fgh.o -L"$lib" -lompgpu -Wl,-rpath,"$lib" -o prog && check "... runs" runs prog; fi
check "--no-rpath" cc --no-rpath main.o fgh.o -o norpath && check "... needs LD_LIBRARY_PATH" sh -c "! readelf -d norpath | grep -q RUNPATH && [ \$(LD_LIBRARY_PATH='$lib' ./norpath) = OK ]"
check "-static-ompgpu" cc -static-ompgpu main.o fgh.o -o prog && check "... runs" runs prog
check "... without libompgpu.so" sh -c "! readelf -d prog | grep -q 'NEEDED.*ompgpu'"

# Link-time optimisation: bitcode from files without regions, ordinary objects from the others.
for lto in -flto -flto=thin; do
    check "$lto in two steps" cc $lto -c main.c -o lto.o && check "... is bitcode" sh -c "head -c 4 lto.o | od -An -tx1 | grep -qi 'de\|42 43'"
    check "... with a file with regions" cc $lto -c f.c -o flto.o && check "... links" cc $lto lto.o flto.o g.o h.o -o prog && check "... runs" runs prog
    check "$lto in one step" cc $lto main.c f.c g.c h.c -o prog && check "... runs" runs prog
done
check "-Wl,--version runs the linker" sh -c "'$CC' -Wl,--version | grep -q ld" && check "... and makes nothing" test ! -e a.out

# A library that is loaded later.
cat >load.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int round = 0; round < 3; round++) {
        int x[10] = { 0 };
        void *lib = dlopen("./libs.so", RTLD_NOW | RTLD_LOCAL);
        int (*f)(int *, int) = lib ? (int (*)(int *, int))dlsym(lib, "f") : NULL;
        if (!f) return puts(dlerror()), 1;
        f(x, 10);
        if (x[0] != 1 || x[9] != 1) return puts("FAILED"), 1;
        dlclose(lib);
    }
    return puts("OK"), 0;
}
C
check "dlopen" cc load.c -o load && check "... runs three times" runs load
# What is linked with the OpenMP library keeps nobody from unloading the runtime.
sed 's/int main(void)/#include <omp.h>\nint main(void)/; s/puts("OK")/puts(omp_get_max_threads() > 0 ? "OK" : "?")/' load.c >load_omp.c
check "dlopen by an OpenMP program that clang links" "$CLANG" -fopenmp load_omp.c -o load_omp -ldl && check "... runs three times" runs load_omp
cc -shared -fPIC -static-ompgpu f.c g.c h.o -o libs.so >/dev/null 2>&1
check "... also with the runtime in the library" runs load_omp && check "... and without" runs load
cc -shared -fPIC f.c g.c h.o -o libs.so

# Programs without device code do not depend on libompgpu; those that ask for devices do.
printf '#include <stdio.h>\nint main(void) { puts("OK"); }\n' >plain.c
check "plain program" cc plain.c -o plain && check "... does not need libompgpu" sh -c "! readelf -d plain | grep -q 'NEEDED.*ompgpu'"
printf '#include <omp.h>\n#include <stdio.h>\nint main(void) { return puts(omp_get_num_devices() > 0 ? "OK" : "FAILED") < 0; }\n' >dev.c
printf 'int omp_get_num_devices(void);\nint puts(const char *);\nint asks(void) { return puts(omp_get_num_devices() > 0 ? "OK" : "FAILED") < 0; }\n' >asks.c
printf 'int asks(void);\nint main(void) { return asks(); }\n' >calls.c
cc -fPIC -c asks.c && ar rc libasks.a asks.o && rm asks.o
check "a library that is not looked into asks for devices" cc calls.c -L. -lasks -o calls && check "... runs" runs calls
check "... in a shared library" cc -shared -Wl,-u,asks -L. -lasks -o libshared.so && cc calls.c -L. -lshared -Wl,-rpath,. -o calls && check "... runs" runs calls
check "omp_get_num_devices" cc dev.c -o dev && check "... is ours" runs dev
printf 'int main(void) { int n = 0;\n#pragma omp parallel\nn = 1;\nreturn 1 - n; }\n' >parallel.c
if "$CLANG" -print-file-name=libomp.a | grep -q /; then check "-static with OpenMP" cc -static parallel.c -o parallel && check "... runs" ./parallel
else check "-static with OpenMP" test_must_fail 1 cc -static parallel.c -o parallel && cp .log err && check "... says why before the linker's words" sh -c "head -1 err | grep -q 'ompgpu-cc: error: .*libomp.a'"; fi
for static in -static -static-pie; do check "$static with regions" test_must_fail 1 cc $static main.o fgh.o -o prog && cp .log err && check "... says why" has err "^ompgpu-cc: error: .*-static-ompgpu"; done
check "-static without OpenMP" cc -static plain.c -o plain && check "... runs" test "$(./plain)" = OK
check "-nostdlib -shared" cc -nostdlib -shared -fPIC f.o -o none.so && check "... without libompgpu" sh -c "! readelf -d none.so | grep -q NEEDED"
check "-nodefaultlibs" cc -nodefaultlibs plain.c -lc -o plain && check "... runs" test "$(./plain)" = OK
check "-nodefaultlibs leaves libompgpu out" test_must_fail 1 cc -nodefaultlibs main.o fgh.o -lc -o prog
check "-fopenmp -fopenmp=libomp -fopenmp-targets=nvptx64" cc -fopenmp -fopenmp=libomp -fopenmp-targets=nvptx64-nvidia-cuda main.c fgh.o -o prog && check "... runs" runs prog

# without a region
cat >choices.c <<'C'
int main(void)
{
    int n = 0;
#pragma omp parallel num_threads(3)
    {
#pragma omp metadirective when(construct={parallel}: atomic) default(nothing)
        n++;
#pragma omp metadirective when(construct={teams}: nothing) when(construct={parallel}: single)
        n += 10;
#pragma omp metadirective when(construct={parallel}, device={kind(host)}: for reduction(+ : n)) default(parallel for)
        for (int i = 0; i < 7; i++)
            n += 100;
    }
#pragma omp metadirective when(device={isa("sm_90")}: parallel num_threads(2)) default(nothing)
    n += 0;
#ifdef ISA
#pragma omp metadirective when(device={isa("avx2")}: parallel num_threads(2)) default(nothing)
    n += 0;
#endif
    return n != 713;
}
C
check "metadirectives on the host know the constructs around" cc -Wall -Werror choices.c -o choices && check "... run" ./choices
check "... one that depends on the processor" cc -DISA choices.c -o choices && check "... runs" ./choices
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "--host-cc=gcc" "libompgpu.so needs the run-time of clang's sanitizers"
elif command -v gcc >/dev/null 2>&1; then
    gcc_cc() { "$CC" $ARCH -O2 --host-cc=gcc "$@"; }
    check "--host-cc=gcc" gcc_cc -Wall -std=gnu11 main.c f.c g.c h.c -o prog && check "... runs" runs prog
    cat >asks.c <<'C'
#if defined __clang__ || __GNUC__ < 8
#error gcc preprocesses it
#endif
#include <complex.h>
#include <omp.h>
#include <stdio.h>
#pragma omp begin declare target
int counter;
#pragma omp end declare target
int entered, linked;
#pragma omp declare target enter(entered) link(linked)
int main(void)
{
    int on_host = 1, n = 0;
    omp_lock_t lock;
    omp_init_lock(&lock);
#pragma omp target map(from: on_host) map(tofrom: linked)
    on_host = omp_is_initial_device() | (++counter + ++entered + ++linked != 3);
#pragma omp target update from(counter, entered)
#pragma omp target if(on_host) device(omp_get_default_device())
    n = counter + entered + linked - 3;
#pragma omp parallel num_threads(4)
    {
        omp_set_lock(&lock);
        n++;
        omp_unset_lock(&lock);
    }
    omp_destroy_lock(&lock);
    return on_host || n != 4 || counter != 1 || sizeof lock != SIZE || omp_get_num_devices() < 1 || puts("OK") < 0;
}
C
    size=$(printf '#include <omp.h>\nint size = sizeof(omp_lock_t);\n' | gcc -fopenmp -x c - -S -o - | sed -n 's/^[[:space:]]*[.]long[[:space:]]*//p')
    check "gcc's omp.h" gcc_cc -Wall -Werror -MD -DSIZE="$size" asks.c -o asks && check "... runs" runs asks && check "... lists its headers" has asks.d 'gcc.*/omp.h'
    printf 'int n;\nvoid f(void)\n{\n#pragma omp target nowait map(n)\n    n++;\n}\n' >later.c
    check "nowait without omp.h" gcc_cc -c later.c
    printf 'int n;\nint main(void)\n{\n#pragma omp target map(n)\n    n++;\n    return twice(n) != 2;\n}\nint twice(int i) { return 2 * i; }\n' >implicit.c
    check "an implicit declaration is a warning, as gcc has it" sh -c "'$CC' $ARCH -O2 --host-cc=gcc implicit.c -o implicit 2>said && grep -q 'warning: .*twice' said" && check "... runs" ./implicit
    check "-E is gcc's" sh -c "'$CC' --host-cc=gcc -dM -E -x c /dev/null | grep -c __clang__ | grep -q '^0'"
    check "... uses libgomp" sh -c "readelf -d prog | grep -q 'NEEDED.*libgomp' && ! readelf -d prog | grep -q 'NEEDED.*libomp[.]'"
    check "gcc and clang objects" gcc_cc main.c fgh.o -lomp -L/usr/lib/llvm-22/lib -o prog && check "... run" runs prog
    check "--host-cc=gcc of a plain program" gcc_cc -c plain.c
    check "gcc runs what metadirectives choose" gcc_cc -Wall -Werror choices.c -o choices && check "... also in a file without regions" ./choices
    check "gcc: a choice that only clang can make" test_must_fail 1 gcc_cc -DISA -c choices.c && cp .log err && check "... is an error" has err "choices.c:17:.*'isa'.*gcc"
    check "--host-cc=gcc with allocators that gcc wants no clause for" gcc_cc -w "$ROOT/tests/run/predefined_allocators.c" -o allocs && check "... runs" on_device ./allocs
else skip "--host-cc=gcc" "no gcc"; fi
cat >two.c <<'C'
#include <omp.h>
int main(void)
{
    int n = 0;
#pragma omp parallel num_threads(4) reduction(+: n)
    n += omp_get_thread_num();
#pragma omp target parallel for reduction(+: n)
    for (int i = 0; i < 10; i++) n++;
    return n != 16;
}
C
check "-lgomp, of gcc's makefiles" sh -c "'$CC' $ARCH -fopenmp two.c -lgomp -o two 2>said && grep -q 'lgomp.*left out' said" && check "... there is one OpenMP library" sh -c "! readelf -d two | grep -q 'NEEDED.*libgomp'" && check "... runs" on_device ./two
printf 'int main(void) { return 0; }\n' >none.c
[ -n "${OMPGPU_SANITIZE:-}" ] || check "-lgomp without OpenMP: nothing is said" sh -c "'$CC' none.c -lgomp -o none 2>said && [ ! -s said ]"
check "--host-cc= of no program" test_must_fail 1 "$CC" --host-cc=/no/such/cc plain.c -o plain
finish
