/* regions in C89, where inline is no keyword */ /* flags: -std=c89 -pedantic-errors -Wno-long-long */
extern int printf(const char *, ...);
int main(void)
{
    int i, s = 0, inline = 1;
#pragma omp target teams distribute parallel for map(tofrom: s) reduction(+: s)
    for (i = 0; i < 100; i++) s += i * inline;
    if (s != 4950) printf("%d\n", s);
    return s != 4950;
}
