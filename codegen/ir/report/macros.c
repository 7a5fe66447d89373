/* macros.c - messages about lines that macros have changed.
 *
 * omp-split has libclang, and finds where the user wrote a place of the preprocessed text and which
 * macros it comes from.  It is started for each of the few messages that are about such a line. */
#include "codegen/ir/tool.h"
#include "driver/base/protocol.h"
#include <errno.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;
static struct words command;

void ir_add_split(const char *word) { words_add(&command, word); }

/* TOOL --say RECORD and the other words. */
static struct words command_for(const char *record)
{
    struct words w = { 0 };
    WORDS_ADD(&w, command.v[0], "--say", record);
    words_add_list(&w, command.v + 1);
    return w;
}

static bool run(struct words w)
{
    pid_t pid;
    int status;
    fflush(stderr);
    if (posix_spawnp(&pid, w.v[0], NULL, NULL, (char **)w.v, environ) != 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    return WIFEXITED(status) && WEXITSTATUS(status) == TOOL_OK;
}

bool ir_say_in_macro(struct ir_place at, enum diag_severity severity, const char *words)
{
    const struct proto_message m = {
        .file = at.file, .line = at.line, .column = at.column, .severity = severity, .words = words
    };
    if (!command.n || !at.column || severity == DIAG_REMARK ||
        !run(command_for(proto_write_message(&m))))
        return false;
    diag_count(severity);
    return true;
}
