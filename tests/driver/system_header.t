#!/bin/sh
# system_header.t - functions of system headers that nothing mentions are not in the host text; all others are, whatever mentions them.
. tests/lib.sh
mkdir include
cat >include/things.h <<'C'
static __inline int unneeded(int i) { return i + 1; }
static __inline int also_unneeded(int i)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic pop
    return unneeded(i);


}
static int by_other(void) { return 1; }
static __inline int called(void) { return by_other(); }
static __inline void at_end(int *p) { ++*p; }
static int by_pointer(void) { return 2; }
static double for_its_type(void) { return 0; }
static int by_name(void) { return 4; }
static int started;
__attribute__((constructor)) static void start(void) { started = 1; }
static __attribute__((__constructor__)) void start_too(void) { started |= 2; }
static struct tag *declares(void) { return 0; }
static int on_both(int i) { return i * 3; }
#define IN_MACRO static int of_macro(void) { return 8; } static int of_macro_too(void) { return 9; }
IN_MACRO
C
cat >app.c <<'C'
#include <things.h>
#include <stdio.h>
static int (*pointer)(void) = by_pointer;
int other(void) __attribute__((alias("by_name")));
int use(struct tag *);
struct tag { int i; };
int use(struct tag *t) { return t->i; }
int main(void)
{
    int ended = 0, x = 0, on = 0;
    __typeof__(for_its_type()) half = 0.5;
    struct tag t = { 5 };
    {
        int local __attribute__((cleanup(at_end))) = 0;
        (void)local;
    }
    { __attribute__((cleanup(at_end))) int local = 1; ended += local; }
#pragma omp target map(tofrom: x)
    x = on_both(2);
    printf("%d %d %d %g %d %d %d %d %d line %d\n", called(), pointer(), other(), half, started, use(&t), ended, x + on, of_macro_too(), __LINE__);
    return 0;
}
C
check "compiles" "$CC" -O2 -isystem include --gpu-arch=emu app.c -o app
check "what is mentioned is there" sh -c '[ "$(OMP_TARGET_OFFLOAD=MANDATORY ./app)" = "1 2 4 0.5 3 5 1 6 9 line 20" ]'
check "host text" "$CC" -O2 -isystem include --gpu-arch=emu --emit=host-c app.c -o app.host.c
check "unneeded ones are not in it" lacks app.host.c unneeded
check "those that are named in a string are" has app.host.c by_name
finish
