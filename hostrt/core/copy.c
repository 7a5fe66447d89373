/* copy.c - the OpenMP routines that copy and set memory of devices (chapter 25.7 of OpenMP 6.0).
 *
 * Those with _async are target tasks: they are put into a queue as constructs with `nowait` are
 * (defer.c).  What goes from one device to another, or needs none, is done at once, after the tasks
 * it may depend on.
 *
 * What goes wrong is said with the return value the specification has for it; where there is none,
 * or it is too late, it ends the program. */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include "hostrt/core/core.h"
#include "hostrt/core/deferred.h"

#pragma GCC visibility push(default)
int omp_target_memcpy(void *, const void *, size_t, size_t, size_t, int, int);
int omp_target_memcpy_rect(void *, const void *, size_t, int, const size_t *, const size_t *,
                           const size_t *, const size_t *, const size_t *, int, int);
int omp_target_memcpy_async(void *, const void *, size_t, size_t, size_t, int, int, int, void **);
int omp_target_memcpy_rect_async(void *, const void *, size_t, int, const size_t *, const size_t *,
                                 const size_t *, const size_t *, const size_t *, int, int, int,
                                 void **);
void *omp_target_memset(void *, int, size_t, int);
void *omp_target_memset_async(void *, int, size_t, int, int, void **);
#pragma GCC visibility pop

_Thread_local const struct ompgpu_where *ompgpu_copying;

/* ------------------------------------------------------------------ pieces */
struct way {
    struct ompgpu_device *to, *from; /* NULL: the host */
    struct ompgpu_task *task;        /* into its queue; NULL: now */
};

static int wait_for_copies(const struct way *w)
{
    struct ompgpu_device *dev = w->to ? w->to : w->from;
    return dev && !w->task && dev->plugin->sync(dev->ordinal) ? EIO : 0;
}

static int copy_by_host(char *dst, const char *src, size_t size, const struct way *w)
{
    const struct way up = { .to = w->to }, down = { .from = w->from };
    size_t room = size < 1 << 20 ? size : 1 << 20;
    char *buffer = ompgpu_xalloc(room);
    int bad = buffer ? 0 : ENOMEM;
    for (size_t n; size && !bad; dst += n, src += n, size -= n) {
        n = size < room ? size : room;
        if (w->from->plugin->from_device(w->from->ordinal, buffer, src, n) ||
            wait_for_copies(&down) || w->to->plugin->to_device(w->to->ordinal, dst, buffer, n) ||
            wait_for_copies(&up))
            bad = EIO;
    }
    ompgpu_xfree(buffer);
    return bad;
}

/* Between two devices.  One that was given up has a plugin of its own. */
static int copy_across(char *dst, const char *src, size_t size, const struct way *w)
{
    const struct ompgpu_plugin *plugin = w->to->plugin;
    if (plugin != w->from->plugin || !plugin->peer_copy)
        return copy_by_host(dst, src, size, w);
    return plugin->peer_copy(w->to->ordinal, dst, w->from->ordinal, src, size) ? EIO : 0;
}

static int copy_later(char *dst, const char *src, size_t size, const struct way *w)
{
    struct ompgpu_device *dev = w->task->dev;
    void *queue = w->task->queue->handle;
    if (!w->from)
        return dev->plugin->queue_to_device(dev->ordinal, queue, dst, src, size);
    if (!w->to)
        return dev->plugin->queue_from_device(dev->ordinal, queue, dst, src, size);
    return dev->plugin->queue_copy(dev->ordinal, queue, dst, src, size);
}

static int copy_bytes(char *dst, const char *src, size_t size, const struct way *w)
{
    if (size == 0)
        return 0;
    if (w->task)
        return copy_later(dst, src, size, w) ? EIO : 0;
    if (!w->to && !w->from) {
        memmove(dst, src, size);
        return 0;
    }
    if (!w->from)
        return w->to->plugin->to_device(w->to->ordinal, dst, src, size) ? EIO : 0;
    if (!w->to)
        return w->from->plugin->from_device(w->from->ordinal, dst, src, size) ? EIO : 0;
    if (w->to == w->from)
        return w->to->plugin->device_copy(w->to->ordinal, dst, src, size) ? EIO : 0;
    return copy_across(dst, src, size, w);
}

