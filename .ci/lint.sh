#!/bin/sh
# lint.sh C-FILES TABLES SHELL-FILES - layout, length of lines, banned functions, cppcheck, shellcheck.
#
# The tools are those that setup.sh lint installs.  All checks run, and the exit code says whether one
# found something.
c=$1 tables=$2 shell=$3 failed=0
llvm=${LLVM:-22}
banned='gets|strcpy|strcat|sprintf|vsprintf|strtok|tmpnam|mktemp|atoi|atol|system|popen'

# The device runtime is the library that has those functions.
# shellcheck disable=SC2086
users=$(printf '%s\n' $c | grep -v '^devicertl/')

# check NAME COMMAND…: the command finds something, or says nothing and succeeds
check() {
    echo "lint: $1"; shift
    "$@" || failed=1
}
none() { ! LC_ALL=C.UTF-8 grep -nE "$@"; }

# shellcheck disable=SC2086
{
    check "layout (make format mends it)" "${CLANG_FORMAT:-clang-format-$llvm}" --dry-run --Werror $c
    check "lines of more than 100 columns" none '^.{101,}' $c $tables
    check "banned functions" none "(^|[^_[:alnum:]])($banned)[[:space:]]*\(" $users
    check "a setuid program's environment (secure_getenv)" none '(^|[^_[:alnum:]])getenv *\(' \
        hostrt/*/*.c hostrt/*/*/*.c
    check "cppcheck" cppcheck -j2 --quiet --std=c11 --enable=warning,portability --inline-suppr \
        --suppress=missingIncludeSystem --suppress=preprocessorErrorDirective \
        --suppress=unknownMacro --error-exitcode=1 -I. $c
    check "shellcheck" shellcheck -S warning -s sh $shell
}
exit $failed
