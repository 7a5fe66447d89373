#!/bin/sh
# lint.sh C-FILES SHELL-FILES - what the installed linters say; one that is missing is named and skipped.
c=$1 sh=$2 failed=0
run() {
    tool=$1; shift
    if command -v "$tool" >/dev/null 2>&1; then echo "lint: $tool"; "$tool" "$@" || failed=1
    else echo "lint: $tool is not installed, skipped"; fi
}
# shellcheck disable=SC2086
{
    echo "lint: banned functions"
    if grep -nE '(^|[^_[:alnum:]])(gets|strcpy|strcat|sprintf|vsprintf|strtok|tmpnam|mktemp|atoi|atol|system|popen)[[:space:]]*\(' $c; then failed=1; fi
    run cppcheck --quiet --std=c11 --enable=warning,portability --inline-suppr --suppress=missingIncludeSystem \
        --suppress=preprocessorErrorDirective --suppress=unknownMacro --error-exitcode=1 -I. $c
    run shellcheck -S warning -s sh $sh
    # Layout is a hint: tables are aligned by hand.  OMPGPU_FORMAT=1 makes it count.
    if command -v clang-format >/dev/null 2>&1 && [ -n "${OMPGPU_FORMAT:-}" ]; then run clang-format --dry-run --Werror $c; fi
}
exit $failed