/* The device whose queue can do it; NULL: none. */
static struct ompgpu_device *device_of(const struct way *w)
{
    return w->to && w->from && w->to != w->from ? NULL : w->to ? w->to : w->from;
}

/* Few programs look at the result. */
static int report_failure(int bad, const struct way *w, const char *routine)
{
    const struct ompgpu_device *dev = w->to ? w->to : w->from;
    if (bad == EIO && !w->task && dev->plugin == &ompgpu_emu_plugin &&
        ompgpu_checks(OMPGPU_CHECK_ADDRESS))
        ompgpu_check_report(OMPGPU_CHECK_ADDRESS, NULL, "%s: %s", routine, ompgpu_plugin_message());
    return bad;
}

/* ------------------------------------------------------------------ in one piece */
struct copy {
    struct way way;
    void *dst;
    const void *src;
    size_t size;
    const void *caller; /* for a tool */
};

static int begin_copy(struct copy *c, int dst_number, int src_number)
{
    return !c->dst || !c->src || ompgpu_device_try(dst_number, &c->way.to) ||
                   ompgpu_device_try(src_number, &c->way.from)
               ? EINVAL
               : 0;
}

int ompgpu_copy_between(struct ompgpu_device *to, void *dst, struct ompgpu_device *from,
                        const void *src, size_t size)
{
    const struct way w = { .to = to, .from = from };
    return copy_bytes(dst, src, size, &w);
}

/* What stays on a device is not counted. */
static int watch_copy(const struct way *w, const char *name, size_t size, double start)
{
    struct ompgpu_device *dev = w->to ? w->to : w->from;
    enum ompgpu_way way = !w->from ? OMPGPU_TO_DEVICE
                          : !w->to ? OMPGPU_FROM_DEVICE
                                   : OMPGPU_BETWEEN_DEVICES;
    const struct ompgpu_transfer t = { way, false, name, size, w->task ? 0 : start };
    return ompgpu_watched() && w->to != w->from && ompgpu_watch_transfer(NULL, dev, &t) ? EIO : 0;
}

/* caller: for a tool */
static void begin_routine(const char *name, const void *caller)
{
    static _Thread_local struct ompgpu_where where;
    where.directive = name;
    ompgpu_copying = &where;
    ompgpu_tool_routine(caller);
}

static void end_routine(void)
{
    ompgpu_tool_routine(NULL);
    ompgpu_copying = NULL;
}

static int do_copy(const struct copy *c)
{
    static const char name[] = "omp_target_memcpy";
    double start = ompgpu_watch_clock();
    begin_routine(name, c->caller);
    int bad = report_failure(copy_bytes(c->dst, c->src, c->size, &c->way), &c->way, name);
    end_routine();
    if (!bad)
        bad = watch_copy(&c->way, name, c->size, start);
    return bad ? bad : wait_for_copies(&c->way);
}

static int enqueue_copy(struct ompgpu_task *t)
{
    struct copy *c = t->kept;
    c->way.task = t;
    return do_copy(c);
}

static char *add_offset(const void *p, size_t offset) { return p ? (char *)p + offset : NULL; }

int omp_target_memcpy(void *dst, const void *src, size_t length, size_t dst_offset,
                      size_t src_offset, int dst_number, int src_number)
{
    struct copy c = { .dst = add_offset(dst, dst_offset),
                      .src = add_offset(src, src_offset),
                      .size = length,
                      .caller = __builtin_return_address(0) };
    int bad = begin_copy(&c, dst_number, src_number);
    return bad ? bad : do_copy(&c);
}

