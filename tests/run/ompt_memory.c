/* a tool that asks for the operations on memory alone, which device routines make outside of constructs, too */
#include <omp-tools.h>
#include "check.h"

enum { MOST = 16 };
static struct op {
    ompt_target_data_op_t kind;
    int from, to;
    size_t bytes;
    const void *code;
} ops[MOST];
static int n;

static void on_op(ompt_id_t target, ompt_id_t id, ompt_target_data_op_t kind, void *from, int from_device, void *to,
                  int to_device, size_t bytes, const void *code)
{
    (void)target, (void)from, (void)to;
    if (n < MOST && id)
        ops[n] = (struct op){ kind, from_device, to_device, bytes, code };
    n++;
}

static int start(ompt_function_lookup_t find, int initial, ompt_data_t *data)
{
    (void)initial, (void)data;
    return ((ompt_set_callback_t)find("ompt_set_callback"))(ompt_callback_target_data_op, (ompt_callback_t)on_op) ==
           ompt_set_always;
}
static void end(ompt_data_t *data) { (void)data; }
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = { start, end, { 0 } };
    (void)version, (void)runtime;
    return &tool;
}

static int is(const struct op *o, ompt_target_data_op_t kind, int from, int to)
{
    return o->kind == kind && o->from == from && o->to == to && o->code;
}

int main(void)
{
    const size_t one = 1, zero = 0;
    int d = omp_get_default_device(), h = omp_get_initial_device(), a = 5, b = 0, on = 0;
    int *p = omp_target_alloc(sizeof *p, d);
    CHECK(p && !omp_target_memcpy(p, &a, sizeof a, 0, 0, d, h));
    CHECK(!omp_target_memcpy_rect(&b, p, sizeof b, 1, &one, &zero, &zero, &one, &one, h, d));
    omp_target_free(p, d);
    CHECK(b == 5 && n == 4);
    CHECK(is(&ops[0], ompt_target_data_alloc, h, d) && ops[0].bytes == sizeof a);
    CHECK(is(&ops[1], ompt_target_data_transfer_to_device, h, d) && ops[1].bytes == sizeof a);
    CHECK(is(&ops[2], ompt_target_data_transfer_from_device, d, h) && ops[2].bytes == sizeof a);
    CHECK(ops[3].kind == ompt_target_data_delete && ops[3].from == d && ops[3].code);
    n = 0;
#pragma omp target map(tofrom: on)
    on = ON_DEVICE;
    CHECK(on && n >= 3);
    return RESULT;
}
