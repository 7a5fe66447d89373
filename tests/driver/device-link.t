#!/bin/sh
# Device code of several files: what the link puts together, from where, and what it says when it cannot.
. tests/lib.sh
# -O0 is quicker, and all that is looked at here is what belongs together; its checks are left to the long form and to the links that ask for them.
if [ -n "${OMPGPU_LONG:-}" ]; then checks=-fompgpu-check; else checks=-fno-ompgpu-check; fi
cc() { "$CC" $ARCH -O0 $checks -Wno-deprecated "$@"; }
# Does the program print OK on the device?  runs_any: also with other schedules.
runs() {
    [ "$(OMP_TARGET_OFFLOAD=MANDATORY in_time "./$1" 2>&1)" = OK ] && return
    OMP_TARGET_OFFLOAD=MANDATORY in_time "./$1"; return 1
}
runs_any() {
    for s in random:1 random:2 random:7; do OMPGPU_EMU_SCHEDULE=$s runs "$1" || { echo "schedule $s"; return 1; }; done
}
links() { name=$1 out=$2; shift 2; check "$name" cc "$@" -o "$out" && check "... runs" runs "$out"; }
fails() { name=$1 pattern=$2; shift 2; check "$name" test_must_fail 1 cc "$@" -o no 2>err; cp .log err; check "... says why" has err "$pattern"; check "... leaves nothing" test ! -e no; }

# ---------------------------------------------------------------- functions, variables, pointers, parallel regions
cat >lib.h <<'C'
#pragma omp begin declare target
extern int counter, table[4];
extern const double factor;
int twice(int);
int sum_to(int);
void fill(int *, int);
int (*chosen(int))(int);
#pragma omp end declare target
int host_view(void);
C
cat >lib.c <<'C'
#include "lib.h"
int counter = 1, table[4] = { 1, 2, 3, 4 };
const double factor = 0.5;
static int hidden(int x) { return 2 * x; }
static int calls;
#pragma omp declare target(calls)
int twice(int x) { return hidden(x); }
int sum_to(int n)
{
    int s = 0;
    #pragma omp parallel for reduction(+:s)
    for (int i = 0; i < n; i++) s += i;
    return s;
}
void fill(int *v, int n)
{
    #pragma omp parallel for
    for (int i = 0; i < n; i++) v[i] = twice(i) + counter;
    calls++;
}
static int thrice(int x) { return 3 * x; }
int (*chosen(int k))(int) { return k ? thrice : twice; }
int host_view(void)
{
    int r = 0;
    #pragma omp target map(from: r)
    r = 1000 * counter + calls;
    return r;
}
C
cat >main.c <<'C'
#include <stdio.h>
#include "lib.h"
static int hidden(int x) { return x + 1; }
static int calls = 77;
#pragma omp declare target(calls)
static int bad(const char *what) { return puts(what), 1; }
int main(void)
{
    int n = 100, s = 0, t = 0, v[100], w = 0;
    double d = 0;
    counter = 5;
    #pragma omp target update to(counter)
    #pragma omp target teams distribute parallel for map(tofrom: v) reduction(+:s)
    for (int i = 0; i < n; i++) { v[i] = twice(i) + hidden(i); s += v[i] + counter; }
    if (s != 3 * (n * (n - 1) / 2) + n + 5 * n || v[7] != 22) return bad("SPMD region");
    #pragma omp target map(tofrom: v)
    { fill(v, n); counter += 2; calls++; }
    for (int i = 0; i < n; i++) if (v[i] != 2 * i + 5) return bad("generic region");
    if (host_view() != 7001) return bad("variables in the other file's region");
    #pragma omp target update from(counter)
    #pragma omp target map(from: w)
    w = calls;
    if (counter != 7 || w != 78) return bad("update");
    #pragma omp target teams num_teams(2) map(from: w)
    { int r = sum_to(10) + sum_to(50); if (r != 45 + 1225) w = 1; else w = 2; }
    if (w != 2) return bad("parallel regions in another file, teams");
    #pragma omp target map(from: s, d)
    { int (*f)(int) = chosen(1), (*g)(int) = chosen(0), (*h)(int) = &twice; s = f(5) + 100 * g(5) + 10000 * h(5); d = factor * table[3]; }
    if (s != 101015 || d != 2) return bad("pointers and constants");
    #pragma omp target parallel for reduction(+:t)
    for (int i = 0; i < 64; i++) t += sum_to(4);         /* nested: one thread */
    return t == 64 * 6 ? puts("OK"), 0 : bad("nested");
}
C
cc -fPIC -c main.c && cc -fPIC -c lib.c || exit 1
links "two objects" ab main.o lib.o && check "... with any schedule" runs_any ab
links "... the other way round" ba lib.o main.o
links "-O2" src -O2 main.c lib.c
links "-O0, checked" o0 -fompgpu-check main.c lib.c && check "... with any schedule" runs_any o0
cc -O2 -c lib.c -o lib2.o && links "-g -O0, checked, and an object of -O2" g -g -O0 -fompgpu-check main.c lib2.o
links "-fompgpu-mode=generic of one file" gen -fompgpu-mode=generic main.c lib.o && check "... with any schedule" runs_any gen
links "-fcommon" common -fcommon main.o lib.c
# -S keeps the bitcode
cc -S main.c && links "assembly" asm main.s lib.o
ar rcs lib.a lib.o
links "an archive" arch main.o lib.a
links "--gc-sections" gc main.o lib.o -Wl,--gc-sections
links "-s" stripped main.o lib.o -s
cc -r main.o lib.o -o both.o && links "-r" r both.o
ld -r main.o lib.o -o both.o && links "ld -r" ldr both.o
links "-static-ompgpu" static -static-ompgpu main.o lib.o
links "-flto" lto -flto main.c lib.c
sed 's/begin declare/declare/' lib.h >old.h; mkdir gcc && mv old.h gcc/lib.h && cp main.c lib.c gcc
if [ -n "${OMPGPU_SANITIZE:-}" ]; then skip "--host-cc=gcc" "gcc's sanitizers are others than clang's"
elif command -v gcc >/dev/null; then links "--host-cc=gcc" gcced --host-cc=gcc gcc/main.c gcc/lib.c; else skip "--host-cc=gcc" "no gcc"; fi
if command -v ld.lld >/dev/null; then links "-fuse-ld=lld" lld -fuse-ld=lld -Wl,--gc-sections main.o lib.o; else skip "-fuse-ld=lld" "no lld"; fi
cc -shared main.o lib.o -o libmain.so 2>/dev/null
cat >dl.c <<'C'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    for (int i = 0; i < 2; i++) {
        void *lib = dlopen("./libmain.so", RTLD_NOW);
        int (*f)(void) = lib ? (int (*)(void))dlsym(lib, "main") : NULL;
        if (!f) return puts(dlerror()), 1;
        if (f()) return 1;
        dlclose(lib);
    }
    return 0;
}
C
check "-shared, loaded twice" cc dl.c -o dl && check "... runs" sh -c '[ "$(OMP_TARGET_OFFLOAD=MANDATORY ./dl | sort -u)" = OK ] '

