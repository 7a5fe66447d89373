/* interop: the object's properties; what a library puts into its queue is ordered with tasks and regions */
#include "check.h"
#include <ompgpu/ompgpu.h>
#include <string.h>
enum { N = 1000 };

/* A library that works on device memory: the emulated device's is in reach of the host. */
static struct axpy {
    int emulated, calls;
    float a, *x, *y;
} job;
static const char *ours; /* the name of what only ompgpu_interop_call() uses; NULL: CUDA's */
static void axpy_now(void *argument)
{
    struct axpy *j = argument;
    j->calls++;
    for (int i = 0; j->emulated && i < N; i++)
        j->y[i] += j->a * j->x[i];
}

static int is(const char *text, const char *wanted) { return text && !strcmp(text, wanted); }

static void properties(omp_interop_t o)
{
    int rc = 9;
    CHECK_EQ(omp_get_interop_int(o, omp_ipr_device_num, &rc), omp_get_default_device());
    CHECK_EQ(rc, omp_irc_success);
    CHECK(omp_get_interop_ptr(o, omp_ipr_targetsync, &rc) && rc == omp_irc_success);
    const char *name = omp_get_interop_str(o, omp_ipr_fr_name, &rc);
    CHECK(name && rc == omp_irc_success);
    job.emulated = is(name, "ompgpu-emu");
    ours = job.emulated || is(name, "ompgpu-mpi") ? name : NULL;
    long own = omp_get_interop_int(o, omp_ipr_device, NULL); /* among those of its kind */
    CHECK(is(name, "ompgpu-mpi") ? own >= 0 && own < omp_get_default_device() : own == omp_get_default_device());
    long id = omp_get_interop_int(o, omp_ipr_fr_id, &rc);
    CHECK(ours ? rc == omp_irc_no_value : id == omp_ifr_cuda && is(name, "cuda"));
    CHECK(!omp_get_interop_ptr(o, omp_ipr_platform, &rc) && rc == omp_irc_no_value);
    omp_get_interop_ptr(o, omp_ipr_fr_id, &rc);
    CHECK_EQ(rc, omp_irc_type_int);
    omp_get_interop_int(o, omp_ipr_fr_name, &rc);
    CHECK_EQ(rc, omp_irc_type_str);
    omp_get_interop_str(o, omp_ipr_targetsync, &rc);
    CHECK_EQ(rc, omp_irc_type_ptr);
    omp_get_interop_int(o, (omp_interop_property_t)-10, &rc);
    CHECK_EQ(rc, omp_irc_out_of_range);
    omp_get_interop_int(omp_interop_none, omp_ipr_device, &rc);
    CHECK_EQ(rc, omp_irc_empty);
    CHECK_EQ(omp_get_num_interop_properties(o), 0);
    CHECK(is(omp_get_interop_name(o, omp_ipr_targetsync), "targetsync"));
    CHECK(is(omp_get_interop_type_desc(o, omp_ipr_fr_id), "intptr_t"));
    CHECK(omp_get_interop_rc_desc(o, omp_irc_type_str) && omp_get_interop_rc_desc(o, omp_irc_no_value));
}

