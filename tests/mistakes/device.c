/* device.c - mistakes that a checked program finds on the emulated device
 * (tests/mistakes/device.t): one a function, whose line has the function's name as a comment.
 * device NAME makes the mistake, device NAME mended does not. */
#include <omp.h>
#include <stdlib.h>
#include <string.h>
enum { N = 100 };
static int mended, *a, *b;
struct pair {
    char c;
    int n;
};
#pragma omp declare target
int table[N];
int of_team[8];
#pragma omp groupprivate(of_team)
int twice(const int *p) { return 2 * *p; } /* through a function */
#pragma omp end declare target

/* ---- address */
static void past_the_end(void)
{
    int n = mended ? N: N - 1;
#pragma omp target teams distribute parallel for map(tofrom: a[0:n])
    for (int i = 0; i < N; i++)
        a[i] += 1; /* past_the_end */
}
static void before_the_begin(void)
{
    int first = mended ? 9: 10;
#pragma omp target parallel for map(to: a[first:N - first]) map(from: b[0:N])
    for (int i = 10; i < N; i++)
        b[i] = a[i - 1]; /* before_the_begin */
}
static void neighbour(void)
{
    int small[8] = { 0 }, other[8] = { 0 }, at = mended ? 7: 8;
#pragma omp target map(tofrom: small, other)
    {
        int *p = small;
        p[at] = other[0]; /* neighbour */
    }
}
/* private copies of reduced arrays: in the league's scratchpad, on the stack, in the team's storage */
static void reduced_section(void)
{
    int bins = mended ? 90 : 91, *sum = calloc(2 * N, sizeof *sum);
#pragma omp target teams distribute parallel for reduction(+: sum[:90], b[:70]) map(tofrom: sum[0:2 * N], b[0:N])
    for (int i = 0; i < 91; i++)
        sum[i % bins] += 1; /* reduced_section */
    free(sum);
}
static void reduced_bins(void)
{
    int n = 20, bins = mended ? 20 : 21, *sum = calloc(N, sizeof *sum);
#pragma omp target teams distribute parallel for reduction(+: sum[:n]) map(tofrom: sum[0:N])
    for (int i = 0; i < 21; i++)
        sum[i % bins] += 1; /* reduced_bins */
    free(sum);
}
static void reduced_in_team(void)
{
    int n = 60, bins = mended ? 60 : 61;
#pragma omp target map(tofrom: a[0:N])
    {
        int sum[2 * N] = { 0 };
#pragma omp parallel for reduction(+: sum[:n]) num_threads(4)
        for (int i = 0; i < 61; i++)
            sum[i % bins] += 1; /* reduced_in_team */
        a[0] = sum[0];
    }
}
static void freed(void)
{
    int device = omp_get_default_device(), *p = omp_target_alloc(N * sizeof *p, device);
    if (!mended)
        omp_target_free(p, device);
#pragma omp target is_device_ptr(p)
    p[3] = 1; /* freed */
    if (mended)
        omp_target_free(p, device);
}
static void local_array(void)
{
    int last = mended ? 9: 10, result;
#pragma omp target map(from: result)
    {
        int k[10];
        for (int i = 0; i <= last; i++)
            k[i % 10] = i;
        result = k[last]; /* local_array */
    }
}
#pragma omp begin declare target
static int counters[10];
static int count_in(int i)
{
    static int own[10];
    own[0]++;
    return own[i]; /* static_of_function */
}
#pragma omp end declare target
static void static_array(void)
{
    int last = mended ? 9: 10;
#pragma omp target
    for (int i = last; i <= last; i++)
        counters[0] += counters[i]; /* static_array */
}
static void static_of_function(void)
{
    int last = mended ? 9: 10, sum = 0;
#pragma omp target map(sum)
    sum += count_in(last);
}
static void variable(void)
{
    int last = mended ? N - 1: N;
#pragma omp target
    table[last] = 1; /* variable */
}
static void block_copy(void)
{
    size_t n = mended ? N: N + 1;
#pragma omp target map(to: a[0:N]) map(from: b[0:N])
    memcpy(b, a, n * sizeof *a); /* block_copy */
}
static void misaligned(void)
{
    char *bytes = (char *)a;
    int at = mended ? 4: 2;
#pragma omp target map(to: bytes[0:N]) map(from: b[0:1])
    b[0] = *(int *)(bytes + at); /* misaligned */
}
static void atomic_update(void)
{
    int at = mended ? 0: 1, count = 0;
#pragma omp target map(tofrom: count)
    {
        int *p = &count;
#pragma omp atomic
        p[at]++; /* atomic_update */
    }
}

