/* profile_files.c - the profile as a trace for Perfetto or chrome://tracing, and as CSV. */
#include <errno.h>
#include <unistd.h>
#include "hostrt/json_string.h"
#include "hostrt/core/profile.h"

static const char *const names[OMPGPU_PROFILE_KINDS] = { [OMPGPU_PROFILE_REGION] = "region",
                                                         [OMPGPU_PROFILE_HOST] =
                                                             "region on the host",
                                                         [OMPGPU_PROFILE_TO] = "copy to device",
                                                         [OMPGPU_PROFILE_FROM] = "copy from device",
                                                         [OMPGPU_PROFILE_BETWEEN] =
                                                             "copy between devices",
                                                         [OMPGPU_PROFILE_ALLOC] = "allocation",
                                                         [OMPGPU_PROFILE_CHUNK] = "chunk" };

const char *ompgpu_profile_kind_name(enum ompgpu_profile_kind kind) { return names[kind]; }

/* ------------------------------------------------------------------ trace */
static void print_arguments(FILE *f, const struct ompgpu_profile_event *e)
{
    const struct ompgpu_profile_row *r = e->row;
    fputs(",\"args\":{\"place\":", f);
    json_string(f, r->file);
    fprintf(f, ",\"line\":%u", r->line);
    if (r->kind == OMPGPU_PROFILE_REGION)
        fprintf(f, ",\"teams\":%u,\"threads\":%u,\"registers\":%u", r->geometry.teams,
                r->geometry.threads, r->registers);
    else if (r->kind != OMPGPU_PROFILE_HOST) {
        fputs(",\"construct\":", f);
        json_string(f, r->directive);
        fprintf(f, ",\"bytes\":%llu,\"implicit\":%s", (unsigned long long)e->bytes,
                r->implicit ? "true" : "false");
    }
    fputc('}', f);
}

/* What is in a queue overlaps with other things: a pair of asynchronous events. */
static void print_event(FILE *f, const struct ompgpu_profile_event *e, size_t number)
{
    const char *last = e->thread ? "X" : "e";
    for (const char *phase = e->thread ? "X" : "b";; phase = last) {
        fputs(",\n{\"name\":", f);
        json_string(f, e->row->name);
        fprintf(f, ",\"cat\":\"%s\",\"ph\":\"%c\",\"pid\":%ld,\"tid\":%ld", names[e->row->kind],
                *phase, (long)getpid(), e->thread);
        fprintf(f, ",\"ts\":%.3f", 1e3 * (*phase == 'e' ? e->start + e->ms : e->start));
        if (*phase == 'X')
            fprintf(f, ",\"dur\":%.3f", 1e3 * e->ms);
        else
            fprintf(f, ",\"id\":%zu", number);
        print_arguments(f, e);
        fputc('}', f);
        if (*phase == *last)
            return;
    }
}

void ompgpu_profile_write_trace(FILE *f, const struct ompgpu_profile *p)
{
    fprintf(f,
            "{\"displayTimeUnit\":\"ms\",\"otherData\":{\"device\":\"%s\",\"dropped\":%zu,"
            "\"milliseconds\":%.3f},\n\"traceEvents\":[\n{\"name\":\"process_name\",\"ph\":\"M\","
            "\"pid\":%ld,\"args\":{\"name\":",
            p->device, p->dropped, p->ms, (long)getpid());
    json_string(f, program_invocation_short_name);
    fputs("}}", f);
    for (size_t i = 0; i < p->nevents; i++)
        print_event(f, &p->events[i], i);
    fputs("\n]}\n", f);
}

/* ------------------------------------------------------------------ CSV */
static void print_field(FILE *f, const char *s)
{
    fputc('"', f);
    for (; *s; s++)
        fprintf(f, *s == '"' ? "\"\"" : "%c", *s);
    fputs("\",", f);
}

void ompgpu_profile_write_csv(FILE *f, const struct ompgpu_profile *p)
{
    fputs("kind,name,file,line,construct,implicit,count,ms,longest_ms,share,bytes,"
          "bytes_per_second,teams,threads,registers,stack_bytes,shared_bytes,occupancy\n",
          f);
    for (unsigned i = 0; i < p->nrows; i++) {
        const struct ompgpu_profile_row *r = p->rows[i];
        print_field(f, names[r->kind]);
        print_field(f, r->name);
        print_field(f, r->file);
        fprintf(f, "%u,", r->line);
        print_field(f, r->directive);
        fprintf(f, "%d,%llu,%.6f,%.6f,%.4f,%llu,%.0f,%u,%u,%u,%zu,%u,%.3f\n", r->implicit,
                (unsigned long long)r->count, r->ms, r->longest, p->ms > 0 ? r->ms / p->ms : 0,
                (unsigned long long)r->bytes, r->ms > 0 ? (double)r->timed_bytes / r->ms * 1e3 : 0,
                r->geometry.teams, r->geometry.threads, r->registers, r->stack, r->shared,
                r->occupancy);
    }
}