int omp_target_memcpy_async(void *dst, const void *src, size_t length, size_t dst_offset,
                            size_t src_offset, int dst_number, int src_number, int ndepend,
                            void **depend)
{
    struct copy c = { .dst = add_offset(dst, dst_offset),
                      .src = add_offset(src, src_offset),
                      .size = length,
                      .caller = __builtin_return_address(0) };
    int bad = begin_copy(&c, dst_number, src_number);
    if (bad || ompgpu_defer_routine(device_of(&c.way), "omp_target_memcpy_async", enqueue_copy, &c,
                                    sizeof c, ndepend, depend))
        return bad;
    return do_copy(&c);
}

/* ------------------------------------------------------------------ parts of arrays */
struct rect { /* all per dimension, outermost first */
    const size_t *volume, *dst_offsets, *src_offsets, *dst_dimensions, *src_dimensions;
    size_t element;
    struct way way;
    void *dst;
    const void *src;
    int ndims;
    const void *caller; /* for a tool */
};

/* Bytes from one index of dimension d to the next. */
static bool stride_of(size_t element, const size_t *dimensions, int d, int ndims, size_t *out)
{
    *out = element;
    for (int i = d + 1; i < ndims; i++)
        if (__builtin_mul_overflow(*out, dimensions[i], out))
            return false;
    return true;
}

static int copy_rect(const struct rect *r, char *dst, const char *src, int d)
{
    size_t dst_stride, src_stride, bytes;
    if (!stride_of(r->element, r->dst_dimensions, d, r->ndims, &dst_stride) ||
        !stride_of(r->element, r->src_dimensions, d, r->ndims, &src_stride))
        return EINVAL;
    dst += r->dst_offsets[d] * dst_stride;
    src += r->src_offsets[d] * src_stride;
    if (d == r->ndims - 1)
        return __builtin_mul_overflow(r->volume[d], r->element, &bytes)
                   ? EINVAL
                   : copy_bytes(dst, src, bytes, &r->way);
    int bad = 0;
    for (size_t i = 0; i < r->volume[d] && !bad; i++)
        bad = copy_rect(r, dst + i * dst_stride, src + i * src_stride, d + 1);
    return bad;
}

static int begin_rect(struct rect *r, int dst_number, int src_number)
{
    return !r->dst || !r->src || !r->element || r->ndims < 1 || !r->volume || !r->dst_offsets ||
                   !r->src_offsets || !r->dst_dimensions || !r->src_dimensions ||
                   ompgpu_device_try(dst_number, &r->way.to) ||
                   ompgpu_device_try(src_number, &r->way.from)
               ? EINVAL
               : 0;
}

static int do_rect(const struct rect *r)
{
    static const char name[] = "omp_target_memcpy_rect";
    begin_routine(name, r->caller);
    int bad = report_failure(copy_rect(r, r->dst, r->src, 0), &r->way, name);
    end_routine();
    return bad ? bad : wait_for_copies(&r->way);
}

int omp_target_memcpy_rect(void *dst, const void *src, size_t element, int ndims,
                           const size_t *volume, const size_t *dst_offsets,
                           const size_t *src_offsets, const size_t *dst_dimensions,
                           const size_t *src_dimensions, int dst_number, int src_number)
{
    struct rect r = { volume,
                      dst_offsets,
                      src_offsets,
                      dst_dimensions,
                      src_dimensions,
                      element,
                      { 0 },
                      dst,
                      src,
                      ndims,
                      __builtin_return_address(0) };
    if (!dst && !src)
        return INT_MAX; /* how many dimensions are supported */
    int bad = begin_rect(&r, dst_number, src_number);
    return bad ? bad : do_rect(&r);
}

/* Its arrays follow it. */
static int enqueue_rect(struct ompgpu_task *t)
{
    struct rect *r = t->kept;
    const size_t **arrays[] = { &r->volume, &r->dst_offsets, &r->src_offsets, &r->dst_dimensions,
                                &r->src_dimensions };
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        *arrays[i] = (const size_t *)(r + 1) + i * (size_t)r->ndims;
    r->way.task = t;
    return do_rect(r);
}

