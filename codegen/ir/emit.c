/* emit.c - optimise for one architecture and write PTX or an ELF object.
 *
 * One module is optimised once per architecture, because libdevice and cost models ask for it.
 * Every output but the first has a process of its own, forked when all the common work is done:
 * that needs no copy of the module, and two cores halve the time. */
#include "codegen/ir/passes/passes.h"
#include "codegen/ir/report/report.h"
#include <errno.h>
#include <llvm-c/Support.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* The runtime needs independent thread scheduling, hence nothing before sm_70.  ptx: the lowest
 * version that has the architecture and what the runtime uses (alloca: 7.3), so that older drivers
 * and ptxas accept the text. */
static const struct arch {
    const char *name, *features;
} archs[] = {
    { "sm_70", "+ptx73" },   { "sm_72", "+ptx73" },  { "sm_75", "+ptx73" },
    { "sm_80", "+ptx73" },   { "sm_86", "+ptx73" },  { "sm_87", "+ptx74" },
    { "sm_88", "+ptx90" },   { "sm_89", "+ptx78" },  { "sm_90", "+ptx78" },
    { "sm_90a", "+ptx80" },  { "sm_100", "+ptx86" }, { "sm_100a", "+ptx86" },
    { "sm_100f", "+ptx88" }, { "sm_101", "+ptx86" }, { "sm_101a", "+ptx86" },
    { "sm_101f", "+ptx88" }, { "sm_103", "+ptx88" }, { "sm_103a", "+ptx88" },
    { "sm_103f", "+ptx88" }, { "sm_110", "+ptx90" }, { "sm_110a", "+ptx90" },
    { "sm_110f", "+ptx90" }, { "sm_120", "+ptx87" }, { "sm_120a", "+ptx87" },
    { "sm_120f", "+ptx88" }, { "sm_121", "+ptx88" }, { "sm_121a", "+ptx88" },
    { "sm_121f", "+ptx88" },
};
enum { ARCHS = sizeof archs / sizeof *archs };

static const struct arch *find_arch(const char *name)
{
    for (unsigned i = 0; i < ARCHS; i++)
        if (strcmp(archs[i].name, name) == 0)
            return &archs[i];
    return NULL;
}

void ir_print_archs(void)
{
    for (unsigned i = 0; i < ARCHS; i++)
        puts(archs[i].name);
}

bool ir_check_archs(const struct ir_options *opt)
{
    for (unsigned i = 0; i < opt->noutputs && opt->target == IR_NVPTX; i++) {
        if (find_arch(opt->outputs[i].arch))
            continue;
        char *known = "";
        for (unsigned a = 0; a < ARCHS; a++)
            known = mem_printf("%s %s", known, archs[a].name);
        diag_error("unknown GPU architecture '%s'; known:%s", opt->outputs[i].arch, known);
    }
    return diag_errors() == 0;
}

/* ------------------------------------------------------------------ target machine */
/* LLVM's limit for an unrolled loop is made for caches of instructions smaller than a GPU's: the
 * body of an n-body loop would run twice a test and jump.  ptxas unrolls small loops again, so that
 * more than four copies of theirs would only be more code.  A trip count like n - i may be computed
 * for it, too.  Blocks are placed by blocks.c. */
static const char *const gpu_options[] = { "-unroll-partial-threshold=150", "-unroll-max-count=4",
                                           "-scev-cheap-expansion-budget=6",
                                           "-disable-block-placement" };

/* No device has a library with conversions between 128-bit integers and floating point: they are
 * written out. */
static void set_llvm_options(enum ir_target target)
{
    const char *arguments[8] = { "omp-device", "-expand-fp-convert-bits=64" };
    int n = 2;
    for (unsigned i = 0; target == IR_NVPTX && i < sizeof gpu_options / sizeof *gpu_options; i++)
        arguments[n++] = gpu_options[i];
    LLVMParseCommandLineOptions(n, arguments, NULL);
}

void ir_setup_target(enum ir_target target)
{
    if (target == IR_NVPTX) {
        LLVMInitializeNVPTXTargetInfo();
        LLVMInitializeNVPTXTarget();
        LLVMInitializeNVPTXTargetMC();
        LLVMInitializeNVPTXAsmPrinter();
    } else {
        LLVMInitializeX86TargetInfo();
        LLVMInitializeX86Target();
        LLVMInitializeX86TargetMC();
        LLVMInitializeX86AsmPrinter();
        LLVMInitializeX86AsmParser();
    }
    set_llvm_options(target);
}

static LLVMCodeGenOptLevel codegen_level(char level)
{
    return level == '0'   ? LLVMCodeGenLevelNone
           : level == '1' ? LLVMCodeGenLevelLess
           : level == '3' ? LLVMCodeGenLevelAggressive
                          : LLVMCodeGenLevelDefault;
}

