/* maps through two and more pointers of structs: s->q[i].c[0:n], s->a->b->c[0:n], elements of arrays of structs, s->pp[i][0:n] */
#include "check.h"

struct channel { double *c; int n; };
struct data { int nd; struct channel *dens; struct channel one; double **rows; };
struct leaf { int *v; int n; };
struct node { struct leaf *leaf; int weight; };
struct tree { int id; struct node *node; };
enum { ND = 3, N = 40 };

static struct data *new_data(void)
{
    struct data *d = malloc(sizeof *d);
    d->nd = ND;
    d->dens = malloc(ND * sizeof *d->dens);
    d->rows = malloc(ND * sizeof *d->rows);
    for (int i = 0; i < ND; i++) {
        d->dens[i] = (struct channel){ malloc(N * sizeof(double)), N };
        d->rows[i] = malloc(N * sizeof(double));
        for (int k = 0; k < N; k++) {
            d->dens[i].c[k] = 100 * i + k;
            d->rows[i][k] = i - k;
        }
    }
    return d;
}

static void delete_data(struct data *d)
{
    for (int i = 0; i < ND; i++) {
        free(d->dens[i].c);
        free(d->rows[i]);
    }
    free(d->dens);
    free(d->rows);
    free(d);
}

/* Each level of its own construct, element by element, as programs with nested structures do it. */
static void level_by_level(struct data *d)
{
#pragma omp target enter data map(to: d[0:1], d->dens[0:ND])
    for (int i = 0; i < ND; i++) {
#pragma omp target enter data map(to: d->dens[i].c[0:N])
    }
#pragma omp target teams distribute parallel for collapse(2)
    for (int i = 0; i < ND; i++)
        for (int k = 0; k < N; k++)
            d->dens[i].c[k] = d->dens[i].c[k] * 2 + d->nd + d->dens[i].n;
    for (int i = 0; i < ND; i++) {
#pragma omp target update from(d->dens[i].c[0:1])
        CHECK_EQ(d->dens[i].c[0], 200 * i + ND + N);
    }
    for (int i = 0; i < ND; i++) {
#pragma omp target exit data map(from: d->dens[i].c[0:N])
    }
#pragma omp target exit data map(delete: d->dens[0:ND], d[0:1])
    for (int i = 0; i < ND; i++)
        for (int k = 0; k < N; k++)
            CHECK_EQ(d->dens[i].c[k], 200 * i + 2 * k + ND + N);
}

/* One clause does it all: the objects on the way are mapped for it. */
static void at_once(struct data *d)
{
    double *host = d->dens[1].c;
#pragma omp target teams distribute parallel for map(tofrom: d->dens[1].c[0:N])
    for (int k = 0; k < N; k++)
        d->dens[1].c[k] = k + d->dens[1].n;
    CHECK(d->dens[1].c == host);
    for (int k = 0; k < N; k++)
        CHECK_EQ(d->dens[1].c[k], k + N);
}

static void rows(struct data *d)
{
    double sum = 0;
#pragma omp target data map(to: d[0:1], d->rows[0:ND]) map(tofrom: d->rows[0][0:N], d->rows[1][0:N], d->rows[2][0:N])
    {
#pragma omp target teams distribute parallel for collapse(2) reduction(+: sum)
        for (int i = 0; i < ND; i++)
            for (int k = 0; k < N; k++) {
                sum += d->rows[i][k];
                d->rows[i][k] += 1;
            }
    }
    CHECK_EQ(sum, ND * N - ND * N * (N - 1) / 2);
    CHECK_EQ(d->rows[2][N - 1], 2 - (N - 1) + 1);
}

static void four_pointers(void)
{
    int v[N] = { 0 };
    struct leaf leaf = { v, N };
    struct node nodes[2] = { { &leaf, 5 }, { &leaf, 7 } };
    struct tree tree = { 1, nodes }, *t = &tree, *forest[2] = { 0, &tree };
#pragma omp target map(tofrom: t->node[1].leaf->v[0:N])
    for (int i = 0; i < t->node[1].leaf->n; i++)
        t->node[1].leaf->v[i] = i * t->node[1].weight * t->id;
    for (int i = 0; i < N; i++)
        CHECK_EQ(v[i], 7 * i);
    CHECK(tree.node == nodes && nodes[1].leaf == &leaf && leaf.v == v);
#pragma omp target map(tofrom: tree.node->leaf->v[2:3])
    tree.node->leaf->v[3] = tree.node->weight;
    CHECK_EQ(v[3], 5);
    CHECK_EQ(v[2], 14);
#pragma omp target map(to: forest) map(tofrom: forest[1]->node->leaf->v[0:N])
    forest[1]->node->leaf->v[4] = forest[1]->node->leaf->n;
    CHECK_EQ(v[4], N);
}

int main(void)
{
    struct data *d = new_data();
    level_by_level(d);
    at_once(d);
    rows(d);
    four_pointers();
    delete_data(d);
    return RESULT;
}
