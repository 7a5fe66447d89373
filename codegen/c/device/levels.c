/* levels.c - a schedule as a list of levels, and who takes what they hand on. */
#include "codegen/c/device/nest.h"

/* Device code of this file, or of another one that runs in the same region. */
static bool may_set_schedule(const struct omp_unit *u)
{
    return u->sets_schedule || u->needs_link || u->provides;
}

/* The schedule that the clause names; of `runtime`, where nothing on the device sets one, none. */
static enum omp_sched schedule_of(const struct cg *cg, const struct omp_clause *k)
{
    return !k || k->sched == OMPSCHED_AUTO ||
                   (k->sched == OMPSCHED_RUNTIME && !may_set_schedule(cg->unit))
               ? OMPSCHED_NONE
               : k->sched;
}

static bool is_single(const struct omp_clause *k)
{
    return k && k->expr.is_constant && k->expr.value == 1;
}

static unsigned thread_levels(const struct cg *cg, struct level *to, const struct omp_clause *k)
{
    enum omp_sched s = schedule_of(cg, k);
    bool chunk = k && !cg_empty(k->expr.extent);
    if (s == OMPSCHED_NONE || (s == OMPSCHED_STATIC && is_single(k))) {
        to[0] = (struct level){ CYCLIC, CG_THREAD, NULL };
        return 1;
    }
    enum cg_level_kind kind = s == OMPSCHED_RUNTIME  ? RUNTIME
                              : s != OMPSCHED_STATIC ? DYNAMIC
                              : chunk                ? CHUNK
                                                     : BLOCK;
    to[0] = (struct level){ kind, CG_THREAD, k };
    to[1] = (struct level){ SERIAL, CG_ONE, NULL };
    return 2;
}

/* Where the teams' share is left to us, a team takes as many iterations in a row as its threads
 * have chunks (of one iteration, without a size), and static schedules are dealt to all threads. */
unsigned cg_schedule_levels(const struct cg *cg, struct level *to, enum cg_who who,
                            const struct omp_clause *sched, const struct omp_clause *dist)
{
    enum omp_sched s = schedule_of(cg, sched);
    bool chunks = s == OMPSCHED_STATIC && !cg_empty(sched->expr.extent) && !is_single(sched);
    if (who == CG_ONE) {
        to[0] = (struct level){ SERIAL, CG_ONE, NULL };
        return 1;
    }
    if (who == CG_LANES) {
        to[0] = (struct level){ CYCLIC, CG_LANES, NULL };
        return 1;
    }
    if (who == CG_THREAD)
        return thread_levels(cg, to, sched);
    if (!dist && (who == CG_TEAM || s == OMPSCHED_NONE || s == OMPSCHED_STATIC)) {
        to[0] = (struct level){ chunks ? CHUNK : CYCLIC, who, chunks ? sched : NULL };
        to[1] = (struct level){ SERIAL, CG_ONE, NULL };
        return 1 + chunks;
    }
    to[0] = (struct level){ dist && !cg_empty(dist->expr.extent) ? CHUNK : BLOCK, CG_TEAM, dist };
    if (who == CG_ALL_THREADS)
        return 1 + thread_levels(cg, to + 1, sched);
    to[1] = (struct level){ SERIAL, CG_ONE, NULL };
    return 2;
}

/* A taskloop that says how large its tasks are: each has copies of its own, except where all
 * threads must reach the barrier that follows the loop. */
unsigned cg_task_levels(struct level *to, const struct omp_construct *c,
                        const struct cg_privates *p)
{
    const struct omp_clause *k = cg_clause(c, OMPC_GRAINSIZE);
    k = k ? k : cg_clause(c, OMPC_NUM_TASKS);
    if (!(c->leaves & OMPL_TASKLOOP) || !k || (p->reduction && p->finish != CG_SERIAL))
        return 0;
    to[0] = (struct level){ CHUNK, CG_ONE, k };
    to[1] = (struct level){ SERIAL, CG_ONE, NULL };
    return 2;
}

static const struct {
    const char *id, *count, *both;
} takers[] = {
    [CG_TEAM] = { "(unsigned)__ompgpu_team_id()", "(unsigned)__ompgpu_num_teams()",
                  "__OMPGPU_TEAMS" },
    [CG_THREAD] = { "(unsigned)__ompgpu_thread_id()", "(unsigned)__ompgpu_num_threads()",
                    "__OMPGPU_THREADS" },
    [CG_ALL_THREADS] = { "__OMPGPU_LEAGUE_THREAD", "__OMPGPU_LEAGUE_SIZE", "__OMPGPU_ALL_THREADS" },
    [CG_ONE] = { "0", "1", "0, 1" },
};

/* The lanes of a row take iterations together. */
static bool is_row(const struct cg *cg, enum cg_who who)
{
    return cg->lanes && (who == CG_ALL_THREADS || who == CG_THREAD);
}

static const char *in_rows(struct cg *cg, enum cg_who who, const char *threads)
{
    return is_row(cg, who) ? cg_strf(cg, "%s / @lanes", threads) : threads;
}

const char *cg_taker(struct cg *cg, enum cg_who who)
{
    return who == CG_LANES ? cg_strf(cg, "__OMPGPU_ROW_LANE(@lanes)")
                           : in_rows(cg, who, takers[who].id);
}

const char *cg_taker_count(struct cg *cg, enum cg_who who)
{
    return who == CG_LANES ? cg_strf(cg, "@lanes") : in_rows(cg, who, takers[who].count);
}

const char *cg_takers(struct cg *cg, enum cg_who who)
{
    return who == CG_LANES || is_row(cg, who)
               ? cg_strf(cg, "%s, %s", cg_taker(cg, who), cg_taker_count(cg, who))
               : takers[who].both;
}
