/* timed.h - work that takes time; see timed.c. */
#ifndef TIMED_H
#define TIMED_H
#include <stdbool.h>
#include <stddef.h>

struct timed_stream;
struct timed_event;
struct timed_work {
    enum { TIMED_IN, TIMED_OUT, TIMED_WITHIN, TIMED_KERNEL, TIMED_CALL, TIMED_WAIT, TIMED_RECORD } kind;
    void *dst;
    const void *src;
    size_t size;
    void (*call)(void *);
    void *argument;
    struct timed_event *event;
};
bool timed_on(void);
struct timed_stream *timed_stream_new(void);
void timed_stream_end(struct timed_stream *);       /* does what is in it first */
struct timed_event *timed_event_new(void);
void timed_add(struct timed_stream *, struct timed_work);
void timed_await_stream(struct timed_stream *);
bool timed_stream_is_done(struct timed_stream *), timed_event_is_done(struct timed_event *);
void timed_await_event(struct timed_event *);
double nullcuda_span(bool start);                   /* see nullcuda.h */
#endif