/* ---- uninit */
static void only_from(void)
{
    int n = mended ? N: 0;
#pragma omp target data map(from: b[0:N])
    {
#pragma omp target update to(b[0:n])
#pragma omp target teams distribute parallel for
        for (int i = 0; i < N; i++)
            b[i] += i; /* only_from */
    }
}
static void never_written(void)
{
    int device = omp_get_default_device(), *p = omp_target_alloc(N * sizeof *p, device), result;
    if (mended)
        omp_target_memcpy(p, a, N * sizeof *p, 0, 0, device, omp_get_initial_device());
#pragma omp target is_device_ptr(p) map(from: result)
    result = p[7]; /* never_written */
    omp_target_free(p, device);
}
static void partly_written(void)
{
    int to = mended ? N: N - 1, sum = 0;
#pragma omp target map(alloc: b[0:N]) map(tofrom: sum)
    {
        for (int i = 0; i < to; i++)
            b[i] = i;
        for (int i = 0; i < N; i++)
            sum += b[i]; /* partly_written */
    }
}
static void in_a_function(void)
{
    int x = 1, n = mended, y = 0;
#pragma omp target map(alloc: x) map(tofrom: y)
    {
        if (n)
            x = 2;
        y = twice(&x);
    }
}
static void member(void)
{
    struct pair p, q;
    int n = mended, sum = 0;
#pragma omp target map(alloc: p, q) map(tofrom: sum)
    {
        p.c = 1;
        if (n)
            p.n = 2;
        q = p;
        sum += q.n; /* member */
    }
}
static void from_malloc(void)
{
    int n = mended, result;
#pragma omp target map(from: result)
    {
        int *p = malloc(4 * sizeof *p);
        if (n)
            memset(p, 0, 4 * sizeof *p);
        result = p[2] + 1; /* from_malloc */
        free(p);
    }
}

/* ---- race */
static void missing_reduction(void)
{
    int sum = 0;
    if (mended) {
#pragma omp target teams distribute parallel for reduction(+: sum) map(tofrom: sum)
        for (int i = 0; i < N; i++)
            sum += i;
        return;
    }
#pragma omp target teams distribute parallel for map(tofrom: sum)
    for (int i = 0; i < N; i++)
        sum += i; /* missing_reduction */
}
static void loop_carried(void)
{
    int distance = mended ? 0 : 1;
#pragma omp target teams distribute parallel for map(tofrom: a[0:N])
    for (int i = 1; i < N; i++)
        a[i] = a[i - distance] + 1; /* loop_carried */
}
static void team_storage(void)
{
    int result, once = mended;
#pragma omp target map(from: result)
    {
        int last = 0;
#pragma omp parallel for num_threads(32)
        for (int i = 0; i < 32; i++)
            if (!once || i == 31)
                last = i; /* team_storage */
        result = last;
    }
}
static void no_barrier(void)
{
    int n = N;
#pragma omp target parallel num_threads(64) map(tofrom: a[0:n], b[0:n])
    {
#pragma omp for nowait
        for (int i = 0; i < n; i++)
            a[i] = i; /* no_barrier */
        if (mended) {
#pragma omp barrier
        }
#pragma omp for
        for (int i = 0; i < n; i++)
            b[i] = a[n - 1 - i];
    }
}
static void half_atomic(void)
{
    int count = 0, plain = !mended;
#pragma omp target parallel num_threads(32) map(tofrom: count)
    if (plain && omp_get_thread_num() == 7)
        count++; /* half_atomic */
    else
#pragma omp atomic
        count++;
}
static void half_critical(void)
{
    int count = 0, plain = !mended;
#pragma omp target parallel for num_threads(2) map(tofrom: count)
    for (int i = 0; i < 2; i++)
        if (plain && i == 1) {
            count++; /* half_critical */
        } else {
#pragma omp critical
            count++; /* half_critical */
        }
}
/* OpenMP binds critical and locks to a team. */
static void critical_of_teams(void)
{
    int count = 0, teams = mended ? 1: 2;
#pragma omp target teams num_teams(teams) map(tofrom: count)
#pragma omp parallel num_threads(2)
#pragma omp critical
    count++; /* critical_of_teams */
}
static void locks_of_teams(void)
{
    omp_lock_t lock;
    int count = 0, teams = mended ? 1: 2;
#pragma omp target data map(alloc: lock)
    {
#pragma omp target
        omp_init_lock(&lock);
#pragma omp target teams num_teams(teams) map(tofrom: count)
#pragma omp parallel num_threads(2)
        {
            omp_set_lock(&lock);
            count++; /* locks_of_teams */
            omp_unset_lock(&lock);
        }
    }
}
/* Here an atomic update hands on what a critical construct has released, so nothing is wrong. */
static void last_of_teams(void)
{
    int done = 0, sum = 0, cell[4] = { 0 };
#pragma omp target teams num_teams(4) map(tofrom: done, sum, cell)
#pragma omp parallel num_threads(1)
    {
        int mine, me = omp_get_team_num();
#pragma omp critical
        cell[me] = me + 1;
#pragma omp atomic capture
        mine = ++done;
        if (mine == omp_get_num_teams())
#pragma omp critical
            for (int i = 0; i < 4; i++)
                sum += cell[i];
    }
}
static void between_teams(void)
{
    int step = mended ? 4 : 0;
#pragma omp target teams num_teams(4) map(tofrom: a[0:N])
    for (int i = 0; i < 4; i++)
        a[omp_get_team_num() * step + i] += omp_get_team_num(); /* between_teams */
}

