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
    const char *low = w->home.stack;
    size_t guard = 1u << 20, slack = 1u << 16;
    if (!w->plain && w->current->fiber) {
        low = w->current->fiber->stack;
        guard = ompgpu_emu_fiber_guard();
        slack = guard;
    }
    if (!low)
        return false;
    return (address < low && address >= low - guard) && sp < low + slack;
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

/* Not instrumented: with AddressSanitizer its frame would lie in the fake stack of the fiber, which
 * leaving the fiber takes away. */
#ifdef EMU_ASAN
__attribute__((no_sanitize("address")))
#endif
static void on_signal(int signo, siginfo_t *info, void *context)
{
    struct emu_worker *w = ompgpu_emu_worker;
    ucontext_t *uc = context;
    if (!w || !w->current || info->si_code <= 0) {
        for (unsigned i = 0; i < NSIGNALS; i++)
            if (signals[i].signal == signo)
                forward_signal(signo, info, context, &before[i]);
        return;
    }
    greg_t *regs = uc->uc_mcontext.gregs;
    /* a non-canonical address is not reported by the processor */
    bool known = info->si_code != SI_KERNEL;
    w->fault =
        (struct emu_fault){ .signal = signo,
                            .code = info->si_code,
                            .address = known ? info->si_addr : NULL,
                            .pc = (void *)regs[REG_RIP],
                            .overflow = signo == SIGSEGV &&
                                        is_overflow(w, info->si_addr, (char *)regs[REG_RSP]) };
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

int ompgpu_emu_fault_text(const struct emu_fault *f, char *text, size_t size)
{
    const char *what = "fault";
    char where[128] = "", at[64] = "";
    Dl_info info;
    for (unsigned i = 0; i < NSIGNALS; i++)
        if (signals[i].signal == f->signal)
            what = signals[i].what;
    if (dladdr(f->pc, &info) && info.dli_sname)
        snprintf(where, sizeof where, " in %.100s", info.dli_sname);
    if (f->overflow)
        return snprintf(
            text, size,
            "stack overflow%s: OMPGPU_STACK_SIZE sets the bytes a thread gets for recursion",
            where);
    if (f->signal == SIGSEGV || f->signal == SIGBUS)
        snprintf(at, sizeof at,
                 f->code == SI_KERNEL ? " at an address no pointer can have" : " at address %p",
                 f->address);
    return snprintf(text, size, "%s%s%s", what, at, where);
}
