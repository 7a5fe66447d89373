# Makefile of ompgpu-cc: one, non-recursive (a goal calls make again only where a phase must end
# before the next is planned: the set-up brings the compiler that the build uses).
# `make help` lists the goals; V=1 shows the commands.
#
# Sources are found by wildcard, a folder a program or library:
#   frontend/ + codegen/c/   -> omp-split     (libclang)
#   codegen/ir/              -> omp-device    (LLVM-C)
#   driver/                  -> ompgpu-cc; driver/base/ is in all three
#   driver/machine/          -> omp-machine, which loads the CUDA driver to ask for the GPUs
#   devicertl/*.c            -> devicertl-nvptx64.bc, devicertl-x86_64.bc  (flags: devicertl/flags.mk)
#   hostrt/{core,cuda,emu}   -> libompgpu.so, libompgpu.a
#   hostrt/ptx/              -> libompgpu-ptx.so, the PTX machine
#   hostrt/mpi/              -> libompgpu-openmpi.so, libompgpu-mpich.so, where these MPIs
#                               are, and ompgpu-worker
#   tests/nullcuda/*.c       -> obj/nullcuda/libcuda.so.1
#   tests/unit/PART_NAME.c   -> obj/tests/unit/PART_NAME, a test program that prints TAP; PART names
#                               what it is linked with: fe (omp-split without its main), cg
#                               (omp-device without its main), rt (libompgpu.a), ptx
#                               (libompgpu-ptx), drv (ompgpu-cc without its main)
#   tests/*/*.t, tests/{run,modes}/*.c, samples/*.c
#                            tests; they find the compiler in $OMPGPU_CC (tests/README.md)

VERSION   := 0.1.0
# Of the interface between generated code and libompgpu; the library's name has it.
ABI       := $(shell sed -n 's/.*OMPGPU_ABI_VERSION = \([0-9]*\).*/\1/p' hostrt/ompgpu.h)
LLVM      ?= 22
LLVM_DIR  ?= /usr/lib/llvm-$(LLVM)
CLANG     ?= clang-$(LLVM)
LLVM_LINK ?= llvm-link-$(LLVM)
LLVM_OPT  ?= opt-$(LLVM)
CLANG_FORMAT ?= clang-format-$(LLVM)
# The tools are built with the clang that they drive: a bare machine needs no other compiler.
ifeq ($(origin CC),default)
CC := $(CLANG)
endif
AR ?= ar
PREFIX ?= /usr/local
comma := ,
PROVE_JOBS ?= 2
# The driver runs for every file that is compiled.  glibc asks the processor 68 times what it is
# before main(); in a virtual machine, whose host answers, that takes longer than the driver takes
# for a file without OpenMP.  So it is linked with musl, without a dynamic linker, where Debian's
# musl-dev and the static libzstd are (MUSL= does without).
ifndef SANITIZE
LIBZSTD_A := $(filter /%,$(shell $(CC) -print-file-name=libzstd.a))
MUSL_CRT := $(if $(and $(findstring clang,$(CC)),$(LIBZSTD_A)),$(wildcard /usr/lib/x86_64-linux-musl/crt1.o))
MUSL ?= $(MUSL_CRT:%/crt1.o=%)
endif

# SANITIZE=1: a second tree beside the first, with ASan and UBSan; SANITIZE=thread: one whose runtime
# has TSan (the compiler's programs have one thread).
ifdef SANITIZE
sanitizers := $(if $(filter thread,$(SANITIZE)),thread,address$(comma)undefined)
O := obj-$(if $(filter thread,$(SANITIZE)),tsan,asan)
TREE := $(O)/tree/
SAN := -fsanitize=$(sanitizers) -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT ?= -O1 -g
driver_flags := -DDRV_SANITIZE='"-fsanitize=$(sanitizers)"'
else
O := obj
TREE :=
OPT ?= -O2 -g
endif
BIN := $(TREE)bin
LIB := $(TREE)lib
TOOLS := $(LIB)/ompgpu

WARN   := -Wall -Wextra -Werror -Wmissing-prototypes -Wvla
CFLAGS ?= $(OPT)
CFLAGS_ALL = -std=gnu11 $(WARN) $(CFLAGS) $(SAN) -D_GNU_SOURCE -DOMPGPU_VERSION='"$(VERSION)"' \
             -DOMPGPU_LLVM='"$(LLVM)"' -I. -MMD -MP

