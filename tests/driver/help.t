#!/bin/sh
# --help, --version and the manual agree with the flag table, and every listed flag has a test.
. tests/lib.sh
"$CC" --emit=man "$ROOT/man/ompgpu-cc.1.in" >made.1
check "man/ompgpu-cc.1 is up to date (make man)" same "$ROOT/man/ompgpu-cc.1" made.1
check "--help" sh -c "'$CC' --help >help"
# The rows with a help text: spelling, from the table itself.
(cd "$ROOT" && $CLANG -E -P -I. -x c - -o "$T/rows") <<'C'
#define NULL_ARG 0
#define FLAG(id, spelling, kind, to, group, argument, help) ROW spelling KIND kind HELP help
#include "driver/flags.def"
C
tr '\n' ' ' <rows | sed 's/ROW /\n/g' | sed -n 's/^"\([^"]*\)" KIND .* HELP ".*/\1/p' >listed
check "the table has rows" test "$(wc -l <listed)" -gt 60
in_help() { while read -r f; do grep -q -F -e "  $f" help || { echo "not in --help: $f"; return 1; }; done <listed; }
check "--help lists every flag with a text" in_help
tested() {
    while read -r f; do cat "$ROOT"/tests/*/*.t | grep -q -F -e "$f" || { echo "no test mentions: $f"; bad=1; }; done <listed
    [ -z "${bad:-}" ]
}
check "every listed flag is in a test" tested
doubles() { tr '\n' ' ' <rows | sed 's/ROW /\n/g' | sed -n 's/^"\([^"]*\)".*/\1/p' | sort | uniq -d >twice; [ ! -s twice ] || { cat twice; return 1; }; }
check "no spelling is in the table twice" doubles
# What the manual advises exists: variables in the runtime's list, flags in the table.
advised() {
    grep -o 'OMPGPU_[A-Z_]*' "$ROOT/man/ompgpu-troubleshooting.7" | sort -u | while read -r v; do
        grep -q "\"$v\"" "$ROOT/hostrt/core/hint.c" || { echo "no variable $v"; return 1; }; done &&
        sed 's/\\-/-/g' "$ROOT/man/ompgpu-troubleshooting.7" | grep -o -e '-[-WfR][a-z-]*ompgpu[a-z-]*' -e '--[a-z-]*' | sort -u | while read -r f; do
            grep -q -e "^  $f" help || { echo "no flag $f"; return 1; }; done
}
check "what ompgpu-troubleshooting(7) advises exists" advised
# The messages that it explains are messages of the runtime: words between those that vary are in a string of its sources.
cat >messages.pl <<'PERL'
my ($page, @sources) = @ARGV;
my ($all, $words, $bad, $last) = ("", 0, 0, "");
for (@sources) { open my $f, "<", $_ or die "$_: $!"; local $/; $all .= <$f>; }
(my $strings = $all) =~ s/"\s*"//g;
my %checks = map { $_ => 1 } $all =~ /"(\w+)"/g;
open my $f, "<", $page or die "$page: $!";
while (<$f>) {
    my $title = ($in ||= /^\.SH MESSAGES/) && $last =~ /^\.TP/;
    $last = $_;
    next unless $title;
    chomp; s/^\\&//;
    if (/^\[OMPGPU_CHECK=(\w+)\]$/) { $words++; $checks{$1} or $bad = print "no check: $1\n"; next; }
    for my $part (split /\s*(?:\xe2\x80\xa6|[;,:]\s|\x60\w+\x60|'\w'|(?<!\w)[A-Z]+(?!\w)| (?=at (?:line|address)))\s*/) {
        next if length $part < 4;
        $words++;
        index($strings, $part) >= 0 or $bad = print "no message has '$part': $_\n";
    }
}
exit($bad || $words < 30);
PERL
explained() { (cd "$ROOT" && find hostrt -name '*.[ch]' -exec perl "$T/messages.pl" man/ompgpu-troubleshooting.7 {} +); }
check "the messages in ompgpu-troubleshooting(7) are the runtime's" explained
"$CC" --version >version
check "--version begins as clang's, for build systems" sh -c "head -1 version | grep -q 'clang version 22[0-9.]*'"
check "--version names ompgpu-cc" has version '^ompgpu-cc version [0-9.]*$'
if have_ptxas; then check "--version names CUDA" has version '^CUDA [0-9]'; else skip "--version names CUDA" "no ptxas"; fi
# Flags without other tests: -H, -w, -z, -R…
printf 'int main(void) { int unused; return 0; }\n' >w.c
check "-w" sh -c "'$CC' -Wall -w -Werror -c w.c"
check "-Rpass= goes to clang" "$CC" -Rpass=inline -O2 -c w.c
finish