/* Nothing is wrong here: what orders, and what needs no order. */
static void in_order(void)
{
    char bytes[64] = { 0 };
    int first = 0, flag = 0, total = 0, cell[64] = { 0 };
#pragma omp target parallel num_threads(64) map(tofrom: bytes, first, flag, total, cell)
    {
        int me = omp_get_thread_num();
        bytes[me] = (char)me;
        cell[me] = me;
        flag = 1;
#pragma omp critical
        if (!first)
            first = 1 + me;
#pragma omp barrier
        cell[me] += bytes[63 - me] + first + flag;
#pragma omp atomic
        total += cell[me];
#pragma omp barrier
#pragma omp single
        total += cell[0];
        cell[me] += total;
    }
#pragma omp target teams distribute parallel for num_teams(4) thread_limit(2) map(tofrom: cell)
    for (int i = 0; i < 64; i++) {
#pragma omp critical
        cell[omp_get_team_num()] += i;
    }
}

/* What several teams read, and what one of them writes beside it, in the same word. */
static void halves(void)
{
    short h[2] = { 1, 2 };
    int at = mended;
#pragma omp target teams num_teams(2) thread_limit(1) map(tofrom: h)
    {
        short seen = h[0]; /* halves */
        if (omp_get_team_num() == 1)
            h[at] = (short)(seen + 7); /* halves */
    }
}

