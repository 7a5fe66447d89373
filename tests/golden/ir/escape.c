/* Which locals of sequential code move to team-shared storage: functions yes_… and no_…, each with one array of 8 (or 9) in question. */
#define NO __attribute__((noinline))
struct box { int *p; int n; };
static int *kept;
struct box *outside;
int printf(const char *, ...);
static void body(void *p) { struct box *b = p; b->p[__ompgpu_thread_id() % b->n] += 1; }
static void run(struct box *b) { __ompgpu_parallel(body, b, 0, 1); }
static void plain(void *p) { (void)p; }
static void go(void) { __ompgpu_parallel(plain, 0, 0, 1); }     /* a region that gets nothing */
NO static void keeps(int *p) { kept = p; }
NO static void keeps_deep(int *p, int n) { if (n) keeps_deep(p + 1, n - 1); else keeps(p - 1); }
NO static void uses(int *p) { p[1] = p[0] + 1; }
NO static int *same(int *p, int n) { return n ? p + n : p; }
NO static int sum(const int *p, int n) { return n ? p[0] + sum(p + 1, n - 1) : 0; }
NO static void by_pointer_keeps(int **pp) { kept = *pp; }

NO static int yes_captured(int n) { int a[8] = { n }; struct box b = { a, 8 }; run(&b); return a[n & 7]; }
NO static int yes_stored(int n) { int a[8] = { n }; kept = a; go(); return a[n & 7]; }
NO static int yes_passed(int n) { int a[8] = { n }; keeps(a + 2); go(); return a[n & 7]; }
NO static int yes_passed_deep(int n) { int a[8] = { n }; keeps_deep(a, n); go(); return a[n & 7]; }
NO static int yes_in_global_struct(int n) { int a[8] = { n }; outside->p = a + n; go(); return a[n & 7]; }
NO static int yes_returned(int n) { int a[8] = { n }; int *p = same(a, n); kept = p; go(); return a[n & 7]; }
NO static int yes_selected(int n) { int a[8] = { n }, *p = n > 3 ? a : kept; kept = p; go(); return a[n & 7]; }
NO static int yes_as_integer(int n) { int a[8] = { n }; outside->n = (int)(unsigned long)a; go(); return a[n & 7]; }
NO static int yes_exchanged(int n) { int a[8] = { n }; __atomic_exchange_n(&kept, (int *)a, __ATOMIC_RELAXED); go(); return a[n & 7]; }
NO static int yes_through_pointer(int n) { int a[8] = { n }, *p = a; by_pointer_keeps(&p); go(); return a[n & 7]; }
NO static int yes_unknown(int n, void (*f)(int *)) { int a[8] = { n }; f(a); go(); return a[n & 7]; }

NO static int no_value(int n) { int a[8] = { n }; struct box b = { 0, a[n & 7] }; run(&b); return a[n & 3]; }
NO static int no_compared(int n) { int a[8] = { n }; go(); return a[n & 7] + ((int *)a == kept); }
NO static int no_printed(int n) { int a[8] = { n }; printf("%p %d\n", (void *)a, a[1]); go(); return a[n & 7]; }
NO static int no_used(int n) { int a[8] = { n }; uses(a); go(); return a[n & 7]; }
NO static int no_recursive(int n) { int a[8] = { n }; go(); return sum(a, 8) + a[n & 7]; }
NO static int no_copied(int n) { int a[8] = { n }; __builtin_memcpy(outside, a, sizeof(int)); go(); return a[n & 7]; }
NO static int no_region(int n) { int a[8] = { n }; keeps(a); return a[n & 7]; }     /* nothing starts while it lives */
NO static int no_atomic(int n) { int a[8] = { n }; __atomic_fetch_add(&a[n & 7], 1, __ATOMIC_RELAXED); go(); return a[n & 7]; }
NO static int no_loop(int n) { int a[8] = { n }, *p = a, s = 0; for (; p != a + 8; p++) s += *p; go(); return s + a[n & 7]; }
NO static int no_inner(int n) { int a[8] = { n }; struct box b = { a, 8 }; uses(b.p); go(); return a[n & 7]; }

REGION(all)
{
    (void)env, (void)x;
    y[0] = yes_captured(n) + yes_stored(n) + yes_passed(n) + yes_passed_deep(n) + yes_in_global_struct(n) + yes_returned(n) + yes_selected(n) +
           yes_as_integer(n) + yes_exchanged(n) + yes_through_pointer(n) + yes_unknown(n, n > 1 ? uses : keeps);
    y[1] = no_value(n) + no_compared(n) + no_printed(n) + no_used(n) + no_recursive(n) + no_copied(n) + no_region(n) + no_atomic(n) + no_loop(n) + no_inner(n);
}
GENERIC(all, 1, "target")