ifneq ($(MUSL),)
musl_cc := -nostdlibinc -isystem $(subst /lib/,/include/,$(MUSL)) -fno-pie
link_driver = $(CC) $(LDFLAGS) -static -nostdlib $(MUSL)/crt1.o $(MUSL)/crti.o
driver_libs := $(LIBZSTD_A) $(MUSL)/libc.a $(MUSL)/crtn.o
else
link_driver = $(link)
driver_libs := -lzstd
endif

# Quiet unless V=1: $(call say,CC,NAME) prints what is being made, and makes its folder.
Q := $(if $(filter 1,$(V)),,@)
say = @mkdir -p $(@D)$(if $(filter 1,$(V)),,; printf '  %-9s %s\n' '$(1)' '$(2)')

# ------------------------------------------------------------------ sources
# Folders are at most two deep below those at the top.
c_in = $(sort $(wildcard $(foreach d,$(1),$(d)/*.c $(d)/*/*.c)))
base_src   := $(call c_in,driver/base)
split_src  := $(call c_in,frontend codegen/c) $(base_src)
device_src := $(call c_in,codegen/ir) $(base_src)
rtl_src    := $(wildcard devicertl/*.c)
ptx_src    := $(call c_in,hostrt/ptx)
mpi_src    := $(filter-out %/main.c,$(wildcard hostrt/mpi/*.c)) hostrt/queue.c
host_src   := $(filter-out $(ptx_src) hostrt/mpi/%,$(call c_in,hostrt))
machine_src := $(wildcard driver/machine/*.c)
driver_src := $(filter-out $(machine_src),$(call c_in,driver))
null_src   := $(wildcard tests/nullcuda/*.c)
unit_src   := $(wildcard tests/unit/*.c)

split_obj  := $(split_src:%.c=$(O)/%.o) $(O)/host_abi.o
device_obj := $(device_src:%.c=$(O)/%.o)
host_obj   := $(host_src:%.c=$(O)/%.o)
ptx_obj    := $(ptx_src:%.c=$(O)/%.o)
driver_obj := $(driver_src:%.c=$(O)/$(if $(MUSL),musl/)%.o)
machine_obj := $(machine_src:%.c=$(O)/%.o)
null_obj   := $(null_src:%.c=$(O)/%.o)
unit_bin   := $(unit_src:%.c=$(O)/%)

# A library for each MPI that is there.
mpis      := $(strip $(foreach m,openmpi mpich,$(if $(shell command -v mpicc.$(m)),$(m))))
libs_mpi  := $(mpis:%=$(LIB)/libompgpu-%.so)
any_mpi   := $(if $(mpis),$(LIB)/libompgpu-mpi.so)
libs_host := $(LIB)/libompgpu.so $(LIB)/libompgpu.a $(LIB)/libompgpu-ptx.so $(libs_mpi) $(any_mpi)
libs_rtl  := $(TOOLS)/devicertl-nvptx64.bc $(TOOLS)/devicertl-x86_64.bc $(TOOLS)/ompgpu_device.h
headers   := $(addprefix $(TOOLS)/include/,omp.h omp_libmextras.h ompgpu/ompgpu.h)
# CMake takes "ompgpu-" for the prefix of a toolchain and looks for its archiver for LTO beside the compiler.
ltools    := $(BIN)/ompgpu-llvm-ar $(BIN)/ompgpu-llvm-ranlib
built := $(BIN)/ompgpu-cc $(BIN)/ompgpu-worker $(ltools) $(TOOLS)/omp-split $(TOOLS)/omp-device \
         $(TOOLS)/omp-machine $(headers) $(libs_host) $(libs_rtl)

.PHONY: all tests help deps check check-run check-long mutants asan tsan check-tsan demo bench gpu-kit man \
        install uninstall dist deb lint format clean
.DELETE_ON_ERROR:
.SECONDARY:
all: $(built)
tests: all $(unit_bin) $(O)/nullcuda/libcuda.so.1

# ------------------------------------------------------------------ objects
$(O)/%.o: %.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS_ALL) $(EXTRA) -c $< -o $@
$(O)/musl/%.o: %.c
	$(call say,CC,$< (musl))
	$(Q)$(CC) $(CFLAGS_ALL) $(EXTRA) -c $< -o $@
$(O)/%.o: $(O)/%.c
	$(call say,CC,$<)
	$(Q)$(CC) $(CFLAGS_ALL) $(EXTRA) -c $< -o $@

$(split_obj) $(device_obj): EXTRA = -I$(LLVM_DIR)/include
# Version 4 of DWARF: valgrind 3.19 (Debian 12) gives up at the forms that clang uses in version 5.
dwarf4 = $(if $(filter -g%,$(CFLAGS)),-gdwarf-4)
# What a region costs depends by up to 10 ns on where its functions begin, and by 30 on how its code
# is laid out: fewer calls and jumps take less.
$(host_obj): EXTRA = -fPIC -fvisibility=hidden -falign-functions=64 $(dwarf4) \
                     $(if $(filter -O2,$(CFLAGS)),-O3)
# Rounding modes of its own, no contraction: what PTX says and no more.
$(ptx_obj): EXTRA = -fPIC -fvisibility=hidden -frounding-math -ffp-contract=off $(dwarf4)
$(driver_obj): EXTRA = $(driver_flags) $(musl_cc)
# zstd.h is glibc's neighbour; what musl has is musl's all the same.
$(O)/musl/driver/image/compress.o: EXTRA = $(driver_flags) $(musl_cc) -idirafter /usr/include
# Loaded by programs that may have no sanitizer in them.
$(null_obj): EXTRA = -fPIC
$(null_obj) $(O)/nullcuda/libcuda.so.1: SAN :=
ifeq ($(SANITIZE),thread)
programs_san := $(split_obj) $(device_obj) $(driver_obj) $(machine_obj) \
                $(TOOLS)/omp-split $(TOOLS)/omp-device $(TOOLS)/omp-machine $(BIN)/ompgpu-cc
$(programs_san): SAN :=
endif

# The text of the host ABI, which omp-split puts at the top of every generated X.host.c: with names
# that programs may not use, and laid out as here whatever -fpack-struct says.
$(O)/host_abi.c: hostrt/ompgpu.h Makefile
	$(call say,GEN,$@)
	$(Q){ echo 'extern const char cg_host_abi[];'; echo 'const char cg_host_abi[] ='; \
	  { echo '#pragma pack(push, 16)'; $(CLANG) -E -P -x c $<; echo '#pragma pack(pop)'; } | \
	  sed -e 's/\<ompgpu_/__ompgpu_/g' -e 's/\<OMPGPU_/__OMPGPU_/g' -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/    "&\\n"/'; echo '    ;'; } > $@

# ------------------------------------------------------------------ programs
link = $(CC) $(SAN) $(LDFLAGS)
# The loader finds Debian's by itself.
llvm_libs := -L$(LLVM_DIR)/lib $(if $(filter /usr/lib/llvm-%,$(LLVM_DIR)),,-Wl,-rpath,$(LLVM_DIR)/lib)
libclang := $(llvm_libs) -lclang-$(LLVM) -lm
libllvm  := $(llvm_libs) -lLLVM-$(LLVM) -lm
# omp-device runs for each target of each file.  The dynamic linker would relocate all of LLVM each
# time, for 10 ms: where there are archives of it, they are linked.  Its libraries for compression
# are there with the shared one, without what -lz would need.
llvm_config := $(if $(SANITIZE),,$(wildcard $(LLVM_DIR)/bin/llvm-config))
ifneq ($(and $(llvm_config),$(wildcard $(LLVM_DIR)/lib/libLLVMCore.a)),)
device_libs = -no-pie -Wl,--gc-sections -L$(LLVM_DIR)/lib $(shell $(llvm_config) --link-static --libs \
              irreader linker passes bitwriter x86codegen x86asmparser nvptxcodegen) \
            -Wl,-Bstatic -lstdc++ -lgcc_eh -Wl,-Bdynamic -l:libz.so.1 -l:libzstd.so.1 -lm
else
device_libs = $(libllvm)
endif
$(TOOLS)/omp-split: $(split_obj)
	$(call say,LD,$@)
	$(Q)$(link) $^ $(libclang) -o $@
$(TOOLS)/omp-device: $(device_obj) Makefile
	$(call say,LD,$@)
	$(Q)$(link) $(device_obj) $(device_libs) -o $@ 2>$(O)/archives.log || \
	  $(link) $(device_obj) $(libllvm) -o $@ # archives that want other libraries
$(TOOLS)/omp-machine: $(machine_obj)
	$(call say,LD,$@)
	$(Q)$(link) $^ -ldl -o $@
# Makefile: another libc is another list of objects, which no date shows.
$(BIN)/ompgpu-cc: $(driver_obj) Makefile
	$(call say,LD,$@)
	$(Q)$(link_driver) $(driver_obj) $(driver_libs) -o $@

$(ltools): $(BIN)/ompgpu-%:
	$(call say,LINK,$@)
	$(Q)ln -sf $(LLVM_DIR)/bin/$* $@

# ------------------------------------------------------------------ the host runtime
$(LIB)/libompgpu.so: $(LIB)/libompgpu.so.$(ABI)
	$(Q)ln -sf $(<F) $@
$(LIB)/libompgpu.so.$(ABI): $(host_obj) hostrt/libompgpu.map
	$(call say,LD,$@)
	$(Q)$(link) -shared -Wl,-z,nodelete -Wl,-soname,$(@F) -Wl,--version-script=hostrt/libompgpu.map \
	  $(host_obj) -ldl -lpthread -lm -o $@
$(LIB)/libompgpu-ptx.so: $(ptx_obj)
	$(call say,LD,$@)
	$(Q)$(link) -shared -Wl,-soname,libompgpu-ptx.so $^ -lpthread -lm -o $@
# The compiler is ours in both, so that the libraries have the sanitizers of the rest.
define mpi_rules
$(O)/$(1)/%.o: %.c
	$$(call say,CC,$$< ($(1)))
	$$(Q)$$(CC) $$(CFLAGS_ALL) -fPIC -fvisibility=hidden $$(dwarf4) \
	  $$(filter -I%,$$(shell $(2))) -c $$< -o $$@
$(LIB)/libompgpu-$(1).so: $$(mpi_src:%.c=$(O)/$(1)/%.o)
	$$(call say,LD,$$@)
	$$(Q)$$(link) -shared -Wl,-soname,$$(@F) $$^ $$(filter -L% -l%,$$(shell $(2))) -lpthread -o $$@
endef
$(eval $(call mpi_rules,openmpi,mpicc.openmpi --showme))
$(eval $(call mpi_rules,mpich,mpicc.mpich -show))
# Where a launcher does not show which MPI it is of.
$(LIB)/libompgpu-mpi.so: $(firstword $(libs_mpi))
	$(Q)ln -sf $(<F) $@
$(BIN)/ompgpu-worker: $(O)/hostrt/mpi/main.o $(LIB)/libompgpu.so
	$(call say,LD,$@)
	$(Q)$(link) $< -L$(LIB) -lompgpu -Wl,-rpath,'$$ORIGIN/../lib' -o $@
# ar r keeps members of sources that are gone: start afresh.
$(LIB)/libompgpu.a: $(host_obj)
	$(call say,AR,$@)
	$(Q)rm -f $@; $(AR) rcs $@ $^

# ------------------------------------------------------------------ the device runtime
# The same sources, one bitcode library a target.
include devicertl/flags.mk
define rtl_rules
$(O)/devicertl/$(1)/%.bc: devicertl/%.c devicertl/flags.mk
	$$(call say,CC,$$< ($(1)))
	$$(Q)$$(CLANG) --target=$(2) $$(DEVICERTL_CFLAGS_COMMON) $$(DEVICERTL_CFLAGS_$(1)) \
	  -MMD -MP -MF $$(@:.bc=.d) -MT $$@ -emit-llvm -c $$< -o $$@
$$(TOOLS)/devicertl-$(1).bc: $$(rtl_src:devicertl/%.c=$(O)/devicertl/$(1)/%.bc)
	$$(call say,LINK,$$@)
	$$(Q)$$(LLVM_LINK) $$^ -o $(O)/devicertl/$(1).bc
	$$(Q)$$(LLVM_OPT) $$(if $$(DEVICERTL_PASSES_$(1)),-passes="$$(DEVICERTL_PASSES_$(1))") $(O)/devicertl/$(1).bc -o $$@
endef
$(eval $(call rtl_rules,nvptx64,nvptx64-nvidia-cuda))
$(eval $(call rtl_rules,x86_64,x86_64-pc-linux-gnu))
$(TOOLS)/ompgpu_device.h: devicertl/ompgpu_device.h
	$(call say,COPY,$@)
	$(Q)cp $< $@
$(TOOLS)/include/%.h: hostrt/include/%.h
	$(call say,COPY,$@)
	$(Q)cp $< $@

# ------------------------------------------------------------------ test programs
$(O)/nullcuda/libcuda.so.1: $(null_obj)
	$(call say,LD,$@)
	$(Q)$(link) -shared -Wl,-soname,libcuda.so.1 $^ -ldl -lpthread -lm -o $@
unit = $(CC) $(CFLAGS_ALL) -I$(LLVM_DIR)/include $< $(filter %.o %.a,$^)
$(O)/tests/unit/fe_%: tests/unit/fe_%.c $(filter-out $(O)/codegen/c/main.o,$(split_obj))
	$(call say,CC,$<)
	$(Q)$(unit) $(libclang) -o $@
$(O)/tests/unit/cg_%: tests/unit/cg_%.c $(filter-out $(O)/codegen/ir/main.o,$(device_obj))
	$(call say,CC,$<)
	$(Q)$(unit) $(libllvm) -o $@
$(O)/tests/unit/rt_%: tests/unit/rt_%.c $(LIB)/libompgpu.a
	$(call say,CC,$<)
	$(Q)$(unit) -ldl -lpthread -lm -o $@
$(O)/tests/unit/ptx_%: tests/unit/ptx_%.c $(ptx_obj)
	$(call say,CC,$<)
	$(Q)$(unit) -lpthread -lm -o $@
$(O)/tests/unit/drv_%: tests/unit/drv_%.c $(filter-out %/driver/main.o,$(driver_obj))
	$(call say,CC,$<)
	$(Q)$(link_driver) $(CFLAGS_ALL) $(musl_cc) $< $(filter %.o,$^) $(driver_libs) -o $@

# ------------------------------------------------------------------ goals
help:
	@printf '%s\n' \
	  'make              build everything that bin/ompgpu-cc needs (V=1 shows the commands)' \
	  'make deps         install the Debian packages that are missing' \
	  'make demo         deps, build, compile and run the samples, print a table' \
	  'make check        deps, build, all tests under prove (PROVE_JOBS=2)' \
	  'make check-long   the same with the long forms of the tests, and tests/long' \
	  'make mutants      which mistakes in the device runtime the tests notice' \
	  'make asan         the tests with ASan and UBSan builds of compiler and runtime' \
	  'make tsan         tests of the host runtime with a TSan build of it' \
	  'make lint         layout, length of lines, banned functions, cppcheck, shellcheck' \
	  'make format       lay the product code out as lint wants it' \
	  'make bench        the measurements of tests/bench' \
	  'make gpu-kit      a directory to carry to a machine with a GPU' \
	  'make man          write man/ompgpu-cc.1 anew' \
	  'make install      PREFIX=/usr/local DESTDIR=; make uninstall' \
	  'make dist         ompgpu-cc-$(VERSION).tar.gz: the sources, as committed' \
	  'make deb          a Debian package' \
	  'make clean        remove what was built'

again = @$(MAKE) --no-print-directory
deps:
	@sh .ci/setup.sh

# prove's last line is the summary; nothing is printed after it.
check: deps
	$(again) tests
	$(again) check-run
export OMPGPU_CC := $(CURDIR)/$(BIN)/ompgpu-cc
export OMPGPU_OBJ := $(CURDIR)/$(O)
export OMPGPU_SANITIZE := $(SANITIZE)
# A test is a script tests/*/*.t, a program of tests/run, tests/modes or samples, or a unit test
# (tests/README.md).  prove takes them in this order: the longest first, so that none of them is
# left over at the end.
longest := $(addprefix tests/,modes/fuzz.t run/lanes.t fuzz/programs.t driver/device-link.t mpi/devices.t \
             driver/output.t mistakes/device.t failure/failure.t mistakes/silent.t run/reduction_ops.c \
             ptx/cuda.t run/lanes.c run/phase_loops.c) $(O)/tests/unit/rt_devicertl
scripts = $(filter-out tests/long/% tests/mutants/%,$(sort $(wildcard tests/*/*.t tests/*/*/*.t)))
programs = $(sort $(wildcard tests/run/*.c tests/modes/*.c samples/*.c))
check_tests = $(longest) $(filter-out $(longest),$(scripts) $(unit_bin) $(programs))
PROVE = prove -j$(PROVE_JOBS) --timer
check-run:
	@$(PROVE) $(check_tests)
check-long: deps
	$(again) tests
	@OMPGPU_LONG=$${OMPGPU_LONG:-1} $(PROVE) $(check_tests) $(wildcard tests/long/*.t)

# A report of how good the tests are: they must notice each mistake made in the source.  It follows
# the source's text, so it is no part of `check`.
mutants: deps
	$(again) tests
	@$(PROVE) tests/mutants

asan: deps
	$(again) SANITIZE=1 tests
	$(again) SANITIZE=1 check-run

# All tests that run programs, and the runtime's unit tests.  What the OpenMP library orders is told
# by its own tool, Archer, which lies beside it; code that has no TSan in it, such as the library's
# and the programs', is left out.  Not here: tests/mistakes and tests/errors/runtime.t, since what the
# emulated device finds out about addresses needs those that TSan has; tests on the PTX machine, which lets device code race; those of the
# compiler alone; regions of the host that are nested three deep, in which Archer of clang 22 crashes now and then, also without our library.
tsan_tests = $(filter $(O)/tests/unit/rt_%,$(unit_bin)) $(filter-out tests/run/num_threads_list.c,$(programs)) \
             $(filter-out tests/run/lanes%.t, \
               $(wildcard tests/run/*.t tests/modes/*.t tests/failure/*.t tests/reduction/*.t)) \
             $(addprefix tests/errors/,hang.t settings.t)
tsan: deps
	$(again) SANITIZE=thread tests
	$(again) SANITIZE=thread check-tsan
check-tsan: export TSAN_OPTIONS := ignore_noninstrumented_modules=1 die_after_fork=0 atexit_sleep_ms=0 \
    report_thread_leaks=0
check-tsan: export LD_LIBRARY_PATH := $(LLVM_DIR)/lib
check-tsan: export OMP_TOOL_LIBRARIES := $(LLVM_DIR)/lib/libarcher.so
check-tsan: export OMP_NUM_THREADS := 8
check-tsan:
	@$(PROVE) $(tsan_tests)

demo: deps
	$(again) all
	@sh samples/demo.sh

# What is executed comes first: where there is a figure of it, the static ones only explain it.
benches := tests/bench/executed.sh $(filter-out tests/bench/executed.sh,$(sort $(wildcard tests/bench/*.sh)))
bench: deps
	$(again) tests
	@for b in $(benches); do sh "$$b" || exit 1; done

gpu-kit: deps
	$(again) tests
	@sh tests/gpu/kit.sh gpu-kit

man: $(BIN)/ompgpu-cc
	$(BIN)/ompgpu-cc --emit=man man/ompgpu-cc.1.in > man/ompgpu-cc.1

# ------------------------------------------------------------------ install: a tree that may be moved
dest = $(DESTDIR)$(PREFIX)
man1 := ompgpu-cc.1 ompgpu-worker.1
man7 := libompgpu.7 ompgpu-cc-openmp.7 ompgpu-troubleshooting.7
cmake_files := ompgpu-config.cmake ompgpu-config-version.cmake toolchain.cmake
completions = $(dest)/share/bash-completion/completions
fill_in = sed -e 's/@VERSION@/$(VERSION)/' -e 's/@ABI@/$(ABI)/'
install: all
	install -d $(dest)/bin $(dest)/lib/ompgpu/include/ompgpu $(dest)/share/man/man1 $(dest)/share/man/man7 \
	  $(dest)/lib/pkgconfig $(dest)/lib/cmake/ompgpu $(completions)
	install -m 755 $(BIN)/ompgpu-cc $(BIN)/ompgpu-worker $(dest)/bin/
	cp -P $(ltools) $(dest)/bin/
	install -m 755 $(addprefix $(TOOLS)/,omp-split omp-device omp-machine) $(dest)/lib/ompgpu/
	install -m 644 $(libs_rtl) $(dest)/lib/ompgpu/
	install -m 644 driver/package/gdb.py $(dest)/lib/ompgpu/
	install -m 644 $(addprefix $(TOOLS)/include/,omp.h omp_libmextras.h) $(dest)/lib/ompgpu/include/
	install -m 644 $(TOOLS)/include/ompgpu/ompgpu.h $(dest)/lib/ompgpu/include/ompgpu/
	install -m 644 $(LIB)/libompgpu.so.$(ABI) $(LIB)/libompgpu-ptx.so $(libs_mpi) $(dest)/lib/
	ln -sf libompgpu.so.$(ABI) $(dest)/lib/libompgpu.so
	$(if $(mpis),ln -sf libompgpu-$(firstword $(mpis)).so $(dest)/lib/libompgpu-mpi.so)
	install -m 644 $(LIB)/libompgpu.a $(dest)/lib/
	install -m 644 $(addprefix man/,$(man1)) $(dest)/share/man/man1/
	for f in $(man7); do sed -E -f driver/package/tables.sed man/$$f > $(dest)/share/man/man7/$$f; done
	$(fill_in) driver/package/ompgpu.pc.in > $(dest)/lib/pkgconfig/ompgpu.pc
	for f in $(cmake_files); do $(fill_in) driver/package/$$f > $(dest)/lib/cmake/ompgpu/$$f; done
	$(BIN)/ompgpu-cc --emit=completion > $(completions)/ompgpu-cc
uninstall:
	rm -f $(addprefix $(dest)/bin/,ompgpu-cc ompgpu-worker $(notdir $(ltools))) \
	  $(addprefix $(dest)/lib/,$(notdir $(libs_host)) libompgpu.so.$(ABI) pkgconfig/ompgpu.pc) \
	  $(addprefix $(dest)/lib/cmake/ompgpu/,$(cmake_files)) $(completions)/ompgpu-cc \
	  $(addprefix $(dest)/lib/ompgpu/,omp-split omp-device omp-machine gdb.py $(notdir $(libs_rtl)) $(headers:$(TOOLS)/%=%)) \
	  $(addprefix $(dest)/share/man/man1/,$(man1)) $(addprefix $(dest)/share/man/man7/,$(man7))
	-rmdir $(dest)/lib/ompgpu/include/ompgpu $(dest)/lib/ompgpu/include $(dest)/lib/ompgpu $(dest)/lib/cmake/ompgpu

# The sources, as committed.
dist:
	git archive --prefix=ompgpu-cc-$(VERSION)/ -o ompgpu-cc-$(VERSION).tar.gz HEAD
deb: all
	rm -rf $(O)/deb
	$(again) install DESTDIR=$(CURDIR)/$(O)/deb PREFIX=/usr/lib/ompgpu-cc
	sh driver/package/deb.sh $(O)/deb $(VERSION) $(LLVM) $(ABI) ompgpu-cc_$(VERSION)_amd64.deb

# ------------------------------------------------------------------ lint
product = driver frontend codegen hostrt devicertl
in_product = $(sort $(wildcard $(foreach d,$(product),$(d)/$(1) $(d)/*/$(1) $(d)/*/*/$(1))))
lint_c = $(call in_product,*.[ch])
lint_tables = $(call in_product,*.def)
lint_sh = $(wildcard .ci/*.sh driver/package/*.sh samples/*.sh tests/*.sh tests/run-one tests/*/*.sh tests/*/*.t) .ci/run
lint:
	@sh .ci/setup.sh lint
	@sh .ci/lint.sh "$(lint_c)" "$(lint_tables)" "$(lint_sh)"
format:
	$(CLANG_FORMAT) -i $(lint_c)

clean:
	rm -rf obj obj-asan obj-tsan bin lib gpu-kit gpu-kit.tar ompgpu-cc-*.tar.gz ompgpu-cc_*.deb

-include $(shell find $(O) -name '*.d' 2>/dev/null)
