# Makefile of ompgpu-cc: one, non-recursive (a goal calls make again only where a phase must end before the next is planned:
# the set-up brings the compiler that the build uses).
#
#   make              build everything that `bin/ompgpu-cc` needs        make check       set-up, build, all tests under prove
#   make deps         install the Debian packages that are missing       make check-long  the same and tests/long
#   make demo         set-up, build, compile and run the samples         make bench       the measurements of tests/bench
#   make install      PREFIX=/usr/local DESTDIR=                         make asan        the tests with ASan and UBSan builds
#   make lint         clang-format, cppcheck, shellcheck                 make gpu-kit     a directory to carry to a machine with a GPU
#
# Sources are found by wildcard:
#   frontend/*.c + codegen/c_*.c + driver/split_main.c -> omp-split     (libclang)
#   codegen/ir_*.c                                     -> omp-device    (LLVM-C)
#   devicertl/*.c                                      -> devicertl-nvptx64.bc, devicertl-x86_64.bc  (flags: devicertl/flags.mk)
#   hostrt/*.c                                         -> libompgpu.so, libompgpu.a
#   the other driver/*.c                               -> ompgpu-cc
#   tests/nullcuda/*.c                                 -> obj/nullcuda/libcuda.so.1
#   tests/unit/PART_NAME.c                             -> obj/tests/unit/PART_NAME, a test program that prints TAP; PART names what it is
#                                                         linked with: fe (frontend + codegen/c_*), cg (codegen/ir_*), rt (libompgpu.a),
#                                                         drv (driver without its main)
#   tests/**/*.t                                       shell tests; they find the compiler in $OMPGPU_CC (tests/lib.sh)

VERSION := 0.1.0
LLVM    ?= 22
LLVM_DIR ?= /usr/lib/llvm-$(LLVM)
CLANG   ?= clang-$(LLVM)
LLVM_LINK ?= llvm-link-$(LLVM)
LLVM_OPT ?= opt-$(LLVM)
# The tools are built with the clang that they drive: a bare machine needs no other compiler.
ifeq ($(origin CC),default)
CC := $(CLANG)
endif
AR ?= ar
PREFIX ?= /usr/local
PROVE_JOBS ?= 2

# SANITIZE=1: a second tree beside the first.
ifdef SANITIZE
O := obj-asan
TREE := $(O)/tree/
SAN := -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
OPT ?= -O1 -g
DRVSAN := -DDRV_SANITIZE
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
CFLAGS_ALL = -std=gnu11 $(WARN) $(CFLAGS) $(SAN) -D_GNU_SOURCE -DOMPGPU_VERSION='"$(VERSION)"' -DOMPGPU_LLVM='"$(LLVM)"' -I. -MMD -MP

# ------------------------------------------------------------------ sources
split_src  := $(wildcard frontend/*.c) $(wildcard codegen/c_*.c) $(wildcard driver/split_main.c)
device_src := $(wildcard codegen/ir_*.c)
rtl_src    := $(wildcard devicertl/*.c)
host_src   := $(wildcard hostrt/*.c)
driver_src := $(filter-out driver/split_main.c,$(wildcard driver/*.c))
null_src   := $(wildcard tests/nullcuda/*.c)
unit_src   := $(wildcard tests/unit/*.c)

split_obj  := $(split_src:%.c=$(O)/%.o) $(O)/host_abi.o
device_obj := $(device_src:%.c=$(O)/%.o)
host_obj   := $(host_src:%.c=$(O)/%.o)
driver_obj := $(driver_src:%.c=$(O)/%.o)
null_obj   := $(null_src:%.c=$(O)/%.o)
unit_bin   := $(unit_src:%.c=$(O)/%)

# What can be built; a part without sources is left out.
built := $(TOOLS)/ompgpu_device.h
built += $(if $(wildcard driver/split_main.c),$(TOOLS)/omp-split)
built += $(if $(device_src),$(TOOLS)/omp-device)
built += $(if $(rtl_src),$(TOOLS)/devicertl-nvptx64.bc $(TOOLS)/devicertl-x86_64.bc)
built += $(if $(host_src),$(LIB)/libompgpu.so $(LIB)/libompgpu.a)
built += $(if $(driver_src),$(BIN)/ompgpu-cc)
tests_built := $(unit_bin) $(if $(null_src),$(O)/nullcuda/libcuda.so.1)

.PHONY: all deps check check-run check-long demo install uninstall lint asan bench gpu-kit man format clean tests
.DELETE_ON_ERROR:
.SECONDARY:
all: $(built)
tests: all $(tests_built)

# ------------------------------------------------------------------ objects
$(O)/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(CFLAGS_ALL) $(EXTRA) -c $< -o $@

$(split_obj): EXTRA = -I$(LLVM_DIR)/include
$(device_obj): EXTRA = -I$(LLVM_DIR)/include
$(host_obj): EXTRA = -fPIC -fvisibility=hidden
$(driver_obj): EXTRA = $(DRVSAN)
# Loaded by programs that may have no sanitizer in them.
$(null_obj): EXTRA = -fPIC
$(null_obj) $(O)/nullcuda/libcuda.so.1: SAN :=

# The text of the host ABI, which omp-split puts at the top of every generated X.host.c.
$(O)/host_abi.c: hostrt/ompgpu.h
	@mkdir -p $(@D)
	{ echo 'extern const char cg_host_abi[];'; echo 'const char cg_host_abi[] ='; \
	  $(CLANG) -E -P -x c $< | sed -e 's/\\/\\\\/g' -e 's/"/\\"/g' -e 's/.*/    "&\\n"/'; echo '    ;'; } > $@
$(O)/host_abi.o: $(O)/host_abi.c
	$(CC) $(CFLAGS_ALL) -c $< -o $@

# ------------------------------------------------------------------ programs
LLVM_LINKFLAGS := -L$(LLVM_DIR)/lib -Wl,-rpath,$(LLVM_DIR)/lib
$(TOOLS)/omp-split: $(split_obj)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) $^ $(LLVM_LINKFLAGS) -lclang-$(LLVM) -lm -o $@
$(TOOLS)/omp-device: $(device_obj)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) $^ $(LLVM_LINKFLAGS) -lLLVM-$(LLVM) -lm -o $@
$(BIN)/ompgpu-cc: $(driver_obj)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) $^ -ldl -o $@

