#!/bin/sh
# A kernel costs what it costs alone: the same text with neighbours in the file that have other regions, ask for levels, call the same functions
# from inside of regions, start regions that nobody knows.  Instructions, barriers and shared bytes by the PTX, registers by ptxas.
# shellcheck disable=SC1091,SC2086
. tests/lib.sh

# file NAME FIRST NEIGHBOURS: FIRST is the body of the target region in first(), NEIGHBOURS are functions; with and without them
file() {
    for f_with in alone beside; do
        { cat <<C
#include <omp.h>
int table[64];
#pragma omp declare target
static void shared_work(int *a, int n) {
    #pragma omp parallel for
    for (int i = 2; i < n; i++) a[i] += n;
}
__attribute__((noinline)) static int plain(const int *a) { int s = 0; for (int i = 0; i < 64; i++) s += a[i] ^ i; return s; }
#pragma omp end declare target
static void first(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    {
        r[0] = 1;
$2
    }
}
C
        [ $f_with = alone ] || printf '%s\n' "$3"
        echo 'int main(int argc, char **argv) {'
        echo '    int r[64] = { 0 }; first(r, 10 * argc);'
        [ $f_with = alone ] || echo '    neighbours(r, 10 * argc);'
        echo '    return r[0] != 1; }'; } >"$1-$f_with.c"
    done
    # shellcheck disable=SC2043
    for f_with in alone beside; do
        check "$1, $f_with: PTX" "$CC" --gpu-arch=sm_75 -O2 -fompgpu-mode=generic -Rompgpu=all --emit=ptx "$1-$f_with.c" -o "$1-$f_with.ptx"
        cp "$T/.log" "$1-$f_with.say"
    done
}

# figures NAME: of the kernel first_N and all that it calls: instructions, barriers, indirect calls, shared variables; registers and shared bytes by ptxas
cat >count.awk <<'A'
/^\.(visible \.|weak \.)?(entry|func)/ {
    name = $0; sub(/.*(entry|func) +(\([^)]*\) )?/, "", name); sub(/[^A-Za-z0-9_$].*/, "", name)
    inside = 0; next
}
/^[{]/ { inside = 1; next }
inside && /^}/ { inside = 0; next }
inside && /^[\t ]+[@a-z]/ && !/^[\t ]+\./ { lines[name]++ }
inside && /barrier|bar\.sync/ { barriers[name]++ }
inside && /callprototype|prototype_[0-9]+ *;/ { indirect[name]++ }
inside { n = split($0, w, /[^A-Za-z0-9_$]+/); for (i = 1; i <= n; i++) word[name, w[i]] }
END {
    for (n in lines) if (n ~ /^first_/ || n ~ /_first_/) root = n
    todo[root]; done_n = 1; queue[0] = root
    for (i = 0; i < done_n; i++) {
        f = queue[i]; total += lines[f]; b += barriers[f]; c += indirect[f]
        for (n in lines) if (!(n in todo) && (f, n) in word) { todo[n]; queue[done_n++] = n }
    }
    printf "%d instructions, %d barriers, %d indirect calls, %d functions\n", total, b, c, done_n
}
A
figures() {
    for f_with in alone beside; do
        awk -f count.awk "$1-$f_with.ptx" >"$1-$f_with.count"
        sed -n "s/.*remark: region 'first_[0-9]*': \(.*\)/\1/p" "$1-$f_with.say" >>"$1-$f_with.count"
        if have_ptxas; then
            ptxas -arch=sm_75 -v "$1-$f_with.ptx" -o "$1.cubin" 2>&1 |
                awk '/Compiling entry|Function properties/ { on = /first_/ }
                     on && /Used/ { sub(/, [0-9]+ bytes cmem.*/, ""); sub(/.*Used/, "Used"); print }' >>"$1-$f_with.count"
        fi
    done
    check "$1: as if it were alone" same "$1-alone.count" "$1-beside.count"
    check "$1: no indirect call" has "$1-beside.count" ' 0 indirect calls'
    check "$1: its state machine knows one region" has "$1-beside.say" "region 'first_.*[^0-9]1 known parallel region \[OMP131\]"
}

one='        #pragma omp parallel for
        for (int i = 2; i < n; i++) r[i] = r[0] + i;'
