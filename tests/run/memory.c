/* memcpy, memset, memmove, memcmp, strlen and friends, and assert that holds */ /* also: -O0 -g */
#include <assert.h>
#include "check.h"

struct big { int v[100]; };

int main(void)
{
    int a[100], b[100], on = 0, r[6] = { 0 };
    struct big x, y;
    char text[32] = "abc";

    for (int i = 0; i < 100; i++)
        a[i] = x.v[i] = i * 3;
#pragma omp target map(to: a, x) map(from: b, y) map(tofrom: on, r, text)
    {
        on = ON_DEVICE;
        memset(b, 0, sizeof b);
        memcpy(b + 10, a + 20, 30 * sizeof *b);
        memmove(b + 12, b + 10, 30 * sizeof *b);
        y = x;
        y.v[5] = -1;
        r[0] = memcmp(a, x.v, sizeof a) == 0;
        r[1] = memcmp(y.v, x.v, sizeof a) < 0 || memcmp(y.v, x.v, sizeof a) > 0;
        r[2] = (int)strlen(text);
        assert(a[1] == 3);
        memset(text + 3, '.', 4);
        text[7] = 0;
        assert(on && "a message");
        r[3] = strcmp(text, "abc....") == 0;
        char local[8] = { 0 };
        memcpy(local, text, 7);
        r[4] = local[6];
    }
    CHECK(on && r[0] && r[1] && r[3]);
    CHECK_EQ(r[2], 3);
    CHECK_EQ(r[4], '.');
    CHECK(!strcmp(text, "abc...."));
    int h[100] = { 0 };
    memcpy(h + 10, a + 20, 30 * sizeof *h);
    memmove(h + 12, h + 10, 30 * sizeof *h);
    CHECK(!memcmp(h, b, sizeof h));
    CHECK(y.v[5] == -1 && y.v[99] == 297);
#pragma omp target teams distribute parallel for map(to: a) map(from: b)
    for (int i = 0; i < 100; i++) {
        assert(i >= 0 && i < 100);
        memcpy(&b[i], &a[99 - i], sizeof *b);
    }
    for (int i = 0; i < 100; i++)
        CHECK_EQ(b[i], a[99 - i]);
    return RESULT;
}