static void histogram(void)
{
    int plain = !mended;
#pragma omp target parallel for num_threads(32) map(tofrom: a[0:N])
    for (int i = 0; i < N; i++)
        if (plain)
            a[i % 7]++; /* histogram */
        else
#pragma omp atomic
            a[i % 7]++;
}
static void shared_temporary(void)
{
    int plain = !mended, shared = 0;
#pragma omp target parallel num_threads(16) map(tofrom: a[0:N]) map(alloc: shared)
    {
        int own, *t = plain ? &shared : &own, me = omp_get_thread_num();
        *t = me; /* shared_temporary */
        a[me] = *t; /* shared_temporary */
    }
}
static void no_wait_single(void)
{
    int first = 0, plain = !mended;
#pragma omp target parallel num_threads(32) map(tofrom: first, a[0:N])
    {
#pragma omp single nowait
        first = 42; /* no_wait_single */
        if (!plain) {
#pragma omp barrier
        }
        a[omp_get_thread_num()] = first; /* no_wait_single */
    }
}
/* Regions with nowait that no dependence orders. */
static void unordered_regions(void)
{
    int plain = !mended;
#pragma omp target data map(tofrom: a[0:N], b[0:N])
    {
        if (plain) {
#pragma omp target teams distribute parallel for nowait
            for (int i = 0; i < N; i++)
                a[i] += 1; /* unordered_regions */
#pragma omp target teams distribute parallel for nowait
            for (int i = 0; i < N; i++)
                b[i] = a[i]; /* unordered_regions */
        } else {
#pragma omp target teams distribute parallel for nowait depend(out: a[0:N])
            for (int i = 0; i < N; i++)
                a[i] += 1;
#pragma omp target teams distribute parallel for nowait depend(in: a[0:N])
            for (int i = 0; i < N; i++)
                b[i] = a[i];
        }
#pragma omp taskwait
    }
}
/* One that is under way, and one that its host thread waits for. */
static void beside_nowait(void)
{
#pragma omp target data map(tofrom: a[0:N])
    {
#pragma omp target nowait
        for (int i = 0; i < N; i++)
            a[i] = i + 1; /* beside_nowait */
        if (mended) {
#pragma omp taskwait
        }
#pragma omp target
        for (int i = 0; i < N; i++)
            a[i] = 2 * i + 1; /* beside_nowait */
#pragma omp taskwait
    }
}
/* ---- copies: found from either side */
static void update_beside_region(void)
{
#pragma omp target data map(tofrom: a[0:N])
    {
        for (int i = 0; i < N; i++)
            a[i] = i + 1;
#pragma omp target update to(a[0:N]) nowait /* update_beside_region */
        if (mended) {
#pragma omp taskwait
        }
#pragma omp target teams distribute parallel for nowait
        for (int i = 0; i < N; i++)
            a[i] *= 2; /* update_beside_region */
#pragma omp taskwait
    }
}
static void region_beside_update(void)
{
#pragma omp target data map(tofrom: a[0:N])
    {
#pragma omp target teams distribute parallel for nowait depend(inout: a[0])
        for (int i = 0; i < N; i++)
            a[i] = i + 1; /* region_beside_update */
        if (mended) {
#pragma omp target update from(a[0:N]) nowait depend(in: a[0])
        } else {
#pragma omp target update from(a[0:N]) nowait /* region_beside_update */
        }
#pragma omp taskwait
    }
}
static void update_at_once(void)
{
#pragma omp target data map(tofrom: a[0:N])
    {
#pragma omp target teams distribute parallel for nowait
        for (int i = 0; i < N; i++)
            a[i] = i + 1; /* update_at_once */
        if (mended) {
#pragma omp taskwait
        }
#pragma omp target update from(a[0:N]) /* update_at_once */
#pragma omp taskwait
    }
}
static void memcpy_beside_region(void)
{
    int device = omp_get_default_device(), host = omp_get_initial_device();
    int *p = omp_target_alloc(N * sizeof *p, device);
#pragma omp target teams distribute parallel for is_device_ptr(p) nowait
    for (int i = 0; i < N; i++)
        p[i] = i + 1; /* memcpy_beside_region */
    if (mended) {
#pragma omp taskwait
    }
    omp_target_memcpy_async(a, p, N * sizeof *p, 0, 0, host, device, 0, NULL);
#pragma omp taskwait
    omp_target_free(p, device);
}
/* Copies of other parts, of what others only read, and of what is the same; a second region that waits in its queue; the storage of the next mapping. */
static void copies_side_by_side(void)
{
    int half = N / 2;
#pragma omp target data map(tofrom: a[0:N]) map(to: b[0:N])
    for (int round = 0; round < 20; round++) {
#pragma omp target teams distribute parallel for nowait
        for (int i = 0; i < half; i++)
            a[i] = b[i] + round;
        for (int i = half; i < N; i++)
            a[i] = round;
#pragma omp target update to(a[half:N - half]) nowait depend(out: a[half])
#pragma omp target update to(b[0:N]) nowait
#pragma omp target update from(b[0:N]) nowait
#pragma omp target nowait depend(inout: a[half])
        a[half]++;
#pragma omp target update from(a[half:N - half]) nowait depend(in: a[half])
#pragma omp taskwait
        if (a[half] != round + 1)
            exit(3);
    }
    for (int round = 0; round < 20; round++) {
#pragma omp target nowait map(tofrom: a[0:N]) depend(out: a[0])
        a[round] += round;
#pragma omp target nowait map(to: b[0:N]) map(from: a[0:1]) depend(inout: a[0])
        a[0] = b[1];
    }
#pragma omp taskwait
}
/* They read the same, write different parts, and update atomically. */
static void side_by_side(void)
{
    int count = 0;
#pragma omp target data map(tofrom: a[0:N], count) map(to: b[0:N])
    {
        for (int part = 0; part < 4; part++)
#pragma omp target teams distribute parallel for nowait firstprivate(part)
            for (int i = part * N / 4; i < (part + 1) * N / 4; i++) {
                a[i] = b[i] + b[(i + N / 2) % N];
#pragma omp atomic
                count++;
            }
#pragma omp taskwait
#pragma omp target teams distribute parallel for nowait
        for (int i = 0; i < N; i++)
            a[i] += count;
    }
#pragma omp taskwait
}
/* Functions of string.h: a text without its end, and more than there is room for. */
static void endless_text(void)
{
    char text[8] = "12345678", other[8];
    int n = 0, size = mended ? 7 : 8;
    if (mended) text[7] = 0;
#pragma omp target map(to: text, size) map(from: n, other)
    {
        n = (int)strlen(text); /* endless_text */
        strncpy(other, text, (size_t)size);
    }
}
static void long_text(void)
{
    char from[12] = "a long text", to[16] = "";
    int have = mended ? 16 : 11;
#pragma omp target map(to: from) map(tofrom: to[0:have])
    strcpy(to, from); /* long_text */
}
static void appended_text(void)
{
    char from[8] = "1234", to[16] = "56789";
    int have = mended ? 10 : 9;
#pragma omp target map(to: from) map(tofrom: to[0:have])
    strcat(to, from); /* appended_text */
}
static void compared_bytes(void)
{
    int k[4] = { 1, 2, 3, 4 }, same = 0, n = mended ? 4 : 5;
#pragma omp target map(to: k, n, a[0:N]) map(from: same)
    same = memcmp(k, a, (size_t)n * sizeof *k); /* compared_bytes */
    (void)same;
}
static void text_of_nothing(void)
{
    char s[8] = "", t[8] = "text";
    int n = 0;
#pragma omp target data map(from: s)
    {
        if (mended) {
#pragma omp target update to(s)
        }
#pragma omp target map(from: n) map(to: t)
        n = strcmp(s, t); /* text_of_nothing */
    }
}
/* What is written is not what is read, as far as their names tell. */
static void two_pointers(void)
{
    int device = omp_get_default_device(), *to = omp_target_alloc(2 * N * sizeof *to, device), *from = mended ? to + N: to + 1;
#pragma omp target teams distribute parallel for is_device_ptr(to)
    for (int i = 0; i < 2 * N; i++)
        to[i] = i;
#pragma omp target teams distribute parallel for is_device_ptr(to, from)
    for (int i = 0; i < N - 1; i++)
        to[i] = from[i] + 1; /* two_pointers */
    omp_target_free(to, device);
}
static void two_origins(void)
{
    int *p = a + N / 2, by = mended ? 0: 1;
#pragma omp target data map(tofrom: a[N / 2:N / 2])
#pragma omp target teams distribute parallel for map(to: p[0:N / 2])
    for (int i = 0; i < N / 2 - 1; i++)
        a[i + N / 2 + by] = p[i] + 1; /* two_origins */
}
static void two_sections(void)
{
    int at = mended;
#pragma omp target parallel sections num_threads(2) map(tofrom: a[0:N])
    {
#pragma omp section
        a[0] = 1; /* two_sections */
#pragma omp section
        a[at] = 2; /* two_sections */
    }
}
static void reversed(void)
{
    int last = mended ? -1 : N - 1;
#pragma omp target teams distribute parallel for num_teams(2) thread_limit(50) map(tofrom: a[0:N])
    for (int i = 0; i < N; i++) {
        int k = last < 0 ? i : last - i;
        a[i] = a[k] + 1; /* reversed */
    }
}
static void set_too_much(void)
{
    size_t n = (mended ? N : N + 1) * sizeof *a;
#pragma omp target map(from: a[0:N])
    memset(a, 0, n); /* set_too_much */
}
static void past_malloc(void)
{
    int n = mended ? 3 : 4, result;
#pragma omp target map(from: result)
    {
        int *p = calloc(4, sizeof *p);
        result = p[n] + 1; /* past_malloc */
        free(p);
    }
}
static void freed_allocation(void)
{
    int device = omp_get_default_device(), *kept = omp_target_alloc(N * sizeof *kept, device);
    omp_target_memcpy(kept, a, N * sizeof *kept, 0, 0, device, omp_get_initial_device());
    if (!mended)
        omp_target_free(kept, device);
#pragma omp target is_device_ptr(kept) map(from: b[0:1])
    b[0] = kept[3]; /* freed_allocation */
    if (mended)
        omp_target_free(kept, device);
}
static void mapped_allocation(void)
{
    int device = omp_get_default_device(), *kept = omp_target_alloc(N * sizeof *kept, device);
    if (mended) {
#pragma omp target is_device_ptr(kept)
        kept[3] = 1;
    } else {
#pragma omp target map(tofrom: kept[0:N]) /* mapped_allocation */
        kept[3] = 1;
    }
    omp_target_free(kept, device);
}
static void kept_address(void)
{
    int *kept = NULL;
#pragma omp target enter data map(to: a[0:N])
#pragma omp target data use_device_addr(a[0:N])
    kept = a;
    if (!mended) {
#pragma omp target exit data map(release: a[0:N])
    }
#pragma omp target is_device_ptr(kept) map(from: b[0:1])
    b[0] = kept[3]; /* kept_address */
    if (mended) {
#pragma omp target exit data map(release: a[0:N])
    }
}
static void enter_alloc(void)
{
    int read = !mended;
#pragma omp target enter data map(alloc: a[0:N])
    if (!read) {
#pragma omp target update to(a[0:N])
    }
#pragma omp target map(from: b[0:N])
    for (int i = 0; i < N; i++)
        b[i] = a[i] + 1; /* enter_alloc */
#pragma omp target exit data map(release: a[0:N])
}

