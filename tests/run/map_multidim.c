/* multi-dimensional arrays: whole, sections of the first dimension, pointers to arrays, 3-D */
#include "check.h"

static void rows(int (*m)[7], int n)         /* a pointer to rows */
{
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: m[0:n])
    for (int i = 0; i < n; i++)
        for (int j = 0; j < 7; j++)
            m[i][j] += i * j;
}

static void param(int m[][7], int n)
{
#pragma omp target teams distribute parallel for map(tofrom: m[1:n - 1][0:7])
    for (int i = 1; i < n; i++)
        for (int j = 0; j < 7; j++)
            m[i][j] *= 2;
}

int main(void)
{
    int m[6][7], on = 0;
    double t[3][4][5];

    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++)
            m[i][j] = i + j;
    rows(m, 6);
    param(m, 6);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++)
            CHECK_EQ(m[i][j], (i + j + i * j) * (i ? 2 : 1));
#pragma omp target map(tofrom: m[2:3][:]) map(from: t) map(tofrom: on)
    {
        on = ON_DEVICE;
        for (int i = 2; i < 5; i++)
            for (int j = 0; j < 7; j++)
                m[i][j] = sizeof m[i] / sizeof *m[i];
        for (int i = 0; i < 3; i++)
            for (int j = 0; j < 4; j++)
                for (int k = 0; k < 5; k++)
                    t[i][j][k] = i + 0.5 * j + 0.25 * k;
    }
    CHECK(on);
    for (int i = 0; i < 6; i++)
        for (int j = 0; j < 7; j++)
            CHECK_EQ(m[i][j], i >= 2 && i < 5 ? 7 : (i + j + i * j) * (i ? 2 : 1));
    CHECK_EQ(t[2][3][4], 4.5);
#pragma omp target map(tofrom: t[1][2:1][1:3])
    t[1][2][3] = t[1][2][1] + 10;
    CHECK_EQ(t[1][2][3], 12.25);
#pragma omp target teams distribute parallel for collapse(3)
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 5; k++)
                t[i][j][k] = sizeof t;
    for (int k = 0; k < 60; k++)
        CHECK_EQ(t[0][0][0], sizeof t);
    return RESULT;
}