file others "$one" 'static void neighbours(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    {
        double heavy[8] = { 0 };
        #pragma omp parallel for
        for (int i = 2; i < n; i++)
            for (int k = 0; k < 8; k++) {
                #pragma omp atomic
                heavy[k] += r[i] * k;
            }
        r[2] = (int)heavy[n & 7];
        #pragma omp parallel for schedule(dynamic)
        for (int i = 2; i < n; i++) r[i] = 5;
        omp_set_num_threads(n);
        #pragma omp parallel
        {
            #pragma omp atomic
            r[2 + omp_get_thread_num() % 8] += n * r[0];
        }
    }
}'
figures others
check "others: the neighbour knows its three" has others-beside.say "region 'neighbours_.*[^0-9]3 known parallel regions.*OMP131"

file levels "$one" 'static void neighbours(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    {
        #pragma omp parallel
        {
            #pragma omp atomic write
            r[2] = omp_get_level();
            #pragma omp parallel num_threads(2)
            #pragma omp atomic
            r[3 + omp_get_level()] += omp_get_ancestor_thread_num(1) + omp_get_team_size(1) + omp_get_max_threads();
        }
    }
}'
figures levels

file unknown "$one" '#pragma omp declare target
static int work(int *a) {
    #pragma omp parallel for
    for (int i = 2; i < 64; i++) a[i]++;
    return 1;
}
static int idle(int *a) { return a[0]; }
#pragma omp end declare target
static void neighbours(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    {
        int (*f)(int *) = n > 15 ? work : idle;
        r[2] = f(r);
    }
}'
figures unknown

# Functions that no kernel calls, and one whose address is taken and that nobody calls through it.
file nobody "$one" 'void unused(int *, int);
int compared(int *);
#pragma omp begin declare target
void unused(int *a, int n) {
    #pragma omp parallel num_threads(3)
    {
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i] += omp_get_level();
    }
}
int compared(int *a) {
    #pragma omp parallel for
    for (int i = 0; i < 9; i++) a[i] = 0;
    return 1;
}
int (*here)(int *) = compared;
#pragma omp end declare target
static void neighbours(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    { r[5] = here == compared; }
}'
figures nobody
check "nobody: a kernel that compares an address has no state machine" has nobody-beside.say "region 'neighbours_.*generic mode.*OMP130"

# The same functions, from sequential code and from inside of regions.
calls='        shared_work(r, n);
        r[1] = plain(r);'
file same "$calls" 'static void neighbours(int *r, int n) {
    #pragma omp target teams num_teams(1) map(tofrom: r[:64]) firstprivate(n)
    {
        int sum = 0;
        #pragma omp parallel num_threads(4) reduction(+: sum)
        {
            shared_work(r + 16 * omp_get_thread_num(), n);
            #pragma omp barrier
            sum += plain(r) + omp_get_level();
        }
        r[1] = sum;
    }
    #pragma omp target teams distribute parallel for map(tofrom: r[:64])
    for (int i = 2; i < 64; i++) r[i] += plain(table) + omp_get_num_threads();
}'
figures same

# SPMD neighbours of other kinds, and -g and -O0
file spmd "$one" 'static void neighbours(int *r, int n) {
    #pragma omp target teams distribute parallel for map(tofrom: r[:64]) reduction(+: n)
    for (int i = 0; i < 64; i++) { n += r[i]; r[i]++; table[i] = omp_get_level(); }
    #pragma omp target teams distribute parallel for map(tofrom: r[:64])
    for (int i = 0; i < 64; i++) r[i]++;
}'
figures spmd
# A thread's own state becomes a local in every set, not only in the first (passes/state.c).
check "same: the SPMD neighbour keeps nothing in shared memory" has same-beside.say "region 'neighbours_.*SPMD mode by its form.*; no shared memory"
file nested "$one" 'static void neighbours(int *r, int n) {
    #pragma omp target teams distribute parallel for map(tofrom: r[:64])
    for (int i = 0; i < 64; i++) {
        #pragma omp parallel num_threads(n)
        r[i] += omp_get_level();
    }
}'
figures nested
check "nested: the SPMD neighbour keeps nothing in shared memory" has nested-beside.say "region 'neighbours_.*SPMD mode by its form.*; no shared memory"