/* ---- locals that have no value */
static void private_copy(void)
{
    int x = 5, n = mended;
#pragma omp target teams distribute parallel for private(x) map(from: b[0:N])
    for (int i = 0; i < N; i++) {
        if (n)
            x = i;
        b[i] = x; /* private_copy */
    }
}
static void private_vla(void)
{
    int m = N / 2, x[m], n = mended;
    for (int i = 0; i < m; i++)
        x[i] = i;
#pragma omp target teams distribute parallel for private(x) map(from: b[0:N])
    for (int i = 0; i < N; i++) {
        if (n)
            x[i % m] = i;
        b[i] = x[i % m]; /* private_vla */
    }
}
static void own_vla(void)
{
    int n = mended;
#pragma omp target teams distribute parallel for map(from: b[0:N])
    for (int i = 0; i < N; i++) {
        int x[i % 7 + 1];
        for (int k = n ? 0 : i % 7 + 1; k < i % 7 + 1; k++)
            x[k] = k;
        b[i] = x[i % 3 % (i % 7 + 1)]; /* own_vla */
    }
}
static void no_begin(void)
{
    int result, n = mended;
#pragma omp target map(from: result)
    {
        int sum;
        if (n)
            sum = 0;
        for (int i = 0; i < N; i++)
            sum += i; /* no_begin */
        result = sum;
    }
}
static void no_element(void)
{
    int n = mended;
#pragma omp target teams distribute parallel for map(tofrom: a[0:N])
    for (int i = 0; i < N; i++) {
        double k[4];
        for (int j = 0; j < 4 * n; j++)
            k[j] = j;
        if (k[i % 4] > 2) /* no_element */
            a[i] = 1;
    }
}
static void each_iteration(void)
{
    int every = mended;
#pragma omp target map(tofrom: a[0:N])
    for (int i = 0; i < N; i++) {
        int fresh;
        if (every || i == 0)
            fresh = 7;
        a[i] += fresh; /* each_iteration */
    }
}
static void private_pointer(void)
{
    int *p = a, n = mended;
#pragma omp target parallel num_threads(8) private(p) map(tofrom: a[0:N])
    {
        if (n)
            p = a + omp_get_thread_num();
        if (p) /* private_pointer */
            n = 1;
    }
}
static void read_before_call(void)
{
    int n = mended, result;
#pragma omp target map(from: result)
    {
        int x;
        if (n)
            x = 4;
        result = x; /* read_before_call */
        x = 5;
#pragma omp parallel num_threads(2) shared(x)
#pragma omp masked
        x = twice(&x);
        result += x;
    }
}
static void shared_local(void)
{
    int n = mended;
#pragma omp target map(tofrom: a[0:N])
    {
        int x;
        if (n)
            x = 3;
#pragma omp parallel num_threads(4)
        {
            if (n > 1)
                x = 4;
            a[omp_get_thread_num()] = x; /* shared_local */
        }
    }
}
static void beside_shared(void)
{
    int n = mended ? 40 : 41;
#pragma omp target teams num_teams(2) map(tofrom: a[0:N])
    {
        int k[40], other = 1;
#pragma omp parallel for num_threads(64)
        for (int i = 0; i < n; i++)
            k[i] = other + i; /* beside_shared */
        a[omp_get_team_num()] = k[4];
    }
}
static void shared_array(void)
{
    int n = mended;
#pragma omp target map(tofrom: a[0:N])
    {
        int k[40];
        for (int i = 0; i < 39 + n; i++)
            k[i] = i;
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 40; i++)
            a[i] = k[i]; /* shared_array */
    }
}
static void large_array(void) /* in the team heap */
{
    int n = mended;
#pragma omp target teams num_teams(3) map(tofrom: a[0:N])
    {
        int k[20000];
        for (int i = 0; i < 39 + n; i++)
            k[i] = i;
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 40; i++)
            if (omp_get_team_num() == 2)
                a[i] = k[i]; /* large_array */
    }
}
static void many_large_arrays(void) /* more than teams run at a time */
{
    int n = mended;
#pragma omp target teams num_teams(200) map(tofrom: a[0:N])
    {
        int k[20000];
        for (int i = 0; i < (omp_get_team_num() < 199 ? 40 : 39 + n); i++)
            k[i] = i;
#pragma omp parallel for num_threads(4)
        for (int i = 0; i < 40; i++)
            if (omp_get_team_num() == 199)
                a[i] = k[i]; /* many_large_arrays */
    }
}
static void group_private(void)
{
    int n = mended;
#pragma omp target teams num_teams(2) map(tofrom: a[0:N])
    {
        if (n || omp_get_team_num() == 0)
            for (int i = 0; i < 8; i++)
                of_team[i] = i;
        a[omp_get_team_num()] = of_team[5]; /* group_private */
    }
}
static void private_of_team(void)
{
    int n = mended, x = 3;
#pragma omp target teams num_teams(2) map(tofrom: a[0:N]) private(x)
    {
        if (n)
            x = 5;
#pragma omp parallel num_threads(2)
        {
            if (n > 1)
                x = 4;
            a[omp_get_team_num() * 2 + omp_get_thread_num()] = x; /* private_of_team */
        }
    }
}
/* What is copied for a construct is not read: nobody has a use for it. */
static void copied_only(void)
{
    int t, n = mended + N;
#pragma omp target parallel for lastprivate(t) map(tofrom: a[0:N])
    for (int i = 0; i < N; i++)
        if (i > n)
            t = i;
#pragma omp target map(tofrom: a[0:N])
    {
        int later, never;
#pragma omp parallel num_threads(4) firstprivate(later)
        {
            later = omp_get_thread_num();
            a[later] = later;
        }
#pragma omp parallel num_threads(4)
        if (n < N)
            a[never & 1] = never;
    }
}