/* -O0 is for the user's code: what checks each access of it need not be slow, too. */
static bool keeps_simple(const struct ir_options *opt)
{
    return opt->target == IR_X86 && opt->check && opt->level == '0';
}

static void keep_code_simple(struct ir_unit *u)
{
    IR_EACH_FUNCTION(f, u->module)
        if (!LLVMIsDeclaration(f) && !ir_string_attribute(f, IR_CHECK))
            ir_leave_unoptimised(f);
}

static LLVMTargetMachineRef make_machine(const struct ir_unit *u, const char *arch)
{
    const char *triple = LLVMGetTarget(u->module);
    LLVMTargetRef target;
    char *why = NULL;
    if (LLVMGetTargetFromTriple(triple, &target, &why))
        diag_bug("no target '%s': %s", triple, why);
    bool nvptx = u->opt->target == IR_NVPTX;
    LLVMTargetMachineOptionsRef options = LLVMCreateTargetMachineOptions();
    LLVMTargetMachineOptionsSetCPU(options, nvptx ? arch : "x86-64");
    LLVMTargetMachineOptionsSetFeatures(options, nvptx ? find_arch(arch)->features : "");
    LLVMTargetMachineOptionsSetCodeGenOptLevel(
        options, codegen_level(keeps_simple(u->opt) ? '1' : u->opt->level));
    LLVMTargetMachineOptionsSetRelocMode(options, nvptx ? LLVMRelocDefault : LLVMRelocPIC);
    LLVMTargetMachineRef machine = LLVMCreateTargetMachineWithOptions(target, triple, options);
    LLVMDisposeTargetMachineOptions(options);
    return machine;
}

/* ------------------------------------------------------------------ optimise and emit */
/* A GPU gets LLVM's O3 pipeline from -O2 on.  Its larger limits for full unrolling are what turns a
 * thread's small arrays into registers, where memory of its own would cost hundreds of cycles; the
 * code of a kernel is small beside that of a program. */
static char pipeline_level(const struct ir_options *opt)
{
    return opt->target == IR_NVPTX && opt->level == '2' ? '3' : opt->level;
}

/* `malloc` and `free` are the driver's in PTX; until here they are those of the device runtime. */
static void name_driver_functions(struct ir_unit *u)
{
    static const char *const names[] = { "malloc", "free" };
    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        LLVMValueRef ours = LLVMGetNamedFunction(u->module, names[i]),
                     driver = LLVMGetNamedFunction(u->module,
                                                   mem_printf("__ompgpu_driver_%s", names[i]));
        const char *block = mem_printf("__ompgpu_%s", names[i]);
        if (ours)
            LLVMSetValueName2(ours, block, strlen(block));
        if (driver)
            LLVMSetValueName2(driver, names[i], strlen(names[i]));
    }
}

/* PTX has letters of ASCII only. */
static void name_in_ascii(LLVMValueRef v)
{
    size_t n;
    const char *name = LLVMGetValueName2(v, &n);
    char *ascii = mem_alloc(3 * n + 1);
    ompgpu_gpu_name(ascii, 3 * n + 1, name);
    if (strcmp(ascii, name) != 0)
        LLVMSetValueName2(v, ascii, strlen(ascii));
}

static void name_all_in_ascii(LLVMModuleRef m)
{
    for (LLVMValueRef f = LLVMGetFirstFunction(m); f; f = LLVMGetNextFunction(f))
        name_in_ascii(f);
    for (LLVMValueRef g = LLVMGetFirstGlobal(m); g; g = LLVMGetNextGlobal(g))
        name_in_ascii(g);
}

/* After LLVM's passes. */
static void finish_for_gpu(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    if (ir_replace_arrays(u))
        ir_run_passes(u->module, "globaldce", machine);
    if (pipeline_level(u->opt) == '3') /* between the copies of a loop that was unrolled */
        ir_run_passes(u->module, "function(early-cse<memssa>)", machine);
    if (u->opt->level != '0' && ir_settle_trips(u))
        ir_run_passes(u->module,
                      "function(instcombine<no-verify-fixpoint>,simplifycfg,early-cse,adce)",
                      machine);
    if (pipeline_level(u->opt) == '3' && ir_widen(u))
        ir_run_passes(u->module, "function(instcombine<no-verify-fixpoint>,early-cse)", machine);
    if (u->opt->level != '0') {
        ir_share_distances(u, machine);
        ir_hide_strides(u);
        ir_extend_indices(u);
        ir_order_blocks(u);
        ir_turn_branches(u);
    }
    ir_split_shifts(u->module);
    if (ir_move_words(u))
        ir_run_passes(u->module, "always-inline", machine);
    ir_replace_masks(u->module);
    ir_define_values(u->module);
    ir_order_variables(u->module);
    name_driver_functions(u);
    name_all_in_ascii(u->module);
}