# ---------------------------------------------------------------- what belongs to the link
# c.c has a region of its own with main.c's kernel name, and needs nothing; the archive's second member would clash.
cat >other.c <<'C'
int other(int);
#pragma omp begin declare target
int unrelated(int x) { return x; }
#pragma omp end declare target
int other(int x)
{
    #pragma omp target map(tofrom: x)
    x++;
    return x;
}
C
cat >clash.c <<'C'
#pragma omp begin declare target
int twice(int x) { return 99; }
int unneeded;
#pragma omp end declare target
C
cc -c other.c && cc -c clash.c && ar rcs two.a lib.o clash.o
links "an archive's member that is not needed" unneeded main.o other.o two.a
check "duplicates: the host linker's error" test_must_fail 1 cc main.o lib.o clash.o -o no
fails "duplicates that it was told to take" "error: .*'twice'.*'lib.c'.*'clash.c'" -Wl,-z,muldefs main.o lib.o clash.o

cat >k1.c <<'C'
int v; int one(void);
#pragma omp declare target(v)
int two(void); int ext(void);
#pragma omp declare target(ext)
static int kernel(void) { int r = 0;
    #pragma omp target map(from: r)
    r = ext() + v;
    return r; }
int one(void) { return kernel(); }
C
sed -e 's/\<one\>/three/g' -e 's/\<two\>/one/' -e 's/three/two/g' -e 's/int v;/static int v = 10;/' k1.c >k2.c
cat >k3.c <<'C'
#include <stdio.h>
int ext(void), one(void), two(void);
#pragma omp declare target(ext)
int kernel_6__m1(void);
int v__m1 = 3; /* as the link might call the second kernel and variable */
#pragma omp declare target(kernel_6__m1, v__m1)
int kernel_6__m1(void) { return v__m1; }
int ext(void) { return kernel_6__m1(); }
int main(void) { return one() == 3 && two() == 13 ? puts("OK"), 0 : (printf("%d %d\n", one(), two()), 1); }
C
links "kernels and static variables of one name" kernels k1.c k2.c k3.c
cat >y1.c <<'C'
#include <stdio.h>
double y1(double);
double j0(double);
int main(void)
{
    double r = 0, s = 0;
    #pragma omp target map(from: r, s)
    { r = y1(4); s = j0(0); }
    return r == 5 && s == 1 ? puts("OK"), 0 : (printf("%g %g\n", r, s), 1);
}
C
printf '#pragma omp begin declare target\ndouble y1(double x) { return x + 1; }\n#pragma omp end declare target\n' >y2.c
links "a function with the name of one of libm" y1 -fno-builtin y1.c y2.c -lm
mkdir -p d1 d2
cat >s.c <<'C'
static int v = WHO;
int ext(void); int NAME(void);
#pragma omp declare target(v, ext)
int NAME(void) { int r = 0;
    #pragma omp target map(from: r)
    r = 10 * (ext() + v++);
    #pragma omp target map(tofrom: r)
    r += v;
    return r; }
