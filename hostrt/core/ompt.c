/* ompt.c - tools: the events of target constructs (chapter 19 of OpenMP 5.2).
 *
 * A tool registers its callbacks with the host's OpenMP runtime, and LLVM's answers `always` for
 * those of devices, too.  It leaves the calls to the library that runs target constructs, which
 * comes for the callbacks with ompt_libomp_connect().  That is done where a tool may be there.
 *
 * Events of operations are those of a device's plugin: with a tool, devices have a copy of their
 * plugin whose functions report what they do.  Without one there is one test a construct. */
#define _GNU_SOURCE 1
#include <dlfcn.h>
#include <stdlib.h>
#include "hostrt/core/core.h"

/* ------------------------------------------------------------------ the interface (omp-tools.h) */
union tool_data {
    uint64_t value;
    void *ptr;
};
typedef void (*callback)(void);
typedef callback (*lookup_function)(const char *);
enum { SCOPE_BEGIN = 1, SCOPE_END };
enum operation { DATA_ALLOC = 1, DATA_TO, DATA_FROM, DATA_DELETE };
struct tool_result { /* ompt_start_tool_result_t */
    int (*initialize)(lookup_function, int device, union tool_data *);
    void (*finalize)(union tool_data *);
    union tool_data data;
};

static struct {
    void (*device_initialize)(int, const char *, void *, lookup_function, const char *);
    void (*device_finalize)(int);
    void (*device_load)(int, const char *, int64_t, void *, size_t, void *, void *, uint64_t);
    void (*target)(int, int, int, union tool_data *, uint64_t, const void *);
    void (*target_emi)(int, int, int, union tool_data *, union tool_data *, union tool_data *,
                       const void *);
    void (*data_op)(uint64_t, uint64_t, int, void *, int, void *, int, size_t, const void *);
    void (*data_op_emi)(int, union tool_data *, union tool_data *, uint64_t *, int, void *, int,
                        void *, int, size_t, const void *);
    void (*submit)(uint64_t, uint64_t, unsigned);
    void (*submit_emi)(int, union tool_data *, uint64_t *, unsigned);
    union tool_data *(*task_data)(void), *(*target_task_data)(void);
} tool;
static const struct {
    const char *name;
    void *pointer;
    bool event; /* of ours */
} entries[] = {
    { "ompt_callback_device_initialize", &tool.device_initialize, true },
    { "ompt_callback_device_finalize", &tool.device_finalize, true },
    { "ompt_callback_device_load", &tool.device_load, true },
    { "ompt_callback_target", &tool.target, true },
    { "ompt_callback_target_emi", &tool.target_emi, true },
    { "ompt_callback_target_data_op", &tool.data_op, true },
    { "ompt_callback_target_data_op_emi", &tool.data_op_emi, true },
    { "ompt_callback_target_submit", &tool.submit, true },
    { "ompt_callback_target_submit_emi", &tool.submit_emi, true },
    { "ompt_get_task_data", &tool.task_data, false },
    { "ompt_get_target_task_data", &tool.target_task_data, false },
};
_Atomic bool ompgpu_has_tool;
/* All devices are of one kind. */
static const struct ompgpu_plugin *real; /* what the reporting functions call */
static struct ompgpu_plugin reporting;

/* The construct at work in this host thread. */
static _Thread_local struct construct {
    uint64_t id;
    union tool_data data;
    const void *code;
} at;
/* The operation that comes next, where the program is told of it: the runtime's own memory is not.
 */
