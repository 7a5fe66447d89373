/* a tool's callbacks for target constructs (OMPT): what is said to be called is, the rest never */
#include <omp-tools.h>
#include <omp.h>
#include "check.h"

static int devices, finalized, loads, targets[5], open_targets, ops[5], open_ops, submits, strangers;
static int answers[4], used; /* the device */

static void on_device_start(int d, const char *type, ompt_device_t *dev, ompt_function_lookup_t find,
                            const char *doc)
{
    (void)dev, (void)doc;
    devices += d >= 0 && type && !find("ompt_start_trace");
}
static void on_device_end(int d) { finalized += d >= 0; }
static void on_load(int d, const char *file, int64_t offset, void *vma, size_t bytes, void *host,
                    void *device, uint64_t module)
{
    (void)file, (void)offset, (void)vma, (void)host, (void)device, (void)module;
    loads += d == used && bytes;
}
static void on_target(ompt_target_t kind, ompt_scope_endpoint_t end, int d, ompt_data_t *task,
                      ompt_data_t *target_task, ompt_data_t *data, const void *code)
{
    (void)task, (void)target_task;
    if (end == ompt_scope_begin)
        data->value = 77;
    strangers += data->value != 77 || !code || d != used;
    targets[kind] += end == ompt_scope_begin;
    open_targets += end == ompt_scope_begin ? 1 : -1;
}
static void on_op(ompt_scope_endpoint_t end, ompt_data_t *target_task, ompt_data_t *data,
                  ompt_id_t *id, ompt_target_data_op_t kind, void *from, int from_device, void *to,
                  int to_device, size_t bytes, const void *code)
{
    (void)target_task, (void)from_device, (void)to_device;
    strangers += data->value != 77 || !*id || !code || (!from && !to);
    ops[kind] += end == ompt_scope_end && (bytes == sizeof(int) || kind == 4);
    open_ops += end == ompt_scope_begin ? 1 : -1;
}
static void on_submit(ompt_scope_endpoint_t end, ompt_data_t *data, ompt_id_t *id, unsigned teams)
{
    strangers += data->value != 77 || !*id || !teams;
    submits += end == ompt_scope_end;
}

static int start(ompt_function_lookup_t find, int initial, ompt_data_t *data)
{
    ompt_set_callback_t set = (ompt_set_callback_t)find("ompt_set_callback");
    (void)initial, (void)data;
    set(ompt_callback_device_initialize, (ompt_callback_t)on_device_start);
    set(ompt_callback_device_finalize, (ompt_callback_t)on_device_end);
    set(ompt_callback_device_load, (ompt_callback_t)on_load);
    answers[0] = set(ompt_callback_target_emi, (ompt_callback_t)on_target);
    answers[1] = set(ompt_callback_target_data_op_emi, (ompt_callback_t)on_op);
    answers[2] = set(ompt_callback_target_submit_emi, (ompt_callback_t)on_submit);
    answers[3] = set(ompt_callback_target_map_emi, (ompt_callback_t)on_submit);
    return omp_get_num_devices() > 0;
}
static void end(ompt_data_t *data)
{
    (void)data;
    if (devices != finalized)
        __builtin_trap();
}
ompt_start_tool_result_t *ompt_start_tool(unsigned version, const char *runtime)
{
    static ompt_start_tool_result_t tool = { start, end, { 0 } };
    (void)version, (void)runtime;
    return &tool;
}

int main(void)
{
    int s = 0;
    used = omp_get_default_device();
#pragma omp parallel num_threads(2) reduction(+ : s)
    s++;
#pragma omp target map(tofrom : s)
    s = ON_DEVICE;
    CHECK_EQ(s, 1);
    CHECK_EQ(devices, 1);
    CHECK(loads >= 1);
    CHECK(targets[ompt_target] == 1 && submits == 1);
    CHECK(ops[ompt_target_data_alloc] >= 1 && ops[ompt_target_data_delete] >= 1);
    CHECK(ops[ompt_target_data_transfer_to_device] == 1);
    CHECK(ops[ompt_target_data_transfer_from_device] == 1);
#pragma omp target data map(to : s)
    {
#pragma omp target update from(s)
    }
    CHECK(targets[ompt_target_enter_data] == 1 && targets[ompt_target_exit_data] == 1);
    CHECK_EQ(targets[ompt_target_update], 1);
    CHECK_EQ(ops[ompt_target_data_transfer_from_device], 2);
    CHECK(!strangers && !open_targets && !open_ops);
    for (int i = 0; i < 3; i++)
        CHECK_EQ(answers[i], ompt_set_always);
    CHECK_EQ(answers[3], ompt_set_never);
    return RESULT;
}