C
cp s.c d1; cp s.c d2
(cd d1 && cc -DWHO=10 -DNAME=one -c s.c); (cd d2 && cc -DWHO=20 -DNAME=two -c s.c)
sed -i 's/one() == 3 \&\& two() == 13/one() == 141 \&\& two() == 251/' k3.c
links "static variables of files of one name" statics d1/s.o d2/s.o k3.c

cat >w1.c <<'C'
#include <stdio.h>
#pragma omp begin declare target
__attribute__((weak)) int shared = 4;
__attribute__((weak)) int pick(void) { return 1; }
int strong(void);
inline int small(int x) { return x + shared; }
#pragma omp end declare target
int main(void)
{
    int r = 0;
    #pragma omp target map(from: r)
    r = 100 * strong() + 10 * pick() + small(1);
    #pragma omp target update from(shared)
    return r == 725 && shared == 4 ? puts("OK"), 0 : (printf("%d %d\n", r, shared), 1);
}
C
cat >w2.c <<'C'
#pragma omp begin declare target
extern int shared;
int pick(void) { return 2; }
int small(int x) { return x + shared; }
int strong(void) { return 5 + pick(); }
#pragma omp end declare target
C
links "weak and inline" weak w1.c w2.c
cat >v1.c <<'C'
#include <stdio.h>
#pragma omp begin declare target
__attribute__((weak)) int x = 3;
int c;
#pragma omp end declare target
int two(void);
int main(void)
{
    int r = 0;
    #pragma omp target map(from: r)
    r = ++x + ++c;
    return r == 5 && two() == 5 ? puts("OK"), 0 : (printf("%d %d\n", r, two()), 1);
}
C
cat >v2.c <<'C'
#pragma omp begin declare target
__attribute__((weak)) int x = 3;
int c;
#pragma omp end declare target
int two(void);
int two(void)
{
    int r = 0;
    #pragma omp target map(from: r)
    r = x + c;
    return r;
}
C
links "weak and common variables exist once" twice -fcommon v1.c v2.c
cat >t1.c <<'C'
#include <stdio.h>
int first(int);
#pragma omp declare target(first)
int main(void)
{
    int r = 0;
    #pragma omp target map(from: r)
    r = first(1);
    return r == 111 ? puts("OK"), 0 : 1;
}
C
printf 'int second(int);\n#pragma omp begin declare target\nint first(int x) { return second(x) + 10; }\n#pragma omp end declare target\n' >t2.c
printf '#pragma omp begin declare target\nint second(int x) { return x + 100; }\n#pragma omp end declare target\n' >t3.c
check "three files" cc -c t1.c t2.c t3.c && links "... transitively" trans t3.o t2.o t1.o
cat >Makefile <<'M'
trans3: t1.o t2.o t3.o
	$(CC) $(CFLAGS) $^ -o $@
