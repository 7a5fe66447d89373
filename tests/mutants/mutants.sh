# mutants.sh - sourced after lib.sh by the reports of this folder: a mistake is made in a copy of one file of the device runtime, and a program or a unit
# test must notice it.  Mistakes are sed commands: they follow the source's text, and a report says which of them no longer apply.
#   in_function NAME COMMAND      the sed command, inside of that function's definition
#   changed FILE NAME COMMAND     makes $T/FILE of devicertl/FILE; false, and a failed test, when nothing changed
#   mutated_tree FILE             $T/tree: the compiler with a device runtime in which $T/FILE stands for devicertl/FILE (build_runtime makes it)
#   mutant NAME COMMAND           one mistake in $file: `build` must succeed, `runs` must not
# shellcheck shell=sh
in_function() { echo "/^\([A-Za-z_].*[ *]\)*$1(/,/^}/{ $2; }"; }
changed() {
    sed -e "$3" "$ROOT/devicertl/$1" >"$T/$1"
    if cmp -s "$ROOT/devicertl/$1" "$T/$1"; then not_ok "$2: changes nothing: $3"; return 1; fi
}
mutated_tree() {
    file=$1 LINK=${OMPGPU_LLVM_LINK:-llvm-link-22} mt_lib=$(dirname "$CC")/../lib
    case $ARCH in *emu*) ;; *) skip_all "the device runtime is built for the emulated device only" ;; esac
    if ! command -v "$LINK" >/dev/null 2>&1 || [ ! -e "$OBJ/devicertl/x86_64/${file%.c}.bc" ]; then skip_all "no bitcode of the device runtime, or no $LINK"; fi
    mt_others=
    for mt_f in "$OBJ"/devicertl/x86_64/*.bc; do case $mt_f in */"${file%.c}".bc) ;; *) mt_others="$mt_others $mt_f" ;; esac; done
    mkdir -p "$T/tree/bin" "$T/tree/lib/ompgpu" && cp "$CC" "$T/tree/bin/ompgpu-cc" && ln -s "$mt_lib"/*ompgpu.* "$T/tree/lib/" && ln -s "$mt_lib"/ompgpu/* "$T/tree/lib/ompgpu/"
}
build_runtime() {
    # shellcheck disable=SC2086
    "$CLANG" --target=x86_64-pc-linux-gnu -std=gnu11 -O2 -Xclang -disable-llvm-passes -fconvergent-functions -fno-math-errno -fPIC -I"$ROOT" -emit-llvm \
        -c "$T/$file" -o "$T/mutant.bc" && "$LINK" "$T/mutant.bc" $mt_others -o "$T/rtl.bc" && ln -sf "$T/rtl.bc" "$T/tree/lib/ompgpu/devicertl-x86_64.bc"
}
mutant() {
    changed "$file" "$1" "$2" || return
    check "$1: compiles" build || return
    if runs >"$T/.log" 2>&1; then not_ok "$1: not noticed"; else ok "$1: noticed"; fi
}