/* ---- more */
static void before_local(void)
{
    int at = mended ? 0 : -1;
#pragma omp target parallel num_threads(4) map(tofrom: a[0:N])
    {
        int k[4] = { 1, 2, 3, 4 };
        a[omp_get_thread_num()] = k[at]; /* before_local */
    }
}
static void read_variable(void)
{
    int last = mended ? N - 1 : N + 3;
#pragma omp target map(from: b[0:1])
    b[0] = table[last]; /* read_variable */
}
static void update_too_late(void)
{
    int late = !mended;
#pragma omp target enter data map(alloc: a[0:N])
    if (!late) {
#pragma omp target update to(a[0:N])
    }
#pragma omp target teams distribute parallel for
    for (int i = 0; i < N; i++)
        a[i] *= 2; /* update_too_late */
    if (late) {
#pragma omp target update to(a[0:N])
    }
#pragma omp target exit data map(release: a[0:N])
}
static void in_place(void)
{
    int *to = mended ? b : a;
#pragma omp target teams distribute parallel for collapse(2) map(tofrom: a[0:N], b[0:N])
    for (int i = 1; i < 9; i++)
        for (int j = 1; j < 9; j++)
            to[10 * i + j] = a[10 * i + j - 1] + a[10 * i + j + 1]; /* in_place */
}
static void largest(void)
{
    int max = 0;
    for (int i = 0; i < N; i++)
        a[i] = i;
    if (mended) {
#pragma omp target teams distribute parallel for map(to: a[0:N]) reduction(max: max)
        for (int i = 0; i < N; i++)
            max = a[i] > max ? a[i] : max;
        return;
    }
#pragma omp target parallel for map(to: a[0:N]) map(tofrom: max) num_threads(64)
    for (int i = 0; i < N; i++)
        if (a[i] > max) /* largest */
            max = a[i]; /* largest */
}
static void swapped(void)
{
    int host = omp_get_initial_device(), *d = omp_target_alloc(N * sizeof *d, 0);
    if (mended)
        omp_target_memcpy(d, a, N * sizeof *d, 0, 0, 0, host);
    else
        omp_target_memcpy(a, d, N * sizeof *d, 0, 0, host, 0);
#pragma omp target is_device_ptr(d) map(tofrom: b[0:N])
    b[1] = d[1]; /* swapped */
    omp_target_free(d, 0);
}
static void after_exit(void)
{
#pragma omp target enter data map(to: a[0:N])
    if (!mended) {
#pragma omp target exit data map(from: a[0:N]) /* after_exit */
    }
#pragma omp target map(tofrom: b[0:N])
    b[3] = a[3];
    if (mended) {
#pragma omp target exit data map(from: a[0:N])
    }
}
static void masked_first(void)
{
    int set = 0, wait = mended;
#pragma omp target parallel num_threads(32) map(tofrom: set, a[0:N])
    {
#pragma omp masked
        set = 42; /* masked_first */
        if (wait) {
#pragma omp barrier
        }
        a[omp_get_thread_num()] = set; /* masked_first */
    }
}
static void last_team(void)
{
    int last = 0, only = mended;
#pragma omp target teams distribute num_teams(4) map(tofrom: last)
    for (int i = 0; i < 8; i++)
        if (!only || i == 7)
            last = i; /* last_team */
}
static void plain_read(void)
{
    int count = 0, atomic = mended;
#pragma omp target parallel num_threads(32) map(tofrom: count, a[0:N])
    {
        int seen;
#pragma omp atomic
        count++; /* plain_read */
        if (atomic) {
#pragma omp atomic read
            seen = count;
        } else
            seen = count; /* plain_read */
        a[omp_get_thread_num()] = seen;
    }
}
static void static_temporary(void)
{
    int own = mended;
#pragma omp target parallel for num_threads(8) map(tofrom: a[0:N])
    for (int i = 0; i < 8; i++)
        table[own ? i : 0] = i; /* static_temporary */
}


