int ext(int), not_reached(int);
extern int missing;
int helper(int x) { return ext(x) + 1; }
int unused(int x) { return not_reached(x); }
REGION(unresolved) { y[0] = helper(n) + missing; }
SPMD(unresolved, 0, "target")
