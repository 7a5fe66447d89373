/* shadowing: a captured variable and another of the same name inside, members, labels, tags and macros of that name */
#include "check.h"

static int v = 1000;                  /* a global shadowed by the local below */
struct v { int v; };
enum { E = 3 };
#define TWICE(n) ((n) + (n))

static int get(void) { return v; }

int main(void)
{
    int v = 5, w = 6, out[8] = { 0 }, on = 0, n = 2;
    struct v box = { 50 };

#pragma omp target map(tofrom: v, w, out, on, box)
    {
        on = ON_DEVICE;
        struct v lit = { .v = 2 };
        out[0] = v;
        {
            int v = 7;               /* hides the captured one */
            out[1] = v;
            v++;
            {
                double v = 0.5;
                out[2] = (int)(v * 4);
            }
            out[3] = v;
        }
        v += 1;
        out[4] = v + box.v + lit.v;
        for (int v = 0; v < 3; v++)
            out[5] += v;
        out[6] = get() + TWICE(v);
        int w = v * 10;              /* same scope level as the region, initialised from a captured one */
        out[7] = w;
        goto v;
    v:
        box.v = TWICE(n) + E;
        struct v *p = &box;
        p->v += (int)sizeof(struct v);
    }
    CHECK(on);
    int want[8] = { 5, 7, 2, 8, 58, 3, 1012, 60 };
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], want[i]);
    CHECK(v == 6 && w == 6 && box.v == 11);
#pragma omp target teams distribute parallel for map(tofrom: out) firstprivate(v)
    for (int w = 0; w < 8; w++) {
        int n = w + v;
        out[w] = n;
        int v = n * 2;
        out[w] += v;
    }
    for (int i = 0; i < 8; i++)
        CHECK_EQ(out[i], 3 * (i + 6));
    {
        float v = 1.5f;              /* two variables of one name in two regions of one function */
#pragma omp target map(tofrom: v)
        v *= 2;
        CHECK_EQ(v, 3);
    }
    return RESULT;
}
