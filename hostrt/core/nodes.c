/* nodes.c - devices of other nodes: OMPGPU_NODES=mpi brings those of the other ranks of the MPI job
 * (hostrt/mpi), after our own.
 *
 * Which ranks are workers must be known before main() begins there, so a program that does not use
 * MPI itself becomes part of the job when it starts.  One that does calls MPI_Init before it uses a
 * device, and its workers are other programs (ompgpu-worker). */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include "hostrt/core/core.h"
#include "hostrt/nodes.h"

static const struct ompgpu_nodes *nodes; /* NULL: there are none */
static const struct ompgpu_plugin *plugin;
static bool is_worker, tried;
static char reason[1024]; /* why there are none, though they were asked for */
static int exit_status;
bool ompgpu_serves;

struct node_settings {
    long mpi, timeout;
};
static struct node_settings read_settings(void)
{
    static const struct ompgpu_variable variables[] = {
        { .name = "OMPGPU_NODES",
          .field = offsetof(struct node_settings, mpi),
          .words = { "self", "mpi" },
          .valid = "self, mpi" },
        { .name = "OMPGPU_NODES_TIMEOUT",
          .field = offsetof(struct node_settings, timeout),
          .least = 1,
          .valid = "seconds, 1 or more" },
    };
    struct node_settings s = { .timeout = 30 };
    ompgpu_read_variables(variables, sizeof variables / sizeof *variables, &s);
    return s;
}

/* ------------------------------------------------------------------ services */
static double get_spin(void)
{
    static const double seconds[] = { [OMPGPU_WAIT_AUTO] = 2e-4,
                                      [OMPGPU_WAIT_SPIN] = 1e9,
                                      [OMPGPU_WAIT_BLOCK] = 0 };
    return seconds[ompgpu_settings.wait];
}

static long get_checks(void)
{
    long set = 0;
    for (int k = 0; k < OMPGPU_CHECKS; k++)
        set |= (long)ompgpu_checks(k) << k;
    return set;
}

static void set_checks(long set)
{
    ompgpu_serves = true;
    if (ompgpu_settings.checks == OMPGPU_CHECK_UNSAID)
        ompgpu_settings.checks = set;
}

static int count_own(void)
{
    ompgpu_start();
    return ompgpu_ndevices;
}

static const struct ompgpu_plugin *own_device(int number, int *ordinal)
{
    *ordinal = ompgpu_devices[number].ordinal;
    return ompgpu_devices[number].plugin;
}

/* ------------------------------------------------------------------ the library */
/* Open MPI and MPICH have different interfaces in binary, so there is one for each; the launcher
 * shows in the environment which it is.  Where it does not, libompgpu-mpi.so is a link to the one
 * that the installation prefers. */
static const char *library_name(void)
{
    static const char *const of_mpich[] = { "PMI_RANK", "MPI_LOCALRANKID", "HYDI_CONTROL_FD" };
    if (dlsym(RTLD_DEFAULT, "ompi_mpi_comm_world") || secure_getenv("OMPI_COMM_WORLD_RANK"))
        return "libompgpu-openmpi.so";
    for (size_t i = 0; i < sizeof of_mpich / sizeof *of_mpich; i++)
        if (secure_getenv(of_mpich[i]))
            return "libompgpu-mpich.so";
    return dlsym(RTLD_DEFAULT, "MPIR_Dup_fn") ? "libompgpu-mpich.so" : "libompgpu-mpi.so";
}

static const struct ompgpu_nodes *load_library(void)
{
    char path[4096];
    void *library =
        dlopen(ompgpu_library_path(library_name(), path, sizeof path), RTLD_NOW | RTLD_GLOBAL);
    const struct ompgpu_nodes *n = library ? dlsym(library, OMPGPU_NODES_SYMBOL) : NULL;
    if (!n)
        snprintf(reason, sizeof reason, "OMPGPU_NODES=mpi: %s", dlerror());
    return n;
}

static void note_status(int status, void *unused)
{
    (void)unused;
    exit_status = status;
}

/* Is the program linked with MPI?  Not: have we loaded it. */
static bool uses_mpi(void) { return dlsym(RTLD_DEFAULT, "MPI_Init") != NULL; }

static void join(void)
{
    static struct ompgpu_nodes_services services;
    if (tried)
        return;
    tried = true;
    const struct node_settings s = read_settings();
    if (!s.mpi && !is_worker)
        return;
    const bool mpi_program = !is_worker && uses_mpi();
    services = (struct ompgpu_nodes_services){ .error = ompgpu_plugin_error,
                                               .message = ompgpu_plugin_message,
                                               .alloc = ompgpu_xalloc,
                                               .version = OMPGPU_VERSION,
                                               .timeout = s.timeout,
                                               .spin = get_spin,
                                               .report = secure_getenv("OMPGPU_INFO") != NULL,
                                               .checks = get_checks,
                                               .check = set_checks,
                                               .end_checks = ompgpu_check_end,
                                               .count = count_own,
                                               .device = own_device };
    const struct ompgpu_nodes *n = load_library();
    if (!n)
        return;
    ompgpu_plugin_error("%s", "");
    plugin = n->join(&services, is_worker, mpi_program);
    if (!plugin) {
        snprintf(reason, sizeof reason, "%s", ompgpu_plugin_message());
        return;
    }
    nodes = n;
}

__attribute__((constructor)) static void start_nodes(void)
{
    if (secure_getenv("OMPGPU_NODES") && !uses_mpi())
        join();
}

const struct ompgpu_plugin *ompgpu_nodes_plugin(const char **why)
{
    join(); /* unless that has been done */
    if (nodes)
        on_exit(note_status, NULL); /* called before destructors: registered after main() began */
    *why = *reason ? reason : NULL;
    return plugin;
}

void ompgpu_nodes_leave(void)
{
    if (nodes)
        nodes->leave(exit_status);
    nodes = NULL;
}

int __ompgpu_worker(void)
{
    is_worker = true;
    join();
    ompgpu_say(NULL, "error", "%s",
               *reason ? reason : "a worker cannot be rank 0 of an MPI job: that is the program");
    return 1;
}