/* ---- neighbours in a team's and in a thread's own storage */
static void beside_large(void)
{
    enum { LARGE = 5000 };
    int n = mended ? LARGE : LARGE + 1;
#pragma omp target map(tofrom: a[0:N])
    {
        int k[LARGE], other[LARGE];
#pragma omp parallel for
        for (int i = 0; i < LARGE; i++)
            other[i] = i;
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            k[i] = other[0]; /* beside_large */
        a[0] = k[1] + other[1];
    }
}
static void beside_vla(void)
{
    int n = N, last = mended ? N : N + 1;
#pragma omp target map(tofrom: a[0:N])
    {
        int k[n], other[n];
#pragma omp parallel for
        for (int i = 0; i < n; i++)
            k[i] = other[i] = i;
#pragma omp parallel for
        for (int i = 1; i < last; i++)
            k[i] = other[0]; /* beside_vla */
        a[0] = k[1] + other[1];
    }
}
static int recurse(int n, int last)
{
    int k[8], other[8];
    if (n == 0)
        return 0;
#pragma omp parallel for
    for (int i = 0; i < 8; i++)
        other[i] = n;
#pragma omp parallel for
    for (int i = 0; i < last; i++)
        k[i] = other[0]; /* beside_recursive */
    return recurse(n - 1, last) + k[0];
}
static void beside_recursive(void)
{
    int last = mended ? 8 : 9;
#pragma omp target map(tofrom: a[0:N])
    a[0] = recurse(3, last);
}
static void own_vla_end(void)
{
    int n = N, last = mended ? N : N + 1;
#pragma omp target teams distribute parallel for map(tofrom: a[0:N])
    for (int k = 0; k < N; k++) {
        int own[n], other[n];
        for (int i = 0; i < n; i++)
            own[i] = other[i] = i;
        for (int i = 0; i < last; i++)
            a[k] += own[i]; /* own_vla_end */
        a[k] += other[0];
    }
}
static int sum_of(const int *p, int n)
{
    int sum = 0;
    for (int i = 0; i < n; i++)
        sum += p[i]; /* past_local */
    return sum;
}
static void past_local(void)
{
    int n = mended ? 10 : 11;
#pragma omp target teams distribute parallel for map(tofrom: a[0:N])
    for (int i = 0; i < N; i++) {
        int own[10] = { i }, other[10] = { i };
        a[i] = sum_of(other, 10) + sum_of(own, n);
    }
}
static void past_copy(void)
{
    int s[N] = { 0 }, over = mended ? 0 : 1;
#pragma omp target teams distribute parallel for map(tofrom: s) reduction(+: s)
    for (int i = 0; i < 2 * N; i++) {
        int *p = s + i % N;
        *p += p[over] + 1; /* past_copy */
    }
}
static void past_large_copy(void)
{
    enum { LARGE = 3000 };
    int s[LARGE] = { 0 }, over = mended ? 0 : 1;
#pragma omp target map(tofrom: s)
    for (int k = 0; k < 2; k++) {
#pragma omp parallel for reduction(+: s) num_threads(4)
        for (int i = 0; i < LARGE; i++) {
            int *p = s + i;
            *p += p[over] + 1; /* past_large_copy */
        }
    }
}
static void past_block(void)
{
    int last = mended ? 9 : 10;
#pragma omp target map(tofrom: a[0:N])
    {
        int *p = omp_alloc(10 * sizeof *p, omp_default_mem_alloc);
        for (int i = 0; i <= last; i++)
            p[i] = i; /* past_block */
        a[0] = p[0];
        omp_free(p, omp_default_mem_alloc);
    }
}
static void past_block_of_team(void)
{
    int last = mended ? 9 : 10;
#pragma omp target map(tofrom: a[0:N])
    {
        int *p = omp_alloc(10 * sizeof *p, omp_pteam_mem_alloc);
        for (int i = 0; i <= last; i++)
            p[i] = i; /* past_block_of_team */
        a[0] = p[0];
        omp_free(p, omp_pteam_mem_alloc);
    }
}
static void ended_block(void)
{
    int n = N, old = !mended;
#pragma omp target map(tofrom: a[0:N])
    {
        int *p = a;
        {
            int k[n];
            p = old ? k : p;
#pragma omp parallel for
            for (int i = 0; i < n; i++)
                k[i] = i;
        }
        a[1] = p[0]; /* ended_block */
    }
}
/* ---- sequential code of a region whose threads all run (codegen/ir/spmd) */
static void in_guard(void)
{
    int at = mended ? N - 2 : N - 1;
#pragma omp target map(tofrom: a[0:N - 1])
    {
        a[at] = 1; /* in_guard */
#pragma omp parallel for
        for (int i = 0; i < 10; i++)
            a[i] += i;
    }
}
static void uninit_in_guard(void)
{
    int from = mended ? 0 : 1;
#pragma omp target map(from: b[0:N])
    {
        b[0] = 1;
        b[2] = b[from]; /* uninit_in_guard */
#pragma omp parallel for
        for (int i = 3; i < 10; i++)
            b[i] = i;
    }
}
static void race_in_guard(void)
{
    int alone = mended;
#pragma omp target teams num_teams(2) map(tofrom: a[0:N])
    {
        a[alone ? omp_get_team_num() : 2] = omp_get_team_num(); /* race_in_guard */
#pragma omp parallel for
        for (int i = 0; i < 10; i++)
            a[10 + 10 * omp_get_team_num() + i] += i;
    }
}

