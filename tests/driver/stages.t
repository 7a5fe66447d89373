#!/bin/sh
# Which commands of the offload way get which flag (the `to` column of driver/flags.def), seen through -###.
. tests/lib.sh
. "$ROOT/tests/programs.sh"
offload_program app.c
cat >names.awk <<'AWK'
/ -E -w /                        { name = "preprocess" }
/ -fsyntax-only /                { name = "check" }
/omp-split --path/               { name = "split"; sub(/ -- -- /, " --  -- "); split($0, part, " -- "); $0 = part[1] " -- " part[2] } # after the next --: for messages
/--target=nvptx64-nvidia-cuda/   { name = "gpu" }
/ -[Sc] -w /                     { name = / -emit-llvm .*host[.]c/ ? "" : "host" } # the same flags twice
/--target=x86_64-pc-linux-gnu/   { name = "emu" }
/omp-device/                     { name = "lower" }
/ptxas /                         { name = "ptxas" }
/ -x assembler /                 { name = "assemble" }
/libompgpu[.]so/                 { name = "link" }
{ if (name != "" && index($0 " ", " " flag " ")) line = line (line ? " " : "") name; name = "" }
END { print line }
AWK
# row FLAGS | STAGES: the last word of FLAGS is looked for
goes() {
    # shellcheck disable=SC2086
    "$CC" -### --gpu-arch=sm_75,emu -O2 app.c $1 -o app 2>cmds || { cat cmds; return 1; }
    got=$(awk -v flag="${1##* }" -f names.awk cmds)
    [ "$got" = "$2" ] || { echo "goes to: $got"; return 1; }
}
while IFS='|' read -r flags stages; do
    case $flags in ''|\#*) continue ;; esac
    flags=$(echo $flags) stages=$(echo $stages)
    have_ptxas || stages=$(echo "$stages" | sed "s/ ptxas//")
    check "$flags: $stages" goes "$flags" "$stages"
done <<'EOT'
# preprocessor
-DX=1             | preprocess check
-D X              | preprocess check
-UX               | preprocess check
-I.               | preprocess check
-include stdio.h  | preprocess check
-imacros stdio.h  | preprocess check
-isystem .        | preprocess check
-iquote .         | preprocess check
-idirafter .      | preprocess check
-nostdinc         | preprocess check
-undef            | preprocess check
-Wp,-DX           | preprocess check
-Xpreprocessor -DX | preprocess check
-Wp,-MD,x.d       | check
-H                | check
-MD               | check
-MMD              | check
-MD -MP           | check
-MD -MF x.d       | check
-MD -MT x         | check
-MD -MQ x         | check
-C                |
-P                |
# language and code
-std=c11          | preprocess check split gpu host emu
-ansi             | preprocess check split gpu host emu
-funsigned-char   | preprocess check split gpu host emu link
-ffast-math       | preprocess check split gpu host emu link
-fno-strict-aliasing | preprocess check split gpu host emu link
-O3               | preprocess check host lower lower ptxas link
-Ofast            | preprocess check host link
-g                | check host emu lower lower link
-g3               | check host emu link
-pthread          | preprocess check host link
-fPIC             | preprocess check host emu link
-fno-pie          | preprocess check host link
-fsanitize=address | preprocess check host link
-fsanitize=undefined | preprocess check host emu link
-fstack-protector | preprocess check host link
-fprofile-instr-generate | preprocess check host link
-ffunction-sections | preprocess check host link
-fvisibility=hidden | preprocess check host link
-fexceptions      | preprocess check host link
-fcf-protection   | preprocess check host link
-fopenmp          | preprocess check host link
-fopenmp-version=51 | preprocess check host link
-fopenmp-targets=nvptx64 |
-march=native     | preprocess check split host emu link
-mavx2            | preprocess check split host emu link
-mllvm -stats      | preprocess check host link
-Xclang -fno-pch-timestamp | check host
--sysroot=/       | preprocess check link
-Wa,--noexecstack | host
-save-temps -Wa,--noexecstack | assemble
-Xassembler --noexecstack | host
-fstack-usage -Xassembler --noexecstack | assemble
-save-temps -march=native | preprocess check split host emu assemble link
-flto             | link
-fuse-ld=lld      | link
-ferror-limit=3   | check
-fcolor-diagnostics | check
# warnings
-Wall             | check
-Werror           | check
-pedantic         | check
-pedantic-errors  | check
-Wno-unused       | check
# linking
-L.               | link
-lm               | link
-Wl,--gc-sections | link
-Xlinker --gc-sections | link
-shared           | link
-rdynamic         | link
-s                | link
-no-pie           | link
-nostartfiles     | link
-pipe             |
EOT
finish