/* The first type that the device offers; several objects; none of them. */
static void preferred(void)
{
    omp_interop_t a = omp_interop_none, b = omp_interop_none, c = omp_interop_none;
    int rc;
#pragma omp interop init(prefer_type("hip", omp_ifr_cuda_driver, "cuda"), targetsync: a) init(targetsync: b) init(prefer_type(omp_ifr_sycl, "level_zero"), target: c)
    const char *name = omp_get_interop_str(a, omp_ipr_fr_name, &rc);
    CHECK(ours ? is(name, ours) : is(name, "cuda_driver") && omp_get_interop_int(a, omp_ipr_fr_id, &rc) == omp_ifr_cuda_driver);
    CHECK(is(omp_get_interop_str(b, omp_ipr_fr_name, &rc), ours ? name : "cuda"));
    CHECK(is(omp_get_interop_str(c, omp_ipr_fr_name, &rc), ours ? name : "cuda"));
    CHECK(omp_get_interop_ptr(a, omp_ipr_targetsync, &rc) && !omp_get_interop_ptr(c, omp_ipr_targetsync, &rc));
#pragma omp interop destroy(a) destroy(b) destroy(c)
#pragma omp interop init(prefer_type(omp_ifr_cuda, omp_ifr_cuda_driver), target: c)
    CHECK(ours || omp_get_interop_int(c, omp_ipr_fr_id, &rc) == omp_ifr_cuda);
#pragma omp interop destroy(c)
    /* after the type; specifications, of which some name nothing */
#pragma omp interop init(targetsync, prefer_type({attr("ompx_any")}, {attr("ompx_any"), fr("cuda_driver")}, {fr(omp_ifr_cuda)}): a) \
    init(target, prefer_type(omp_ifr_hip, "cuda_driver"), targetsync: b) init(prefer_type({attr("ompx_any")}), target: c)
    CHECK(ours || omp_get_interop_int(a, omp_ipr_fr_id, &rc) == omp_ifr_cuda_driver);
    CHECK(ours || omp_get_interop_int(b, omp_ipr_fr_id, &rc) == omp_ifr_cuda_driver);
    CHECK(ours || omp_get_interop_int(c, omp_ipr_fr_id, &rc) == omp_ifr_cuda);
    CHECK(omp_get_interop_ptr(b, omp_ipr_targetsync, &rc) && !omp_get_interop_ptr(c, omp_ipr_targetsync, &rc));
#pragma omp interop destroy(a) destroy(b) destroy(c)
}

int main(void)
{
    static float x[N], y[N];
    omp_interop_t object = omp_interop_none, plain = omp_interop_none, host = (omp_interop_t)&x;
    int step = 0, on = 0;
    for (int i = 0; i < N; i++)
        x[i] = (float)i, y[i] = 1;
#pragma omp interop init(targetsync: object) init(target: plain)
    CHECK(object != omp_interop_none && plain != omp_interop_none);
    properties(object);
    preferred();
    CHECK(!omp_get_interop_ptr(plain, omp_ipr_targetsync, NULL));
    CHECK(ompgpu_interop_call(plain, axpy_now, &job) != 0 && ompgpu_interop_call(NULL, axpy_now, &job) != 0);
#pragma omp interop init(targetsync: host) device(omp_get_initial_device())
    CHECK(host == omp_interop_none);
    host = (omp_interop_t)&x;
#pragma omp interop init(targetsync: host) device(omp_initial_device)
    CHECK(host == omp_interop_none);
#pragma omp target data map(to: x) map(tofrom: y)
    {
#pragma omp target teams distribute parallel for nowait depend(out: y)
        for (int i = 0; i < N; i++)
            y[i] += 1;
#pragma omp interop use(object) depend(inout: y)
#pragma omp target data use_device_addr(x, y)
        job.a = 2, job.x = x, job.y = y;
        for (int i = 0; i < 3; i++)
            CHECK_EQ(ompgpu_interop_call(object, axpy_now, &job), 0);
#pragma omp interop use(object) depend(inout: y)
        CHECK_EQ(job.calls, 3);
#pragma omp target teams distribute parallel for map(tofrom: on)
        for (int i = 0; i < N; i++) {
            y[i] *= 2;
            if (i == 0)
                on = ON_DEVICE;
        }
    }
    CHECK(on);
    for (int i = 0; i < N; i++)
        if (y[i] != (job.emulated ? 4 + 12 * (float)i : 4))
            CHECK_EQ(i, -1);
#pragma omp parallel num_threads(2)
#pragma omp single
    {
#pragma omp task depend(out: step) shared(step)
        step = 1;
#pragma omp interop use(object) depend(inout: step) nowait
        CHECK_EQ(step, 1);
    }
    job.emulated = 0;
    CHECK_EQ(ompgpu_interop_call(object, axpy_now, &job), 0);
#pragma omp interop destroy(object) destroy(plain)
    CHECK_EQ(job.calls, 4);
    CHECK(object == omp_interop_none && plain == omp_interop_none);
    /* several of one clause */
#pragma omp interop init(targetsync, prefer_type({fr("hip")}, {fr(omp_ifr_hsa), attr("ompx_none")}): object, plain), device(omp_get_default_device())
    CHECK(object != omp_interop_none && plain != omp_interop_none && object != plain);
#pragma omp interop use(object, plain) nowait
#pragma omp interop destroy(plain, object)
    CHECK(object == omp_interop_none && plain == omp_interop_none && omp_ifr_hsa == 7);
#pragma omp interop init(targetsync: object)
    return RESULT; /* one is left to the runtime */
}