M
made() { make -s CC="$CC" CFLAGS="$ARCH -O2 -Wno-deprecated -MD" trans3; }
check "make" made && check "... runs" runs trans3
sed -i 's/x + 100/x + 101/' t3.c; touch -d '1 minute' t3.c
check "make after a change in the last file" made && check "... takes it over" test_must_fail 1 ./trans3
sed -i 's/x + 101/x + 100/' t3.c; cc -c t3.c
check "... and the dependencies" has t3.d 't3.o: t3.c'
cat >crit.c <<'C'
#pragma omp begin declare target
int held, most;
void enter(void)
{
    #pragma omp critical(x)
    { int h = ++held; if (h > most) most = h; held--; }
}
#pragma omp end declare target
C
cat >crit2.c <<'C'
#include <stdio.h>
#pragma omp begin declare target
extern int held, most;
void enter(void);
#pragma omp end declare target
int main(void)
{
    int n = 0;
    #pragma omp target parallel for num_threads(128) reduction(+:n) map(tofrom: n)
    for (int i = 0; i < 500; i++)
        if (i & 1) { enter(); n++; }
        else
            #pragma omp critical(x)
            { int h = ++held; if (h > most) most = h; held--; n++; }
    #pragma omp target update from(most)
    return most == 1 && n == 500 ? puts("OK"), 0 : (printf("%d %d\n", most, n), 1);
}
C
links "one lock for a name" critical crit.c crit2.c && check "... with any schedule" runs_any critical

# Sixty static functions of one name in each of three files, and kernels with device code of their own: LLVM numbers what has a name already,
# both when it links the files and when it replaces a function.
sixty() {
    seq 60 | sed "s/.*/static int __attribute__((noinline)) f&(int x) { return x + $2; }/"
    printf '#pragma omp begin declare target\nint %s(int x) { return 0' "$1"; seq 60 | sed 's/.*/ + f&(x)/'
    printf ';}\n#pragma omp end declare target\n'
}
for f in 1 2 3; do sixty sixty$f $f >sixty$f.c; done
cat >>sixty1.c <<'C'
#include <stdio.h>
int sixty2(int), sixty3(int);
#pragma omp declare target enter(sixty2, sixty3)
#define REGION(n, value) \
    _Pragma("omp target map(tofrom: r)") { \
        _Pragma("omp parallel num_threads(2)") _Pragma("omp single") r += value; \
        r++; \
    }
int main(void)
{
    int r = 0;
    REGION(0, sixty1(0))
    REGION(1, sixty1(0))
    REGION(2, sixty1(0))
    REGION(3, sixty2(0) + sixty3(0) + sixty1(0))
    return r == 60 * 9 + 4 ? puts("OK"), 0 : (printf("%d\n", r), 1);
}
C
links "static functions that LLVM numbers" sixty -O2 -fompgpu-mode=generic sixty1.c sixty2.c sixty3.c

# ---------------------------------------------------------------- nothing to link, nothing paid
check "a program without cross references" cc -v other.c k3.c -c && "$CC" $ARCH -v other.o -shared -o o.so 2>err; check "... is linked once" sh -c '[ "$(grep -c -e "/ld\" .* -o" -e "/ld .* -o" err)" = 1 ]'
check "... twice with" sh -c "'$CC' $ARCH -v main.o lib.o -o ab 2>err; [ \"\$(grep -c -e '/ld\" .* -o' -e '/ld .* -o' err)\" -ge 2 ]"

# ---------------------------------------------------------------- what is missing
printf 'int twice(int x) { return 2 * x; }\nint first(int x) { return twice(x); }\n' >plain.c
cat >use.c <<'C'
int twice(int);
int main(void)
{
    int x = 3;
    #pragma omp target map(x)
    x = twice(x);
    return x != 6;
}
C
cc -c use.c plain.c
fails "a function without declare target" "use.c:6: error: .*'twice'.*'main_5' (use.c:5).*declare target" use.o plain.o
fails "... in one command" "use.c:6: error: .*'twice'.*'main_5' (use.c:5)" use.c plain.c
fails "... through another function" "t2.c:3: error: .*'second'.*'main_7' (t1.c:7).*'first'" t1.o t2.o -xc - <<'C'
int second(int x) { return x; }
C
printf '#pragma omp begin declare target\nint f(int);\nint (*table[])(int) = { f };\n#pragma omp end declare target\nint main(void) { return 0; }\n' >table.c
printf 'int f(int x) { return x; }\n' >f.c
fails "a function that a variable's initialiser needs" "error: .*'f'.*'table'" table.c f.c
printf '#pragma omp begin declare target\nlong first(long x) { return x; }\n#pragma omp end declare target\n' >f.c
fails "declared in another way" "error: .*'first'.*'t1.c'.*'f.c'" t1.o f.c
check "a function that no file has" test_must_fail 1 cc use.o -o no; cp .log err; check "... ld's error" has err "undefined reference to .twice"
cc -fPIC -shared clash.c -o libclash.so
fails "a function of a shared library" "not a shared library" use.o ./libclash.so
echo keep >no; check "-o is left alone" test_must_fail 1 cc use.o plain.o -o no && check "... " grep -q keep no; rm no
cp t1.o old.o
at=$(readelf -SW old.o | sed -n 's/.*\.ompgpu\.image *PROGBITS *[0-9a-f]* *\([0-9a-f]*\) .*/\1/p')
printf '\001' | dd of=old.o bs=1 seek=$((0x$at + 8)) conv=notrunc 2>dd.log
fails "an object of another version" "error: .*version 1.*version" old.o t2.o t3.o
if [ -z "${OMPGPU_SANITIZE:-}" ]; then
    lib=$(dirname "$(dirname "$CC")")/lib
    "$CLANG" -fopenmp main.o lib.o -L"$lib" -lompgpu -Wl,-rpath,"$lib" -o plain
    check "plain clang: runs on the host" sh -c '[ "$(./plain 2>err)" = OK ]'
    check "... says so once" sh -c 'grep -q "warning.*main.c uses device code of other files and was not device-linked: link with ompgpu-cc" err && [ "$(grep -c "runs on the host" err)" = 1 ]'
    check "... MANDATORY" sh -c 'OMP_TARGET_OFFLOAD=MANDATORY ./plain 2>err; [ $? != 0 ] && grep -q "not device-linked" err'