$(TOOLS)/ompgpu_device.h: devicertl/ompgpu_device.h
	@mkdir -p $(@D)
	cp $< $@

# ------------------------------------------------------------------ the host runtime
host_version_script := $(wildcard hostrt/libompgpu.map)
$(LIB)/libompgpu.so: $(host_obj) $(host_version_script)
	@mkdir -p $(@D)
	$(CC) $(SAN) $(LDFLAGS) -shared -Wl,-soname,libompgpu.so $(addprefix -Wl$(comma)--version-script=,$(host_version_script)) \
	  $(host_obj) -ldl -lpthread -lm -o $@
comma := ,
# ar r keeps members of sources that are gone: start afresh.
$(LIB)/libompgpu.a: $(host_obj)
	@mkdir -p $(@D)
	rm -f $@; $(AR) rcs $@ $^

# ------------------------------------------------------------------ the device runtime: the same sources, one bitcode library a target
include $(wildcard devicertl/flags.mk)
define rtl_rules
$(O)/devicertl/$(1)/%.bc: devicertl/%.c $$(wildcard devicertl/flags.mk)
	@mkdir -p $$(@D)
	$$(CLANG) --target=$(2) $$(DEVICERTL_CFLAGS_COMMON) $$(DEVICERTL_CFLAGS_$(1)) -MMD -MP -MF $$(@:.bc=.d) -MT $$@ -emit-llvm -c $$< -o $$@
$$(TOOLS)/devicertl-$(1).bc: $$(rtl_src:devicertl/%.c=$(O)/devicertl/$(1)/%.bc)
	@mkdir -p $$(@D)
	$$(LLVM_LINK) $$^ -o $(O)/devicertl/$(1).bc
	$$(LLVM_OPT) $$(if $$(DEVICERTL_PASSES),-passes="$$(DEVICERTL_PASSES)") $(O)/devicertl/$(1).bc -o $$@
endef
$(eval $(call rtl_rules,nvptx64,nvptx64-nvidia-cuda))
$(eval $(call rtl_rules,x86_64,x86_64-pc-linux-gnu))

# ------------------------------------------------------------------ test programs
$(O)/nullcuda/libcuda.so.1: $(null_obj)
	@mkdir -p $(@D)
	$(CC) $(SAN) -shared -Wl,-soname,libcuda.so.1 $^ -ldl -lpthread -lm -o $@
unit = @mkdir -p $(@D); set -x; $(CC) $(CFLAGS_ALL) -I$(LLVM_DIR)/include $(SAN) $< $(filter %.o %.a,$^)
$(O)/tests/unit/fe_%: tests/unit/fe_%.c $(filter-out $(O)/driver/%,$(split_obj))
	$(unit) $(LLVM_LINKFLAGS) -lclang-$(LLVM) -lm -o $@
