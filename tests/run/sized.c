/* types of the device text that take the size of variables of the host */
#include "check.h"
static const int table[] = { 1, 2, 3 };
static double weights[7], last;
extern char names[][4];
char names[5][4];
enum { N = sizeof table / sizeof *table, M = sizeof(weights) / sizeof(double) };
typedef char bytes[sizeof names];
static struct { int key; const char *name; } options[] = { { 1, "a" }, { 2, "b" } }, *first = options;
enum { OPTIONS = sizeof options / sizeof *options };
struct holder { char at[sizeof last]; };
_Static_assert(sizeof(weights) > sizeof(last), "");

int main(void)
{
    int got[6] = { 0 };
    #pragma omp target map(tofrom: got)
    {
        int a[N];
        enum { K = sizeof table / sizeof *table };
        for (int i = 0; i < N; i++)
            a[i] = i + 1;
        got[0] = a[N - 1];
        got[1] = M;
        got[2] = sizeof(bytes);
        got[3] = sizeof(struct holder);
        got[4] = K;
        got[5] = OPTIONS;
    }
    CHECK(got[0] == 3 && got[1] == 7 && got[2] == 20 && got[3] == 8 && got[4] == 3 && got[5] == 2);
    weights[0] = last = table[0] + names[0][0] + first->key;
    return RESULT;
}
