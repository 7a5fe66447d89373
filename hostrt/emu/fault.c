/* fault.c - signals raised by device code.
 *
 * While any launch runs, handlers for the synchronous signals are installed.  A signal on an OS
 * thread that is running device code is a fault of the kernel: the handler notes what happened and
 * returns not to the faulting instruction but to where the team was started
 * (ompgpu_emu_fiber_land), so that the signal mask is restored by the kernel as after any handler.
 * Every other signal goes to the handler that was there before.  Handlers run on a stack of their
 * own, because a fault may be an overflow of the stack that device code was on. */
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>
#include "hostrt/emu/emu.h"

static const struct {
    int signal;
    const char *what;
} signals[] = {
    { SIGSEGV, "invalid memory access" },
    { SIGBUS, "invalid memory access" },
    { SIGFPE, "integer division by zero or overflow" },
    { SIGILL, "illegal instruction" },
};
enum { NSIGNALS = sizeof signals / sizeof *signals };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned launches; /* guarded by lock */
/* written under lock while no handler of ours is installed */
static struct sigaction before[NSIGNALS];

static bool is_overflow(const struct emu_worker *w, const char *address, const char *sp)
{
    const char *low = w->current->fiber->stack;
    size_t guard = ompgpu_emu_fiber_guard();
    return (address < low && address >= low - guard) && sp < low + guard;
}

static void forward_signal(int signo, siginfo_t *info, void *context, const struct sigaction *old)
{
    if (old->sa_flags & SA_SIGINFO)
        old->sa_sigaction(signo, info, context);
    else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
        old->sa_handler(signo);
    else { /* the default action: a fault happens again on return, a sent signal is sent again */
        struct sigaction dfl = { .sa_handler = SIG_DFL };
        sigaction(signo, &dfl, NULL);
        if (info->si_code <= 0)
            raise(signo);
    }
}

/* The instruction before the address: call, relative or by way of a register or memory. */
static bool follows_call(const unsigned char *p)
{
    enum { RELATIVE = 0xE8, GROUP = 0xFF, REG = 0x38, CALL = 0x10 };
    static const unsigned char lengths[] = { 2, 3, 4, 6, 7 };
    for (unsigned i = 0; i < sizeof lengths; i++)
        if (p[-lengths[i]] == GROUP && (p[1 - lengths[i]] & REG) == CALL)
            return true;
    return p[-5] == RELATIVE;
}

static bool has_line(const struct emu_module *m, const void *pc)
{
    struct ompgpu_line line;
    return ompgpu_emu_image_has_code(m, pc) && ompgpu_emu_line_of(m, pc, &line);
}

/* Where in the program's code of the image the fault is; in a function of the C library, of this
 * one or of the device runtime: from where the program called it, which the stack tells: what
 * points behind a call is likely to be its return address. */
static const void *find_line_pc(const struct emu_worker *w, const void *pc, const char *sp)
{
    const struct emu_module *m = w->launch->module;
    const struct emu_fiber *f = w->current->fiber;
    if (has_line(m, pc))
        return pc;
    if (sp < f->stack)
        return NULL;
    for (; sp + sizeof(void *) <= f->stack + f->size; sp += sizeof(void *)) {
        const uintptr_t from = *(const uintptr_t *)sp; /* or anything else */
        if (from && has_line(m, (const void *)(from - 1)) && follows_call((const void *)from))
            return (const void *)(from - 1);
    }
    return NULL;
}

/* The instruction runs once more and ends the process, so that the core file shows where it is. */
static void leave_core(const struct emu_worker *w, int signo)
{
    const struct emu_launch *l = w->launch;
    struct ompgpu_where where = {
        l->where->file, l->where->line, l->where->kernel, l->where->directive, 0, NULL
    };
    char text[400], nearest[512] = "";
    uintptr_t address;
    ompgpu_emu_fault_text(&w->fault, l, text, sizeof text);
    if (ompgpu_emu_fault_address(&w->fault, &address))
        ompgpu_nearest_on(&ompgpu_emu_plugin, l->ordinal, address, nearest, sizeof nearest);
    ompgpu_say(&where, "error", "%s (team %u)%s", text, w->current->pub.team, nearest);
    signal(signo, SIG_DFL);
}

