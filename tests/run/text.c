/* text that looks like something else: strings, comments, continuation lines, digraphs, _Pragma, macros around directives */
#include "check.h"

#define PAR(...) _Pragma("omp target parallel for map(tofrom: a)") __VA_ARGS__
#define MAPPED map(tofrom: a, on)
#define LIMIT 10
#define ADD(i) a[i] += 1
#define DO_PRAGMA(x) _Pragma(#x)

int main(void)
{
    int a[LIMIT] = { 0 }, on = 0;
    const char *s = "#pragma omp target\n", c = '#';

#pragma omp target map(tofrom: a, on) \
    /* a comment \
       over lines */ map(to: s[0:1]) // and another
    {
        const char *t = "#pragma omp parallel for";  /* #pragma omp barrier */
        on = ON_DEVICE; // } #pragma omp end
        a[0] = t[0] == '#' && c == '#' ? 1 : 0;
        if ("}{"[0] == '}') { a[1] = '{' == 123; }
    }
    CHECK(on && a[0] && a[1] && s[0] == c);
    a[0] = a[1] = 0;
#pragma omp target teams distribute parallel for MAPPED num_teams(LIMIT / 5)
    for (int i = 0; i < LIMIT; i++)
        ADD(i);
    PAR(for (int i = 0; i < LIMIT; i++) ADD(i);)
    PAR(for (int i = 0; i < LIMIT; i++) { ADD(i); }) PAR(for (int i = 0; i < LIMIT; i++) ADD(i);)
    DO_PRAGMA(omp target teams distribute parallel for MAPPED)
    for (int i = 0; i < LIMIT; i++) ADD(i);
    %:pragma omp target map(tofrom: a)
    for (int i = 0; i < LIMIT; i++) <% ADD(i); %>
#	pragma	omp	target	map ( tofrom : a [ 0 : LIMIT ] )
	{ for (int i = 0; i < LIMIT; i++) a[i]++; }
    if (on)
#pragma omp target map(tofrom: a)
        a[0]--;
    else
        a[0] = 1000;
    for (int i = 1; i < LIMIT; i++)
        CHECK_EQ(a[i], 7);
    CHECK_EQ(a[0], 6);
    return RESULT;
}
