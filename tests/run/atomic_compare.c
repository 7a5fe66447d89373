/* atomic compare in all its forms, on the host and in a region: clang 22 does nothing on the host with weak, gives -1 where r is to be 1, and the old value
 * where the new one is captured */
/* also: -O0, -O2 --host-cc=gcc */
#include "check.h"
struct record { int x, a[3]; };
struct results { int n; double at[80]; };
#pragma omp declare target
static void note(struct results *to, double value) { to->at[to->n++] = value; }
static void forms(struct results *to)
{
    int X = 5, v = 77, r = 77, e = 4, *q;
    struct record S = { 5, { 1, 2, 3 } }, *P = &S;
    long l = 0, L = 3;
    _Bool b;
    char c;
    unsigned u, U = 3;
    double D = 2, w;
    float F = 3, f;
    signed char C = 5;
    short H = -3;
#pragma omp atomic compare capture
    { r = X == 5; if (r) { X = 7; } }
    note(to, r); note(to, X);
#pragma omp atomic compare capture
    { r = X == 5; if (r) { X = 8; } }
    note(to, r); note(to, X);
#pragma omp atomic compare capture
    { l = X == 7; if (l) { X = 8; } }
    note(to, l); note(to, X);
#pragma omp atomic compare capture
    { b = X == 8; if (b) { X = 9; } }
    note(to, b); note(to, X);
#pragma omp atomic compare capture
    { c = X == 9; if (c) { X = 10; } }
    note(to, c); note(to, X);
#pragma omp atomic compare capture
    { u = X == 10; if (u) { X = 11; } }
    note(to, u); note(to, X);
#pragma omp atomic compare capture
    { r = X == 3; if (r) { X = 8; } else { v = X; } }
    note(to, r); note(to, X); note(to, v);
#pragma omp atomic compare capture
    { v = X; if (X == 11) { X = 12; } }
    note(to, v); note(to, X);
#pragma omp atomic compare capture weak
    { v = X; if (X == 12) { X = 13; } }
    note(to, v); note(to, X);
#pragma omp atomic compare weak
    if (X == 13) { X = 14; }
    note(to, X);
#pragma omp atomic compare capture weak
    { v = P->x; if (P->x == 5) { P->x = 6; } }
    note(to, v); note(to, P->x);
#pragma omp atomic compare capture weak
    { v = S.a[1]; if (S.a[1] == 2) { S.a[1] = 6; } }
    note(to, v); note(to, S.a[1]);
#pragma omp atomic compare capture
    { w = D; if (D < 3) { D = 3; } }
    note(to, w); note(to, D);
#pragma omp atomic compare capture
    { if (D < 4) { D = 4; } w = D; }
    note(to, w); note(to, D);
#pragma omp atomic compare capture
    { w = D; if (D == 4) { D = 5; } }
    note(to, w); note(to, D);
#pragma omp atomic compare capture
    { v = X; X = X > 3 ? 3 : X; }
    note(to, v); note(to, X);
#pragma omp atomic compare capture fail(relaxed) acq_rel
    { v = X; if (X == 3) { X = 4; } }
    note(to, v); note(to, X);
    X = 3, D = 3;
#pragma omp atomic compare capture
    { if (X < e) { X = e; } v = X; }
    note(to, v); note(to, X);
#pragma omp atomic compare capture
    { X = X > 2 ? 2 : X; v = X; }
    note(to, v); note(to, X);
#pragma omp atomic compare capture
    { if (D < e) { D = e; } w = D; }
    note(to, w); note(to, D);
#pragma omp atomic compare capture
    { if (F > 1) { F = 1; } f = F; }
    note(to, f); note(to, F);
#pragma omp atomic compare capture
    { if (U < e) { U = e; } u = U; }
    note(to, u); note(to, U);
#pragma omp atomic compare capture
    { if (L < e) { L = e; } l = L; }
    note(to, l); note(to, L);
#pragma omp atomic compare capture
    { if (X == 2) { X = 9; } v = X; }
    note(to, v); note(to, X);
#pragma omp atomic compare capture
    { if (X == 2) { X = 11; } v = X; }
    note(to, v); note(to, X);
#pragma omp atomic compare capture
    { if (D == 4) { D = 9; } w = D; }
    note(to, w); note(to, D);
#pragma omp atomic compare capture
    { w = D; if (D == 9) { D = 1; } }
    note(to, w); note(to, D);
    
#pragma omp atomic compare capture
    { v = C; if (C < 9) { C = 9; } }
    note(to, v); note(to, C);
#pragma omp atomic compare
    if (H < -1) { H = -1; }
    note(to, H);
#pragma omp atomic compare
    H = H == -1 ? 7 : H;
    note(to, H);
    q = &S.a[2];
#pragma omp atomic compare capture
    { r = *q == 3; if (r) { *q = 8; } else { v = *q; } }
    note(to, r); note(to, S.a[2]); note(to, v);
#pragma omp atomic compare, capture, weak, fail(relaxed) seq_cst
    { v = P->a[2]; if (P->a[2] == 8) { P->a[2] = 9; } }
    note(to, v); note(to, S.a[2]);
#pragma omp atomic capture compare
    v = P->x = P->x == 6 ? 7 : P->x;
    note(to, v); note(to, S.x);
    int *p = &S.a[0], *pe = p, *pd = &S.a[1], *pv = 0;
#pragma omp atomic compare capture
    { r = p == pe; if (r) { p = pd; } else { pv = p; } }
    note(to, r); note(to, p == pd); note(to, !pv);
#pragma omp atomic compare capture
    { r = p == pe; if (r) { p = pd; } else { pv = p; } }
    note(to, r); note(to, p == pd); note(to, pv == pd);
#pragma omp atomic compare capture acq_rel
    { pv = p; if (p == pd) { p = pe; } }
    note(to, p == pe); note(to, pv == pd);
#pragma omp atomic compare capture
    { if (pe == p) { p = pd + 1; } pv = p; }
    note(to, p == pd + 1); note(to, pv == pd + 1);
#pragma omp atomic compare
    p = p == pd + 1 ? pe : p;
    note(to, p == pe);
#pragma omp atomic compare capture
    if (p == pd) { p = pe; } else { pv = p; }
    note(to, pv == pe);
    if (to->n > 3)
#pragma omp atomic compare capture
    { if (P->x < v + 2) { P->x = v + 2; } l = P->x; }
    note(to, l);
}
#pragma omp end declare target
int main(void)
{
    struct results host = { 0 }, device = { 0 };
    int on = 0;
    forms(&host);
#pragma omp target map(tofrom: device, on)
    {
        forms(&device);
        on = ON_DEVICE;
    }
    CHECK(on);
    static const double right[] = { 1, 7, 0, 7, 1, 8, 1, 9, 1, 10, 1, 11, 0, 11, 11, 11, 12, 12, 13, 14, 5, 6, 2, 6, 2, 3, 4, 4, 4, 5, 14, 3, 3, 4, 4, 4, 2, 2, 4, 4, 1, 1, 4, 4, 4, 4, 9, 9, 9, 9, 9, 9, 9, 1, 5, 9, -1, 7, 1, 8, 5, 8, 9, 7, 7, 1, 1, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 9 };
    CHECK_EQ(host.n, sizeof right / sizeof *right);
    CHECK_EQ(device.n, host.n);
    for (int i = 0; i < host.n; i++) {
        CHECK_EQ(host.at[i], right[i]);
        CHECK_EQ(device.at[i], right[i]);
    }
    return RESULT;
}