$(O)/tests/unit/cg_%: tests/unit/cg_%.c $(filter-out $(O)/codegen/ir_main.o,$(device_obj))
	$(unit) $(LLVM_LINKFLAGS) -lLLVM-$(LLVM) -lm -o $@
$(O)/tests/unit/rt_%: tests/unit/rt_%.c $(LIB)/libompgpu.a
	$(unit) -ldl -lpthread -lm -o $@
$(O)/tests/unit/drv_%: tests/unit/drv_%.c $(filter-out $(O)/driver/main.o,$(driver_obj))
	$(unit) -ldl -o $@

# ------------------------------------------------------------------ goals
deps:
	@sh driver/setup.sh

check: deps
	@$(MAKE) --no-print-directory tests
	@$(MAKE) --no-print-directory check-run
# prove's last line is the summary; nothing is printed after it.
export OMPGPU_CC := $(CURDIR)/$(BIN)/ompgpu-cc
export OMPGPU_OBJ := $(CURDIR)/$(O)
export OMPGPU_SANITIZE := $(SANITIZE)
# The longest first, so that none of them is left over at the end.
longest := tests/modes/fuzz.t tests/reduction/prop.t tests/fuzz/loops.t tests/modes/levels.t tests/modes/fuzz_storage.t tests/reduction/scan.t
test_scripts = $(longest) $(filter-out $(longest),$(sort $(wildcard tests/*.t tests/*/*.t)))
check-run:
	@prove -j$(PROVE_JOBS) --timer --exec 'sh tests/run-one' $(filter-out tests/long/%,$(test_scripts)) $(unit_bin)
check-long: deps
	@$(MAKE) --no-print-directory tests
	@OMPGPU_LONG=1 prove -j$(PROVE_JOBS) --timer --exec 'sh tests/run-one' $(test_scripts) $(unit_bin)

asan:
	@sh driver/setup.sh asan
	@$(MAKE) --no-print-directory SANITIZE=1 tests
	@$(MAKE) --no-print-directory SANITIZE=1 check-run

demo: deps
	@$(MAKE) --no-print-directory all
	@sh driver/demo.sh

bench: deps
	@$(MAKE) --no-print-directory tests
	@for b in tests/bench/*.sh; do sh "$$b" || exit 1; done

gpu-kit: deps
	@$(MAKE) --no-print-directory tests
	@sh driver/gpu-kit.sh gpu-kit

man: $(BIN)/ompgpu-cc
	$(BIN)/ompgpu-cc --emit=man > man/ompgpu-cc.1

# ------------------------------------------------------------------ install: a tree that may be moved
dest = $(DESTDIR)$(PREFIX)
install: all
	install -d $(dest)/bin $(dest)/lib/ompgpu $(dest)/share/man/man1 $(dest)/share/man/man7
	install -m 755 $(BIN)/ompgpu-cc $(dest)/bin/
	install -m 755 $(TOOLS)/omp-split $(TOOLS)/omp-device $(dest)/lib/ompgpu/
	install -m 644 $(TOOLS)/*.bc $(TOOLS)/ompgpu_device.h $(dest)/lib/ompgpu/
	install -m 755 $(LIB)/libompgpu.so $(dest)/lib/
	install -m 644 $(LIB)/libompgpu.a $(dest)/lib/
	install -m 644 man/*.1 $(dest)/share/man/man1/
	if ls man/*.7 >/dev/null 2>&1; then install -m 644 man/*.7 $(dest)/share/man/man7/; fi
uninstall:
	rm -f $(dest)/bin/ompgpu-cc $(dest)/lib/libompgpu.so $(dest)/lib/libompgpu.a
	rm -f $(addprefix $(dest)/lib/ompgpu/,omp-split omp-device devicertl-nvptx64.bc devicertl-x86_64.bc ompgpu_device.h)
	rm -f $(dest)/share/man/man1/ompgpu-cc.1 $(dest)/share/man/man7/libompgpu.7
	-rmdir $(dest)/lib/ompgpu

# ------------------------------------------------------------------ lint
lint_c = $(wildcard driver/*.[ch] frontend/*.[ch] codegen/*.[ch] hostrt/*.[ch] devicertl/*.[ch])
lint_sh = $(wildcard driver/*.sh samples/*.sh tests/*.sh tests/run-one tests/*/*.sh tests/*/*.t) .ci/run
lint:
	@sh driver/lint.sh "$(lint_c)" "$(lint_sh)"

clean:
	rm -rf obj obj-asan bin lib gpu-kit gpu-kit.tar

-include $(shell find $(O) -name '*.d' 2>/dev/null)