static _Thread_local struct {
    bool is_reported;
    const void *host, *code;
} next;
static uint64_t new_id(void)
{
    static uint64_t last;
    return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

/* ------------------------------------------------------------------ constructs */
void ompgpu_report_target(enum ompgpu_tool_kind kind, bool begins, const struct ompgpu_device *dev,
                          const void *code)
{
    int endpoint = begins ? SCOPE_BEGIN : SCOPE_END;
    union tool_data *task = tool.task_data ? tool.task_data() : NULL;
    if (begins)
        at = (struct construct){ .id = new_id(), .code = code };
    if (tool.target_emi)
        tool.target_emi((int)kind, endpoint, dev->number, task,
                        tool.target_task_data ? tool.target_task_data() : NULL, &at.data, at.code);
    else if (tool.target)
        tool.target((int)kind, endpoint, dev->number, task, at.id, at.code);
    if (!begins)
        at = (struct construct){ 0 };
}

/* ------------------------------------------------------------------ operations */
struct op {
    enum operation kind;
    void *from, *to;
    int from_device, to_device;
    size_t size;
    uint64_t id;
};

void ompgpu_report_memory(const void *host, const void *code)
{
    next.is_reported = true;
    next.host = host, next.code = code;
}

static _Thread_local const void *routine; /* where it is called */
void ompgpu_report_routine(const void *code) { routine = code; }

static const void *code_of_op(void)
{
    if (routine)
        return routine;
    return at.code ? at.code : next.code;
}

static void begin_op(struct op *o)
{
    o->id = new_id();
    if (tool.data_op_emi)
        tool.data_op_emi(SCOPE_BEGIN, tool.target_task_data ? tool.target_task_data() : NULL,
                         &at.data, &o->id, (int)o->kind, o->from, o->from_device, o->to,
                         o->to_device, o->size, code_of_op());
}

static void end_op(struct op *o)
{
    if (tool.data_op_emi)
        tool.data_op_emi(SCOPE_END, tool.target_task_data ? tool.target_task_data() : NULL,
                         &at.data, &o->id, (int)o->kind, o->from, o->from_device, o->to,
                         o->to_device, o->size, code_of_op());
    else if (tool.data_op)
        tool.data_op(at.id, o->id, (int)o->kind, o->from, o->from_device, o->to, o->to_device,
                     o->size, code_of_op());
    next.is_reported = false, next.code = NULL;
}

/* The host is the device after the last. */
static int host(void) { return ompgpu_ndevices; }
/* OMP_AVAILABLE_DEVICES may order the plugin's devices in another way. */
static int number(int ordinal)
{
    int i = 0;
    while (i < ompgpu_ndevices &&
           (ompgpu_devices[i].ordinal != ordinal || ompgpu_devices[i].plugin->name != real->name))
        i++;
    return i;
}

static int report_alloc(int ordinal, size_t size, void **address)
{
    if (!next.is_reported)
        return real->alloc(ordinal, size, address);
    struct op o = { DATA_ALLOC, (void *)next.host, NULL, host(), number(ordinal), size, 0 };
    begin_op(&o);
    int bad = real->alloc(ordinal, size, address);
    o.to = bad ? NULL : *address;
    end_op(&o);
    return bad;
}

static int report_free(int ordinal, void *address)
{
    if (!next.is_reported)
        return real->free(ordinal, address);
    struct op o = { DATA_DELETE, address, NULL, number(ordinal), number(ordinal), 0, 0 };
    begin_op(&o);
    int bad = real->free(ordinal, address);
    end_op(&o);
    return bad;
}

static int report_to_device(int ordinal, void *dst, const void *src, size_t size)
{
    struct op o = { DATA_TO, (void *)src, dst, host(), number(ordinal), size, 0 };
    begin_op(&o);
    int bad = real->to_device(ordinal, dst, src, size);
    end_op(&o);
    return bad;
}

static int report_from_device(int ordinal, void *dst, const void *src, size_t size)
{
    struct op o = { DATA_FROM, (void *)src, dst, number(ordinal), host(), size, 0 };
    begin_op(&o);
    int bad = real->from_device(ordinal, dst, src, size);
    end_op(&o);
    return bad;
}

static int report_device_copy(int ordinal, void *dst, const void *src, size_t size)
{
    struct op o = { DATA_TO, (void *)src, dst, number(ordinal), number(ordinal), size, 0 };
    begin_op(&o);
    int bad = real->device_copy(ordinal, dst, src, size);
    end_op(&o);
    return bad;
}

static int report_peer_copy(int ordinal, void *dst, int from, const void *src, size_t size)
{
    struct op o = { DATA_TO, (void *)src, dst, number(from), number(ordinal), size, 0 };
    begin_op(&o);
    int bad = real->peer_copy(ordinal, dst, from, src, size);
    end_op(&o);
    return bad;
}

static int report_launch(int ordinal, struct ompgpu_function *f, unsigned teams, unsigned threads,
                         void **params)
{
    uint64_t id = new_id();
    if (tool.submit_emi)
        tool.submit_emi(SCOPE_BEGIN, &at.data, &id, teams);
    int bad = real->launch(ordinal, f, teams, threads, params);
    if (tool.submit_emi)
        tool.submit_emi(SCOPE_END, &at.data, &id, teams);
    else if (tool.submit)
        tool.submit(at.id, id, teams);
    return bad;
}

/* ------------------------------------------------------------------ devices */
/* Traces of what happens on a device (ompt_start_trace …) are not offered. */
static callback find_nothing(const char *name)
{
    (void)name;
    return NULL;
}

static int report_open(int ordinal, struct ompgpu_device_info *info)
{
    int bad = real->open(ordinal, info);
    if (!bad && tool.device_initialize)
        tool.device_initialize(number(ordinal), info->name, NULL, find_nothing, NULL);
    return bad;
}

static void report_close(int ordinal)
{
    if (ompgpu_has_tool && tool.device_finalize)
        tool.device_finalize(number(ordinal));
    if (real->close)
        real->close(ordinal);
}

static int report_load(int ordinal, const struct ompgpu_image_header *header, int image,
                       const void *data, size_t size, void **module)
{
    int bad = real->load(ordinal, header, image, data, size, module);
    if (!bad && tool.device_load)
        tool.device_load(number(ordinal), NULL, 0, NULL, size, (void *)data, NULL, new_id());
    return bad;
}

const struct ompgpu_plugin *ompgpu_tool_plugin(const struct ompgpu_plugin *plugin)
{
    if (!ompgpu_has_tool || plugin == &reporting || (real && real != plugin))
        return plugin; /* of two kinds of devices a tool sees one */
    real = plugin;
    reporting = *plugin;
    reporting.open = report_open;
    reporting.close = report_close;
    reporting.load = report_load;
    reporting.alloc = report_alloc;
    reporting.free = report_free;
    reporting.to_device = report_to_device;
    reporting.from_device = report_from_device;
    reporting.device_copy = report_device_copy;
    reporting.peer_copy = plugin->peer_copy ? report_peer_copy : NULL;
    reporting.launch = report_launch;
    return &reporting;
}

/* ------------------------------------------------------------------ connecting */
static int take_callbacks(lookup_function lookup, int device, union tool_data *data)
{
    (void)device, (void)data;
    for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
        callback f = lookup(entries[i].name);
        __builtin_memcpy(entries[i].pointer, &f, sizeof f);
        ompgpu_has_tool |= f && entries[i].event;
    }
    return 0;
}

