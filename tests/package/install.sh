#!/usr/bin/env bash
# Installs a build tree elsewhere, moves it once more, and uses it: the command,
# the kernels and their tests, the CMake package. usage: install.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved tree"
tree="$work/moved tree"
"$tree/bin/tilec" compile "$tree/share/tile/kernels/vector_add.tile" --target sm_90a -o "$work/add.ptx"
grep -q '\.entry add' "$work/add.ptx"

fail() { echo "install: $*" >&2; cat "$work/log" >&2; exit 1; }
selftest() { "$tree/bin/tile-selftest" "$@" >"$work/log" 2>&1; }
selftest --device 'cpu emu' vector_add libdevice || fail "the tests do not pass"
[ "$(grep -c '^PASS' "$work/log")" -eq 6 ] || fail "not three files on two devices"
selftest --device cpu no_such_file && fail "a file that is not there passes"
sed 's/x + y$/x - y/' "$tree/share/tile/kernels/vector_add.tile" >"$tree/share/tile/tests/wrong.tile"
selftest --device cpu --jobs 2 wrong vector_add && fail "a test that fails passes"
grep -q '^FAIL *tests/wrong' "$work/log" && grep -q '^1 passed, 1 failed on cpu' "$work/log" ||
  fail "what failed is not named"
selftest --device cpu vector_add kernels/vector_add || fail "a file named twice fails"
grep -q '^1 passed, 0 failed on cpu' "$work/log" || fail "a file named twice runs twice"
# Of racecheck, what it runs and how is asked of a stand-in.
mkdir "$work/bin"
printf '#!/bin/sh\necho "$@"\nexit 1\n' >"$work/bin/compute-sanitizer"
chmod +x "$work/bin/compute-sanitizer"
for tool in racecheck memcheck; do
  PATH="$work/bin:$PATH" selftest --sanitizer "$tool" vector_add && fail "a finding of $tool passes"
  grep -q -- "--tool $tool .*test .*kernels/vector_add.tile --device cuda" "$work/log" ||
    fail "$tool does not run"
  lanes=$(grep -c -- --each-lane-arrives "$work/log" || true)
  [ "$lanes" -eq "$([ "$tool" = racecheck ] && echo 1 || echo 0)" ] || fail "who arrives under $tool"
done
printf '#!/bin/sh\nkill -9 $PPID\n' >"$work/bin/compute-sanitizer"
PATH="$work/bin:$PATH" selftest --sanitizer memcheck vector_add && fail "what was killed passes"
# Pages and programs that the command and the README name come along, and the
# examples build as their page says.
page() { [ -e "$tree/share/doc/tile/$1" ] || { : >"$work/log"; fail "no $1"; }; }
for named in $(for c in compile test explain; do "$tree/bin/tilec" help $c; done |
    cat - "$here/../../README.md" | grep -o '\(docs\|examples\)/[a-z/_-]*\(\.md\)\?' | sort -u); do
  page "$named"
done
# No link of a page leads nowhere, and the command has a manual page.
for page in $(cd "$tree" && find share -name '*.md'); do
  for link in $(sed '/^```/,/^```/d; s/`[^`]*`//g' "$tree/$page" | grep -o '](\([^()#: ]*\)[)#]' | sed 's/^](//; s/[)#]$//'); do
    [ -e "$tree/$(dirname "$page")/$link" ] || { : >"$work/log"; fail "$page links to $link"; }
  done
done
! grep -q 'tools/run' "$tree/share/doc/tile/README.md" || { : >"$work/log"; fail "README builds what is installed"; }
grep -q 'vector_add.tile.*programs, blocks, masks' "$tree/share/tile/kernels/README.md" || fail "no reading order of the kernels"
grep -q '^.SS tilec compile' "$tree/share/man/man1/tilec.1" || fail "no manual page"
(cd "$tree" && sed -n '/^```$/,/^```$/{/^```/!p;}' share/doc/tile/examples/README.md |
  CC=${CC:-clang-22} CXX=${CXX:-clang++-22} bash -ec 'cc() { "$CC" "$@"; }; c++() { "$CXX" "$@"; }; . /dev/stdin') \
  >"$work/log" 2>&1 || fail "the examples do not build and run as their page says"
"$here/consumer.sh" "$tree"
