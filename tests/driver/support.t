#!/bin/sh
# The matrix of man/ompgpu-cc-openmp.7 agrees with the compiler's table of directives and clauses, and with the tests: what is supported stands in a
# program that runs, what is not in a test of messages.
. tests/lib.sh
PAGE=$ROOT/man/ompgpu-cc-openmp.7
sed -n '/^\.TS/,/^\.TE/p' "$PAGE" | grep -v '^\.T\|^l l l' >rows
(cd "$ROOT" && cat tests/run/*.c tests/modes/*.c samples/*.c | grep -w 'omp\|ompx\|omp_[a-z_]*'; cat tests/run/*.t tests/modes/*.t tests/reduction/*.t) >programs
(cd "$ROOT" && cat tests/errors/*.t tests/*/*.t) >messages

# each directive and clause of omp.def is somewhere in the page's tables
named() {
    grep -o 'OMP_\(CLAUSE\|LEAF\|DIRECTIVE\)([A-Z_0-9]*, "[a-z_ ]*"' "$ROOT/frontend/omp.def" | sed 's/.*"\(.*\)"/\1/' | sort -u | grep -v '^end ' >words
    while read -r word; do
        grep -qwF -- "$word" rows || echo "$word"
    done <words >missing
    cat missing
    [ -s words ] && [ ! -s missing ]
}
check "every directive and clause has a row" named

# words of a row's first column that a test can have
words_of() {
    printf '%s\n' "$1" | grep -o '[a-z_][a-z_]\{2,\}' | grep -vwE 'and|all|the|with|new|syntax|constructs?|combined|modifiers|names|underscores|attributes|directives?|clause|imperfectly|rectangular|non|nested|memory|orders|routines|array|arrays|shaping|sections|declare_target|iterators|motion|clauses|lower|upper'
}
# ROW VERDICT FILE
tested() {
    for word in $(words_of "$1"); do
        grep -qw -- "$word" "$3" || echo "$word"
    done >missing
    cat missing
    [ ! -s missing ]
}
tab=$(printf '\t')
while IFS=$tab read -r row verdict rest; do
    case $verdict in
    no) check "no: $row" tested "$row" no messages ;;
    yes | serial | accepted | "on the host") check "$verdict: $row" tested "$row" "$verdict" programs ;;
    *) check "a verdict that the page explains: $row: $verdict" false ;;
    esac
done <rows
finish