static bool defer_rect(const struct rect *r, int ndepend, void **depend)
{
    const size_t *const arrays[] = { r->volume, r->dst_offsets, r->src_offsets, r->dst_dimensions,
                                     r->src_dimensions };
    size_t one = (size_t)r->ndims * sizeof(size_t), size = sizeof *r + 5 * one;
    char *kept = ompgpu_xalloc(size);
    if (!kept)
        return false;
    memcpy(kept, r, sizeof *r);
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++)
        memcpy(kept + sizeof *r + i * one, arrays[i], one);
    bool taken = ompgpu_defer_routine(device_of(&r->way), "omp_target_memcpy_rect_async",
                                      enqueue_rect, kept, size, ndepend, depend);
    ompgpu_xfree(kept);
    return taken;
}

int omp_target_memcpy_rect_async(void *dst, const void *src, size_t element, int ndims,
                                 const size_t *volume, const size_t *dst_offsets,
                                 const size_t *src_offsets, const size_t *dst_dimensions,
                                 const size_t *src_dimensions, int dst_number, int src_number,
                                 int ndepend, void **depend)
{
    struct rect r = { volume,
                      dst_offsets,
                      src_offsets,
                      dst_dimensions,
                      src_dimensions,
                      element,
                      { 0 },
                      dst,
                      src,
                      ndims,
                      __builtin_return_address(0) };
    if (!dst && !src)
        return INT_MAX;
    int bad = begin_rect(&r, dst_number, src_number);
    if (bad || defer_rect(&r, ndepend, depend))
        return bad;
    return do_rect(&r);
}

/* ------------------------------------------------------------------ memset */
struct set {
    struct way way;
    char *dst;
    int value;
    size_t size;
};

/* The first bytes come from the host, then what is set is doubled on the device. */
static int set_bytes(const struct set *s)
{
    const struct way up = { .to = s->way.to, .task = s->way.task },
                     within = { s->way.to, s->way.to, s->way.task };
    char first[4096];
    size_t done = s->size < sizeof first ? s->size : sizeof first;
    memset(first, s->value, done);
    const void *src = up.task ? ompgpu_task_keep(up.task, first, done) : first;
    if (!src || copy_bytes(s->dst, src, done, &up))
        return -1;
    for (size_t n; done < s->size; done += n) {
        n = done < s->size - done ? done : s->size - done;
        if (copy_bytes(s->dst + done, s->dst, n, &within))
            return -1;
    }
    return wait_for_copies(&up);
}

static int do_set(const struct set *s)
{
    begin_routine("omp_target_memset", NULL);
    int bad = set_bytes(s);
    end_routine();
    return bad;
}

static int enqueue_set(struct ompgpu_task *t)
{
    struct set *s = t->kept;
    s->way.task = t;
    return do_set(s);
}

static void *set_now(const struct set *s)
{
    if (!s->way.to)
        memset(s->dst, s->value, s->size);
    else if (do_set(s))
        ompgpu_fatal(NULL, "omp_target_memset: %s", ompgpu_plugin_message());
    return s->dst;
}

void *omp_target_memset(void *p, int value, size_t size, int number)
{
    struct set s = { .dst = p, .value = value, .size = size };
    return !p || !size || ompgpu_device_try(number, &s.way.to) ? p : set_now(&s);
}

void *omp_target_memset_async(void *p, int value, size_t size, int number, int ndepend,
                              void **depend)
{
    struct set s = { .dst = p, .value = value, .size = size };
    if (!p || !size || ompgpu_device_try(number, &s.way.to) ||
        ompgpu_defer_routine(s.way.to, "omp_target_memset_async", enqueue_set, &s, sizeof s,
                             ndepend, depend))
        return p;
    return set_now(&s);
}
