struct pair { int a, b; double c; };
struct padded { double d; int i; };
union bytes { struct { char c; double d; } s; char raw[16]; };
#pragma omp begin declare target
struct pair theirs(int n), mine(int n), add(struct pair, struct pair), (*choose(int k))(int);
struct padded in_file(int n), in_vla_file(int n);
union bytes bytes_in_file(int n), bytes_in_vla_file(int n), (*choose_bytes(int k))(int);
int apply_bytes(union bytes (*f)(int), int n);
int apply(struct pair (*f)(int), int n);
#pragma omp end declare target
