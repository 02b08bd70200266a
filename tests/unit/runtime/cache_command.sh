#!/bin/sh
# cache_command.sh TILEC PROGRAM KERNELS: `tilec cache` on entries that a program made.
set -eu
tilec=$1 program=$2 kernels=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
fail() { echo "cache command: $*" >&2; exit 1; }

TILE_CACHE_DIR=$work/a "$program" "$kernels" >/dev/null
"$tilec" cache ls --dir "$work/a" >"$work/list"
grep -q 'kernel .* add  \*fp32:16,\*fp32:16,\*fp32:16,i32' "$work/list" || fail "ls names no kernel"
count=$(grep -c ' kernel ' "$work/list")
[ "$count" -gt 1 ] || fail "too few entries"
grep -q "^$count entries" "$work/list" || fail "the sum of ls is wrong"
"$tilec" cache verify --dir "$work/a" | grep -q "^$count good, 0 not" || fail "verify"

"$tilec" cache export "$work/pack" --dir "$work/a" | grep -q "^$count exported" || fail "export"
"$tilec" cache import "$work/pack" --dir "$work/b" | grep -q "^$count imported" || fail "import"
# What was imported serves a program that may not compile; without it that is an error.
TILE_NO_COMPILE=1 TILE_CACHE_DIR=$work/b "$program" "$kernels" >/dev/null || fail "not served"
if TILE_NO_COMPILE=1 TILE_CACHE_DIR=$work/c "$program" "$kernels" >/dev/null 2>"$work/error"; then
  fail "it compiled"
fi
grep -q '`add` would have to be compiled for' "$work/error" || fail "the error names no kernel"
TILE_TRACE=$work/trace TILE_CACHE_DIR= TILE_CACHE_SHARED=$work/b "$program" "$kernels" >/dev/null
grep -q '"source":"shared"' "$work/trace" || fail "the shared cache is not read"

"$tilec" cache prune --older-than 0 --max-mb 0 --dir "$work/b" >/dev/null
"$tilec" cache clear --dir "$work/b" >/dev/null
"$tilec" cache ls --dir "$work/b" | grep -q '^0 entries' || fail "clear"