static void optimise(struct ir_unit *u, LLVMTargetMachineRef machine)
{
    char passes[64];
    ir_size_batches(u, machine);
    if (u->opt->target == IR_X86)
        ir_let_others_go_on(u);
    if (u->opt->target == IR_X86 && u->opt->check)
        ir_add_checks(u, machine);
    if (u->opt->target == IR_NVPTX && u->opt->level != '0')
        ir_fix_teams(u, machine);
    snprintf(passes, sizeof passes, "globaldce,default<O%c>,globaldce", pipeline_level(u->opt));
    ir_run_passes(u->module, passes, machine);
    if (u->opt->target == IR_NVPTX && ir_settle_prints(u))
        ir_run_passes(u->module, "globaldce", machine);
    if (u->opt->level != '0' && ir_localise_state(u))
        ir_run_passes(
            u->module,
            "function(sroa,early-cse<memssa>,instcombine<no-verify-fixpoint>,simplifycfg,"
            "correlated-propagation,gvn,instcombine<no-verify-fixpoint>,simplifycfg,adce),"
            "globaldce",
            machine);
    ir_plain_locals(u);
    if (ir_prune_state(u))
        ir_run_passes(u->module,
                      u->opt->level == '0'
                          ? "globaldce"
                          : "function(instcombine<no-verify-fixpoint>,simplifycfg,adce),globaldce",
                      machine);
    if (u->opt->target == IR_NVPTX)
        finish_for_gpu(u, machine);
}

static bool emit_ir(const struct ir_unit *u)
{
    char *text = LLVMPrintModuleToString(u->module);
    char *all = mem_printf("%s%s", ir_shown_steps(), text);
    bool ok = ir_write_file(u->opt->emit_ir, all, strlen(all));
    LLVMDisposeMessage(text);
    return ok;
}

static bool emit_code(struct ir_unit *u, LLVMTargetMachineRef machine, const struct ir_output *out)
{
    LLVMCodeGenFileType type = u->opt->target == IR_NVPTX ? LLVMAssemblyFile : LLVMObjectFile;
    LLVMMemoryBufferRef code;
    char *why = NULL;
    if (LLVMTargetMachineEmitToMemoryBuffer(machine, u->module, type, &why, &code)) {
        diag_error("%s", why);
        return false;
    }
    bool ok = diag_errors() == 0 &&
              ir_write_file(out->path, LLVMGetBufferStart(code), LLVMGetBufferSize(code));
    LLVMDisposeMemoryBuffer(code);
    return ok;
}

static bool produce(struct ir_unit *u, const struct ir_output *out, bool first)
{
    LLVMTargetMachineRef machine = make_machine(u, out->arch);
    optimise(u, machine);
    ir_step_done(u, "optimise");
    ir_verify(u->module, "optimisation");
    if (first && !ir_measure(u)) /* code generation changes the module */
        return false;
    if (u->opt->target == IR_X86) {
        ir_run_threads(u, machine);
        ir_place_shared(u);
    }
    if (first && u->opt->emit_ir && !emit_ir(u))
        return false;
    if (u->opt->target == IR_X86 && !u->unified)
        ir_add_gates(u, machine);
    if (u->opt->target == IR_X86)
        ir_split_coroutines(u, machine);
    if (keeps_simple(u->opt))
        keep_code_simple(u);
    bool ok = emit_code(u, machine, out);
    ir_step_done(u, "emit");
    LLVMDisposeTargetMachine(machine);
    return ok;
}

static pid_t produce_aside(struct ir_unit *u, const struct ir_output *out)
{
    fflush(stderr);
    pid_t pid = fork();
    if (pid < 0)
        diag_error("cannot start a process: %s", strerror(errno));
    if (pid == 0) {
        bool ok = produce(u, out, false);
        fflush(stderr);
        _exit(!ok);
    }
    return pid;
}

static bool finished_well(pid_t pid, const struct ir_output *out)
{
    int status;
    if (pid < 0)
        return false;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR)
            return false;
    if (WIFSIGNALED(status))
        diag_error("internal error in omp-device: code generation for %s ended with signal %d",
                   out->arch, WTERMSIG(status));
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

bool ir_emit(struct ir_unit *u)
{
    const struct ir_options *opt = u->opt;
    pid_t *pids = mem_array(opt->noutputs, sizeof *pids);
    if (opt->target == IR_NVPTX && !ir_can_order_variables(u->module))
        return false;
    for (unsigned i = 1; i < opt->noutputs; i++)
        pids[i] = produce_aside(u, &opt->outputs[i]);
    bool ok = produce(u, &opt->outputs[0], true);
    for (unsigned i = 1; i < opt->noutputs; i++)
        ok &= finished_well(pids[i], &opt->outputs[i]);
    return ok;
}