/* Not instrumented: with AddressSanitizer its frame would lie in the fake stack of the fiber, which
 * leaving the fiber takes away. */
#ifdef EMU_ASAN
__attribute__((no_sanitize("address")))
#endif
static void on_signal(int signo, siginfo_t *info, void *context)
{
    struct emu_worker *w = ompgpu_emu_worker;
    ucontext_t *uc = context;
    if ((!w || !w->current) && info->si_code == SEGV_ACCERR && signo == SIGSEGV &&
        ompgpu_emu_was_closed(info->si_addr, (void *)uc->uc_mcontext.gregs[REG_RIP],
                              uc->uc_mcontext.gregs[REG_ERR] & 2))
        return;
    if (!w || !w->current || info->si_code <= 0) {
        for (unsigned i = 0; i < NSIGNALS; i++)
            if (signals[i].signal == signo)
                forward_signal(signo, info, context, &before[i]);
        return;
    }
    greg_t *regs = uc->uc_mcontext.gregs;
    /* a non-canonical address is not reported by the processor */
    bool known = info->si_code != SI_KERNEL;
    w->fault = (struct emu_fault){
        .signal = signo,
        .code = info->si_code,
        .address = known ? info->si_addr : NULL,
        .pc = (void *)regs[REG_RIP],
        .line_pc = find_line_pc(w, (void *)regs[REG_RIP], (const char *)regs[REG_RSP]),
        .overflow = signo == SIGSEGV && is_overflow(w, info->si_addr, (char *)regs[REG_RSP])
    };
    if (ompgpu_leaves_core() && !ompgpu_may_recover()) {
        leave_core(w, signo);
        return;
    }
    w->faulted = true;
    ompgpu_emu_fiber_leaving(&w->home);
    regs[REG_RDI] = (greg_t)w->home.sp;
    regs[REG_RSP] = (greg_t)w->home.sp;
    regs[REG_RIP] = (greg_t)ompgpu_emu_fiber_land;
}

void ompgpu_emu_fault_enter(void)
{
    pthread_mutex_lock(&lock);
    if (launches++ == 0)
        for (unsigned i = 0; i < NSIGNALS; i++) {
            struct sigaction action = { .sa_sigaction = on_signal,
                                        .sa_flags = SA_SIGINFO | SA_ONSTACK },
                             old;
            sigemptyset(&action.sa_mask);
            sigaction(signals[i].signal, &action, &old);
            if (!(old.sa_flags & SA_SIGINFO) || old.sa_sigaction != on_signal)
                before[i] = old;
        }
    pthread_mutex_unlock(&lock);
}

static void restore_handlers(void)
{
    for (unsigned i = 0; i < NSIGNALS; i++) {
        struct sigaction now;
        sigaction(signals[i].signal, NULL, &now);
        if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == on_signal)
            sigaction(signals[i].signal, &before[i], NULL);
    }
}

void ompgpu_emu_fault_exit(void)
{
    pthread_mutex_lock(&lock);
    if (--launches == 0)
        restore_handlers();
    pthread_mutex_unlock(&lock);
}

/* The launches of other threads do not go on in a child. */
void ompgpu_emu_fault_fork(enum ompgpu_fork when)
{
    if (when == OMPGPU_FORK_BEFORE) {
        pthread_mutex_lock(&lock);
        return;
    }
    if (when == OMPGPU_FORK_CHILD && launches) {
        launches = 0;
        restore_handlers();
    }
    pthread_mutex_unlock(&lock);
}

