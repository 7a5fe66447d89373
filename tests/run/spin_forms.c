/* threads that wait for another one, in loops of every form, through functions, with locks of their own and of OpenMP's: none keeps the others from going on */
/* also: -O0, -O0 -g */
#include "check.h"
enum { N = 70, WARPS = 4, ROUNDS = 3 };
#pragma omp declare target
static int look(const int *flag)
{
    int seen;
#pragma omp atomic read
    seen = *flag;
    return seen;
}
static void look_into(const int *flag, int *seen)
{
#pragma omp atomic read
    *seen = *flag;
}
static int looked(const int *flag) { return look(flag) + 1; }
static void take(int *lock)
{
    while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE))
        ;
}
static void give(int *lock) { __atomic_store_n(lock, 0, __ATOMIC_RELEASE); }
#pragma omp end declare target

/* The last thread hands data on by a flag; the first one waits for it. */
#define HANDED_ON(name, ...)                                                                       \
    static int name(void)                                                                          \
    {                                                                                              \
        int flag = 0, data = 0, seen = 0;                                                          \
        _Pragma("omp target parallel num_threads(N) map(tofrom: flag, data, seen)")                \
        {                                                                                          \
            if (omp_get_thread_num() == N - 1) {                                                   \
                data = 7;                                                                          \
                _Pragma("omp atomic write seq_cst") flag = 1;                                      \
            } else if (omp_get_thread_num() == 0) {                                                \
                int tmp = 0;                                                                       \
                __VA_ARGS__;                                                                       \
                (void)tmp;                                                                         \
                _Pragma("omp flush") seen = data;                                                  \
            }                                                                                      \
        }                                                                                          \
        return seen;                                                                               \
    }
#define READ(v) _Pragma("omp atomic read") v = flag;
HANDED_ON(by_while, while (!tmp) { READ(tmp) })
HANDED_ON(by_break, for (;;) { READ(tmp) if (tmp) break; })
HANDED_ON(by_for, for (; !tmp;) { READ(tmp) })
HANDED_ON(by_number, for (long i = 0; i < 1L << 40; i++) { READ(tmp) if (tmp) break; })
HANDED_ON(by_other, for (int done = 0; !done;) { READ(tmp) if (tmp) done = 1; })
HANDED_ON(by_goto, again: READ(tmp) if (!tmp) goto again)
HANDED_ON(by_two_entries, if (look(&flag) == 5) goto in; for (;;) { READ(tmp) in: if (tmp) break; })
HANDED_ON(by_address, void *p = &&again; again: READ(tmp) if (!tmp) goto *p)
HANDED_ON(by_switch, for (;;) { READ(tmp) switch (tmp) { case 0: continue; default: goto end; } } end:)
HANDED_ON(by_function, while (!look(&flag)))
HANDED_ON(by_functions, do ; while (looked(&flag) == 1))
HANDED_ON(by_argument, for (;;) { look_into(&flag, &tmp); if (tmp) break; })
HANDED_ON(by_builtin, while (!__atomic_load_n(&flag, __ATOMIC_ACQUIRE)))
HANDED_ON(by_update, do { _Pragma("omp atomic capture") { tmp = flag; flag |= 0; } } while (!tmp))
HANDED_ON(by_addition, do { _Pragma("omp atomic capture") { tmp = flag; flag += 0; } } while (!tmp))

/* One thread of each warp, since the lanes of a warp need not all go on, adds one under a lock. */
#define LOCKED(name, LOCK, UNLOCK)                                                                 \
    static int name(void)                                                                          \
    {                                                                                              \
        int lock = 0, now = 0, sum = 0;                                                            \
        omp_lock_t l;                                                                              \
        _Pragma("omp target parallel num_threads(32 * WARPS) map(tofrom: lock, now, sum) map(alloc: l)") \
        {                                                                                          \
            _Pragma("omp single") omp_init_lock(&l);                                               \
            for (int k = 0; k < ROUNDS && omp_get_thread_num() % 32 == 0; k++) {                   \
                int tmp = 0, mine = 0;                                                             \
                LOCK;                                                                              \
                sum++;                                                                             \
                UNLOCK;                                                                            \
                (void)tmp, (void)mine;                                                             \
            }                                                                                      \
        }                                                                                          \
        return sum - WARPS * ROUNDS + now * 0;                                                     \
    }
#define WRITE(v, value) _Pragma("omp atomic write release") v = value
LOCKED(exchanges, do { _Pragma("omp atomic capture acquire") { tmp = lock; lock = 1; } } while (tmp), WRITE(lock, 0))
LOCKED(compares, do tmp = 0; while (!__atomic_compare_exchange_n(&lock, &tmp, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED)),
       give(&lock))
LOCKED(tests_first, while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE)) while (look(&lock)), give(&lock))
LOCKED(tickets, _Pragma("omp atomic capture") mine = lock++;
       for (;;) { _Pragma("omp atomic read acquire") tmp = now; if (tmp == mine) break; }, WRITE(now, mine + 1))
LOCKED(tries, while (!omp_test_lock(&l)), omp_unset_lock(&l))
LOCKED(calls, take(&lock), give(&lock))

/* The thread that waits looks under the lock that the other one needs, too. */
#define UNDER_LOCK(name, SET, WAIT)                                                                \
    static int name(void)                                                                          \
    {                                                                                              \
        int x = 0, done = 0;                                                             \
        double _Complex z = 0;                                                                     \
        omp_lock_t l;                                                                              \
        _Pragma("omp target parallel num_threads(N) map(tofrom: x, z, done) map(alloc: l)")  \
        {                                                                                          \
            _Pragma("omp single") omp_init_lock(&l);                                               \
            if (omp_get_thread_num() == 40) {                                                      \
                SET;                                                                               \
            } else if (omp_get_thread_num() == 0) {                                                \
                WAIT;                                                                              \
                done = 1;                                                                          \
            }                                                                                      \
        }                                                                                          \
        return done;                                                                               \
    }
UNDER_LOCK(critical, _Pragma("omp critical") x = 1,
           for (int end = 0; !end;) { _Pragma("omp critical") { if (x) end = 1; } })
UNDER_LOCK(lock, omp_set_lock(&l); x = 1; omp_unset_lock(&l),
           for (;;) { omp_set_lock(&l); if (x) { omp_unset_lock(&l); break; } omp_unset_lock(&l); })
UNDER_LOCK(atomic_under_lock, while (!omp_test_lock(&l)); _Pragma("omp atomic write") x = 1; omp_unset_lock(&l),
           for (int v = 0; !v;) { while (!omp_test_lock(&l)); _Pragma("omp atomic read") v = x; omp_unset_lock(&l); })
UNDER_LOCK(large, _Pragma("omp atomic write") z = 1,
           for (;;) { double _Complex v; _Pragma("omp atomic read") v = z; if (v == 1) break; })

int main(void)
{
    int on = 0;
#pragma omp target map(from: on)
    on = ON_DEVICE;
    CHECK(on);
    CHECK(by_while() == 7 && by_break() == 7 && by_for() == 7 && by_number() == 7 && by_other() == 7);
    CHECK(by_goto() == 7 && by_two_entries() == 7 && by_address() == 7 && by_switch() == 7);
    CHECK(by_function() == 7 && by_functions() == 7 && by_argument() == 7 && by_builtin() == 7);
    CHECK(by_update() == 7 && by_addition() == 7);
    CHECK(!exchanges() && !compares() && !tests_first() && !tickets() && !tries() && !calls());
    CHECK(critical() && lock() && atomic_under_lock() && large());
    return RESULT;
}