/* The host's runtime ends, and the tool with it; we may go on. */
static void drop_callbacks(union tool_data *data)
{
    (void)data;
    for (int i = 0; ompgpu_has_tool && tool.device_finalize && i < ompgpu_ndevices; i++)
        if (ompgpu_devices[i].state != OMPGPU_DEVICE_NEW)
            tool.device_finalize(i);
    ompgpu_has_tool = false;
    tool.data_op_emi = NULL;
    tool.data_op = NULL;
    tool.submit_emi = NULL;
    tool.submit = NULL;
}

/* A program may bring a tool with it; libomp has a function of that name, too, for none. */
static bool may_have_tool(const void *connect)
{
    Dl_info runtime, found;
    const void *start = dlsym(RTLD_DEFAULT, "ompt_start_tool");
    return secure_getenv("OMP_TOOL_LIBRARIES") ||
           (start && dladdr(start, &found) && dladdr(connect, &runtime) &&
            found.dli_fbase != runtime.dli_fbase);
}

static void (*connect)(struct tool_result *); /* NULL: there is no tool to connect to */

static void find_connect(void)
{
    void *f = dlsym(RTLD_DEFAULT, "ompt_libomp_connect");
    if (f && may_have_tool(f))
        __builtin_memcpy(&connect, &f, sizeof f);
}

void ompgpu_tool_find(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, find_connect);
}

static void connect_tool(void)
{
    static struct tool_result ours = { take_callbacks, drop_callbacks, { 0 } };
    if (connect)
        connect(&ours);
}

void ompgpu_tool_connect(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    ompgpu_tool_find();
    pthread_once(&once, connect_tool);
}