bool ompgpu_emu_fault_address(const struct emu_fault *f, uintptr_t *address)
{
    *address = (uintptr_t)f->address;
    if (ompgpu_emu_is_refused(f->address))
        *address &= ~OMPGPU_EMU_REFUSED;
    return (f->signal == SIGSEGV || f->signal == SIGBUS) && f->code != SI_KERNEL && !f->overflow;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* " at line 7, column 3", with the file where it is not the region's; " in f" where no line is
 * known.  At the line of the directive there is code that the compiler has written, whose columns
 * mean nothing. */
static void describe_place(const struct emu_fault *f, const struct emu_launch *l, char *text,
                           size_t size)
{
    struct ompgpu_line at;
    Dl_info info;
    char column[32] = "";
    *text = '\0';
    if (f->line_pc && ompgpu_emu_line_of(l->module, f->line_pc, &at)) {
        bool here = l->file && strcmp(base_name(l->file), base_name(at.file)) == 0;
        if (at.column && !(here && at.line == l->where->line))
            snprintf(column, sizeof column, here ? ", column %u" : ":%u", at.column);
        if (here)
            snprintf(text, size, " at line %u%s", at.line, column);
        else
            snprintf(text, size, " at %.160s:%u%s", at.file, at.line, column);
    } else if (dladdr(f->pc, &info) && info.dli_sname)
        snprintf(text, size, " in %.100s", info.dli_sname);
}

static bool is_host_memory(const struct emu_fault *f)
{
    uintptr_t address;
    return ompgpu_emu_fault_address(f, &address) && ompgpu_emu_is_refused(f->address) &&
           address >> 12;
}

static void describe_address(const struct emu_fault *f, char *text, size_t size)
{
    uintptr_t address;
    if (ompgpu_emu_fault_address(f, &address))
        snprintf(text, size, " at address %p%s", (void *)address,
                 is_host_memory(f) ? ", memory of the host," : "");
    else
        snprintf(text, size, " at an address no pointer can have");
}

/* What clang has an instruction for that traps (-fsanitize=undefined): by its operand, the handler
 * that would be called of the run-time library. */
static const char *const undefined[] = { [0] = "signed integer overflow: addition",
                                         [1] = "a place that is never reached",
                                         [3] = "integer division by zero or overflow",
                                         [5] = "floating-point number that the integer cannot hold",
                                         [8] = "builtin that has no value for 0",
                                         [10] = "value that the type does not have",
                                         [11] = "end of a function that returns a value",
                                         [12] = "signed integer overflow: multiplication",
                                         [13] = "signed integer overflow: negation",
                                         [16] = "null pointer as an argument that is never null",
                                         [17] = "null pointer as a result that is never null",
                                         [18] = "index out of bounds",
                                         [19] = "pointer overflow",
                                         [20] = "shift by too many bits, or of too many",
                                         [21] = "signed integer overflow: subtraction",
                                         [22] = "access by a null or misaligned pointer",
                                         [24] = "array of variable length with no element" };

/* ud1l operand(%eax), %eax; an operand of 0 is left out */
static const char *find_undefined(const struct emu_fault *f)
{
    static const unsigned char trap[] = { 0x67, 0x0f, 0xb9 };
    enum { NONE = 0x00, BYTE = 0x40, UNKNOWN = 255 };
    const unsigned char *at = f->pc, *mode = at + sizeof trap;
    bool is = f->signal == SIGILL && !memcmp(at, trap, sizeof trap);
    unsigned kind = is && *mode == NONE ? 0 : is && *mode == BYTE ? mode[1] : UNKNOWN;
    return kind < sizeof undefined / sizeof *undefined ? undefined[kind] : NULL;
}

void ompgpu_emu_fault_text(const struct emu_fault *f, const struct emu_launch *l, char *text,
                           size_t size)
{
    const char *what = "fault";
    char place[200], address[80] = "";
    for (unsigned i = 0; i < NSIGNALS; i++)
        if (signals[i].signal == f->signal)
            what = signals[i].what;
    if (find_undefined(f))
        what = find_undefined(f);
    describe_place(f, l, place, sizeof place);
    if (f->overflow)
        snprintf(text, size,
                 "stack overflow%s: OMPGPU_STACK_SIZE sets the bytes a thread gets for recursion",
                 place);
    else {
        if (f->signal == SIGSEGV || f->signal == SIGBUS)
            describe_address(f, address, sizeof address);
        snprintf(text, size, "%s%s%s", what, address, place);
    }
}
