/* goto *p in regions and in functions of the device: an interpreter, tables of differences, with barriers between */ /* also: -O0 -g, -O2 -fompgpu-mode=generic, -O2 -g */
#include "check.h"
enum { ADD, TWICE, LOOP, WAIT, END };
#pragma omp declare target
static int interpret(const unsigned char *code, int n)
{
    static const void *const jump[] = { &&add, &&twice, &&loop, &&wait, &&end };
    int value = 0, at = 0;
    goto *jump[code[at++]];
add:
    value += 3;
    goto *jump[code[at++]];
twice:
    value *= 2;
    goto *jump[code[at++]];
loop:
    if (n-- > 0)
        at = 0;
    goto *jump[code[at++]];
wait:;
#pragma omp barrier
    goto *jump[code[at++]];
end:
    return value;
}

static int by_difference(int n)
{
    static const int offset[] = { &&zero - &&zero, &&one - &&zero, &&many - &&zero };
    goto *(&&zero + offset[n > 2 ? 2 : n]);
zero:
    return 10;
one:
    return 11;
many:
    return 12;
}
#pragma omp end declare target

static const unsigned char calm[] = { ADD, TWICE, LOOP, ADD, END }, waits[] = { ADD, WAIT, TWICE, LOOP, WAIT, END };

static int on_host(int n, int last)
{
    int value = 0;
    for (; n >= 0; n--)
        value = (value + 3) * 2;
    return value + last;
}

static void in_functions(void)
{
    int r[100], w[70], d[4];
#pragma omp target teams distribute parallel for map(from: r) map(to: calm)
    for (int i = 0; i < 100; i++)
        r[i] = interpret(calm, i % 9);
    for (int i = 0; i < 100; i++)
        CHECK_EQ(r[i], on_host(i % 9, 3));
#pragma omp target parallel num_threads(70) map(from: w) map(to: waits)
    w[omp_get_thread_num()] = interpret(waits, 5);
    for (int i = 0; i < 70 && w[i]; i++)
        CHECK_EQ(w[i], on_host(5, 0));
#pragma omp target map(from: d)
    for (int i = 0; i < 4; i++)
        d[i] = by_difference(i);
    CHECK(d[0] == 10 && d[1] == 11 && d[2] == 12 && d[3] == 12);
}

static void in_region(void)
{
    int sum = 0, on = 0;
#pragma omp target map(tofrom: sum, on)
    {
        void *next = &&first;
        int n = 0;
    again:
        goto *next;
    first:
        on = ON_DEVICE;
        next = &&second;
        goto again;
    second:
#pragma omp parallel for num_threads(8) reduction(+: sum)
        for (int i = 0; i < 100; i++) {
            void *odd = i % 2 ? &&is : &&isnt;
            goto *odd;
        is:
            sum += i;
        isnt:;
        }
        next = ++n < 3 ? &&second : &&third;
        goto again;
    third:;
    }
    CHECK(on);
    CHECK_EQ(sum, 3 * 2500);
}

int main(void)
{
    in_functions();
    in_region();
    return RESULT;
}