static const struct {
    const char *name;
    void (*make)(void);
} mistakes[] = {
#define MISTAKE(f) { #f, f }
    MISTAKE(past_the_end),  MISTAKE(before_the_begin), MISTAKE(neighbour),
    MISTAKE(freed),         MISTAKE(local_array),      MISTAKE(variable),
    MISTAKE(static_array),  MISTAKE(static_of_function),
    MISTAKE(block_copy),    MISTAKE(misaligned),       MISTAKE(atomic_update),
    MISTAKE(only_from),     MISTAKE(never_written),    MISTAKE(partly_written),
    MISTAKE(reduced_section), MISTAKE(reduced_bins), MISTAKE(reduced_in_team), MISTAKE(in_a_function), MISTAKE(member),           MISTAKE(from_malloc), MISTAKE(missing_reduction), MISTAKE(loop_carried), MISTAKE(team_storage), MISTAKE(no_barrier), MISTAKE(half_atomic),
    MISTAKE(half_critical), MISTAKE(critical_of_teams), MISTAKE(locks_of_teams), MISTAKE(last_of_teams), MISTAKE(between_teams), MISTAKE(in_order), MISTAKE(halves),
    MISTAKE(histogram),     MISTAKE(shared_temporary), MISTAKE(no_wait_single), MISTAKE(unordered_regions), MISTAKE(endless_text), MISTAKE(long_text), MISTAKE(appended_text), MISTAKE(compared_bytes), MISTAKE(text_of_nothing), MISTAKE(beside_nowait), MISTAKE(update_beside_region), MISTAKE(region_beside_update), MISTAKE(update_at_once), MISTAKE(memcpy_beside_region), MISTAKE(copies_side_by_side), MISTAKE(side_by_side),
    MISTAKE(two_pointers), MISTAKE(two_origins), MISTAKE(two_sections),  MISTAKE(reversed),         MISTAKE(set_too_much),
    MISTAKE(mapped_allocation), MISTAKE(past_malloc), MISTAKE(freed_allocation), MISTAKE(kept_address),  MISTAKE(enter_alloc),
    MISTAKE(private_copy), MISTAKE(private_vla), MISTAKE(own_vla), MISTAKE(no_begin), MISTAKE(no_element),
    MISTAKE(each_iteration), MISTAKE(private_pointer), MISTAKE(read_before_call), MISTAKE(shared_local), MISTAKE(beside_shared), MISTAKE(shared_array), MISTAKE(large_array), MISTAKE(many_large_arrays), MISTAKE(group_private), MISTAKE(private_of_team), MISTAKE(copied_only),
    MISTAKE(before_local), MISTAKE(read_variable), MISTAKE(update_too_late),
    MISTAKE(in_place), MISTAKE(largest), MISTAKE(swapped), MISTAKE(after_exit), MISTAKE(masked_first),
    MISTAKE(last_team), MISTAKE(plain_read), MISTAKE(static_temporary),
    MISTAKE(beside_large), MISTAKE(beside_vla), MISTAKE(beside_recursive), MISTAKE(own_vla_end), MISTAKE(past_local), MISTAKE(past_copy), MISTAKE(past_large_copy),
    MISTAKE(past_block), MISTAKE(past_block_of_team), MISTAKE(ended_block), MISTAKE(in_guard), MISTAKE(uninit_in_guard), MISTAKE(race_in_guard),
};

int main(int argc, char **argv)
{
    a = calloc(N, sizeof *a), b = calloc(N, sizeof *b);
    mended = argc > 2;
    for (unsigned i = 0; argc > 1 && i < sizeof mistakes / sizeof *mistakes; i++)
        if (strcmp(argv[1], mistakes[i].name) == 0)
            mistakes[i].make();
    return 0;
}