# A local of a function that two sets have is shared in both, and said once.
"$CC" $ARCH -O2 -fompgpu-mode=generic -Rompgpu=all -c -o local.o -xc - >local 2>&1 <<'C'
static void sum(int *a, int n) {
    int s = 0;
    #pragma omp parallel for reduction(+: s)
    for (int i = 0; i < n; i++) s += a[i];
    a[0] = s;
}
void f(int *a, int n) {
    #pragma omp target map(tofrom: a[:9])
    { a[1] = n; sum(a, 9); }
    #pragma omp target map(tofrom: a[:9])
    {
        sum(a, 8);
        #pragma omp parallel for
        for (int i = 0; i < n; i++) a[i]++;
    }
}
C
check "a local in two sets: two state machines" has local 'f_8.*for 1 known parallel region ' 'f_10.*for 2 known parallel regions'
check "… one remark" test "$(grep -c "2:9: remark: .*'s' .*OMP11[12]" local)" = 1

# What has no definition is said once, however many kernels miss it.
cat >missing.c <<'C'
int nowhere(int);
void f(int *a) {
    #pragma omp target map(tofrom: a[:9])
    {
        a[0] = nowhere(1);
        #pragma omp parallel for
        for (int i = 0; i < 9; i++) a[i]++;
    }
    #pragma omp target teams distribute parallel for map(tofrom: a[:9])
    for (int i = 0; i < 9; i++) a[i] += nowhere(i);
}
int main(void) { int a[9]; f(a); return 0; }
C
echo 'int nowhere(int i) { return i; }' >host.c
for f_arch in emu sm_75; do
    check "a missing function is an error, $f_arch" test_must_fail 1 "$CC" --gpu-arch=$f_arch missing.c host.c -o missing
    cp .log log
    check "… said once, $f_arch" test "$(grep -c "error: function 'nowhere'" log)" = 1
done

# Growth has a limit: kernels that share much stay together, and know all of each other's regions.
awk 'BEGIN {
    print "#pragma omp begin declare target\n__attribute__((noinline)) static void big(int *a, int n) {\n#pragma omp parallel for\nfor (int i = 0; i < n; i++) {"
    for (k = 0; k < 200; k++) printf "a[i] = (a[i] ^ %d) + (a[i] >> %d);\n", 3 * k + 1, k % 7 + 20
    print "} }\n#pragma omp end declare target"
    for (k = 0; k < 12; k++)
        printf "static void k%d(int *a) {\n#pragma omp target map(tofrom: a[:40])\n{ a[0] += %d; big(a, 40);\n#pragma omp parallel for\n" \
               "for (int i = 0; i < 40; i++) a[i] ^= %d; } }\n", k, k, k
    print "int main(void) { int a[40], b[40], bad = 0; for (int i = 0; i < 40; i++) a[i] = b[i] = i;"
    for (k = 0; k < 12; k++) printf "k%d(a); b[0] += %d; big(b, 40); for (int i = 0; i < 40; i++) b[i] ^= %d;\n", k, k, k
    print "for (int i = 0; i < 40; i++) bad += a[i] != b[i];\nreturn bad; }"
}' >big.c
check "much in common: compiles" "$CC" $ARCH -O1 -fompgpu-mode=generic -Rompgpu=all big.c -o big && cp .log log
check "much in common: some have their own" has log '[^0-9]2 known parallel regions.*OMP131'
check "… and not all" test "$(grep -c '[^0-9]2 known parallel regions.*OMP131' log)" -lt 10
check "much in common: runs" env OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_EMU_SCHEDULE=random:2 ./big

# -O0 -g and -O2 -g, and with OMPGPU_LONG -O0
files="others same unknown"
for flags in ${OMPGPU_LONG:+-O0} "-O0 -g" "-O2 -g"; do
    [ -n "${OMPGPU_LONG:-}" ] || [ "$flags" = "-O0 -g" ] || files=others
    for f in $files; do
        if have_ptxas; then check "$f $flags: for a GPU" "$CC" --gpu-arch=sm_75 $flags -fompgpu-mode=generic -c $f-beside.c -o x.o
        else skip "$f $flags: for a GPU" "no ptxas"; fi
        check "$f $flags: compiles" "$CC" $ARCH $flags -fompgpu-mode=generic $f-beside.c -o $f && check "$f $flags: runs" env OMP_TARGET_OFFLOAD=MANDATORY OMPGPU_EMU_SCHEDULE=random:5 ./$f
    done
done
finish