else skip "plain clang" "libompgpu.so needs the run-time of the sanitizers"; fi

# ---------------------------------------------------------------- devices
if [ "$ARCH" = --gpu-arch=emu ]; then
    "$CC" --gpu-arch=sm_80 -c t2.c -o t2gpu.o && "$CC" --gpu-arch=sm_80 -c t1.c -o t1gpu.o
    fails "a definer without code for the device" "'t2.c'.*--gpu-arch=sm_80" t1.o t2gpu.o t3.o
    check "users without code for the device" test_must_fail 1 "$CC" t1gpu.o t2.o t3.o --gpu-arch=emu -o no; cp .log err
    check "... says why" has err "'t1.c' was not compiled for the emulated device"
    check "PTX of several files" "$CC" --gpu-arch=sm_80,sm_90,emu -save-temps main.c lib.c -o temps
    check "... runs on the emulated device" runs temps
    check "... one text" grep -q "entry host_view_.*(" temps.device-link.sm_90.ptx
    check "... without calls that are left" lacks temps.device-link.sm_90.ptx "\.extern .func.*twice"
    if have_ptxas; then check "... and cubins" test -s temps.device-link.sm_80.cubin; else skip "cubins" "no ptxas"; fi
    "$CC" --gpu-arch=sm_80,emu -c t1.c && "$CC" --gpu-arch=sm_90,emu -c t2.c && "$CC" --gpu-arch=sm_80,emu -c t3.c
    check "GPUs are those of the objects" "$CC" t1.o t2.o t3.o -save-temps -o archs && check "..." test -e archs.device-link.sm_80.ptx
    check "--gpu-arch= of the link wins" "$CC" t1.o t2.o t3.o --gpu-arch=sm_100,emu -save-temps -o archs && check "..." test -e archs.device-link.sm_100.ptx
fi
check "-Rompgpu=all of the link" sh -c "'$CC' $ARCH t1.o t2.o t3.o -Rompgpu=all -o archs 2>err; grep -q \"t1.c:7:.*remark: region 'main_7'\" err"
cat >some.c <<'C'
#include <stdio.h>
int plus(int, int);
#pragma omp declare target(plus)
int main(void)
{
    int a[50] = { 0 };
#pragma omp target map(tofrom: a)
    {
        int base = plus(1, 2);
#pragma omp parallel for
        for (int i = 0; i < 50; i++)
            a[i] = i + base;
    }
    puts(a[49] == 52 ? "OK" : "wrong");
    return 0;
}
C
cat >others.c <<'C'
#pragma omp declare target
int plus(int a, int b) { return a + b; }
#pragma omp end declare target
void others(int *r)
{
#pragma omp target map(from: r[0:50])
    {
#pragma omp parallel for
        for (int i = 0; i < 50; i++)
            r[i] = i;
        r[0]++;
    }
}
C
for modes in "generic auto" "auto generic" "generic spmd"; do
    cc -O2 -fompgpu-mode="${modes% *}" -c some.c -o some.o
    cc -O2 -fompgpu-mode="${modes#* }" -c others.c -o others.o
    links "files with -fompgpu-mode= $modes" modes -O2 some.o others.o
done
check "-fompgpu-mode=spmd of the link" cc -fompgpu-mode=spmd main.o lib.o -o spmd; cp .log err
check "no temporary files are left" sh -c "! ls -A . | grep '\.tmp$'"
finish
