int plain[4]; static int hidden = 5; int not_exported; _Alignas(1024) int page;
REGION(variables) { plain[n & 3] += hidden++; y[0] = not_exported++ + page++; }
SPMD(variables, 0, "target")
__OMPGPU_VAR(plain, plain)
__OMPGPU_VAR(app_c_hidden, hidden)
