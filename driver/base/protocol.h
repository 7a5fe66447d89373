/* protocol.h - what the three programs tell each other, for writer and reader alike.
 *
 *   omp-split  -> command     exit code; record `unit` in the first line of the device text, with
 *                             --report a record `region` in each of the next ones
 *   command    -> omp-device  a record `member` for each file of a device link (--member=)
 *   omp-device -> omp-split   with --say: a record `message`
 *   omp-device -> command     exit code; the info file: `kernel`, `outcome`, `taken`, `alias`
 *   command    -> command     a record `compiled` in each container, for the device link
 *
 * A record is one line: its kind, then key=value for each of its fields, in any order.  Blanks,
 * newlines and backslashes in a value are written \s, \n and \\, so that names of files are data.
 * Fields are S, a string, or N, a number. */
#ifndef OMPGPU_BASE_PROTOCOL_H
#define OMPGPU_BASE_PROTOCOL_H
#include <stdbool.h>
#include <stdint.h>

/* Exit codes of omp-split and omp-device. */
enum tool_exit {
    TOOL_OK,
    TOOL_ERROR,      /* in the user's program, and reported; nothing was written */
    TOOL_USAGE,      /* options or files */
    TOOL_NO_TARGETS, /* omp-split: no device constructs, nothing was written */
    TOOL_REWRITTEN,  /* omp-split --screen: clang hangs on it or misreads it: there is another text
                      */
    TOOL_ENDLESS,    /* omp-split: clang hangs on this file (frontend/clang22.c) */
    TOOL_EXTRA /* omp-split: TOOL_ERROR, for words that clang ignores with a warning of extra tokens
                */
};

/* What a device text is.
 *   misread         clang hangs on the user's text, or takes it for something else; what it is to
 *                   check has been written
 *   rechosen        clang may choose other variants than the host has: it checks a second text, too
 *   not_for_nvptx   it has variable length arrays, which clang's NVPTX target rejects, or
 *                   structs as variable arguments, which that passes in another way than it reads
 *   needs_link      it uses functions or variables that other files define
 *   provides        it defines some for other files
 *   entries         it has target regions, or variables that the host knows
 *   host_only       it has no construct or function for a device
 *   requires        what all files of a program must require alike: clauses, or "" */
#define PROTO_UNIT(S, N)                                                                           \
    N(misread)                                                                                     \
    N(rechosen) N(not_for_nvptx) N(needs_link) N(provides) N(entries) N(host_only) S(requires)

/* What is to be said of a target region: `says` has lines LABEL \t TEXT.  threads: of a team,
 * unless the device has reasons for another number. */
#define PROTO_REGION(S, N)                                                                         \
    S(name) S(function) S(file) S(directive) N(line) N(column) N(threads) S(says)

/* A kernel; see struct ompgpu_kernel_entry in hostrt/image.h.  frame_bytes: locals of the emulated
 * device's functions; how: its mode and what that took, to be compared and shown. */
#define PROTO_KERNEL(S, N)                                                                         \
    S(name)                                                                                        \
    S(function)                                                                                    \
    S(file)                                                                                        \
    S(directive)                                                                                   \
    N(line)                                                                                        \
    N(column)                                                                                      \
    N(mode)                                                                                        \
    N(max_threads)                                                                                 \
    N(reduce_bytes)                                                                                \
    N(flags)                                                                                       \
    N(heap_bytes)                                                                                  \
    N(block_bytes) N(copy_bytes) N(frame_bytes) N(uses) S(shape) S(how)

/* With --report, of a kernel: its mode in a sentence, and lines as in `region`. */
#define PROTO_OUTCOME(S, N) S(name) N(shared_bytes) S(runs) S(says)

/* Of a device link: input number `member` is part of it; it calls `name` what is `symbol` there. */
#define PROTO_TAKEN(S, N) N(member)
#define PROTO_ALIAS(S, N) N(member) S(name) S(symbol)

/* An input of a device link.  needs: it cannot do without the link; the others are the flags with
 * which it was compiled (mode: auto, generic, spmd). */
#define PROTO_MEMBER(S, N)                                                                         \
    S(file) S(mode) N(needs) N(report) N(remarks) N(warn_generic) N(error_generic)

/* About a place in a line that macros have changed: omp-split shows where the user wrote it, and
 * what it comes from.  severity: enum diag_severity. */
#define PROTO_MESSAGE(S, N) S(file) N(line) N(column) N(severity) S(words)

/* How a file was compiled.  archs: sm_90,emu; host_only, requires: as in `unit`.  The records
 * `region` of a file that was compiled with -Rompgpu follow, a line each. */
#define PROTO_COMPILED(S, N)                                                                       \
    S(level)                                                                                       \
    N(debug) N(check) S(mode) N(remarks) N(warn) N(error) S(archs) N(host_only) S(requires)

/* Warnings of omp-split.  Its --warnings has a digit for each: 0 off, 1 on, 2 an error. */
#define PROTO_WARNINGS(W)                                                                          \
    W(LOST, "ompgpu-lost")                                                                         \
    W(LOST_REDUCTION, "ompgpu-lost-reduction")                                                     \
    W(UNMAPPED, "ompgpu-unmapped")                                                                 \
    W(LIMITS, "ompgpu-limits")                                                                     \
    W(UNINITIALIZED, "ompgpu-uninitialized")                                                       \
    W(DEPENDENCE, "ompgpu-dependence")                                                             \
    W(ONE_THREAD, "ompgpu-one-thread")                                                             \
    W(ONE_TEAM, "ompgpu-one-team")                                                                 \
    W(REPEATED, "ompgpu-repeated-transfer")                                                        \
    W(SHALLOW, "ompgpu-shallow")

#define PROTO_RECORDS(R)                                                                           \
    R(unit, PROTO_UNIT)                                                                            \
    R(region, PROTO_REGION)                                                                        \
    R(kernel, PROTO_KERNEL)                                                                        \
    R(outcome, PROTO_OUTCOME)                                                                      \
    R(taken, PROTO_TAKEN)                                                                          \
    R(alias, PROTO_ALIAS)                                                                          \
    R(member, PROTO_MEMBER)                                                                        \
    R(message, PROTO_MESSAGE)                                                                      \
    R(compiled, PROTO_COMPILED)

/* struct proto_unit { uint64_t not_for_nvptx, … }; and so on */
#define PROTO_S(field) const char *field;
#define PROTO_N(field) uint64_t field;
#define PROTO_STRUCT(kind, FIELDS)                                                                 \
    struct proto_##kind {                                                                          \
        FIELDS(PROTO_S, PROTO_N)                                                                   \
    };
PROTO_RECORDS(PROTO_STRUCT)

/* Below, unit(&u) stands for each kind:
 *   const char *proto_write_unit(const struct proto_unit *);       the line, without its end
 *   bool proto_read_unit(const char *line, struct proto_unit *);   false: it is another record, or
 *                                                                  damaged.  Ends at a newline. */
#define PROTO_DECLARE(kind, FIELDS)                                                                \
    const char *proto_write_##kind(const struct proto_##kind *);                                   \
    bool proto_read_##kind(const char *line, struct proto_##kind *);
PROTO_RECORDS(PROTO_DECLARE)
#endif
