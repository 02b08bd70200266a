#!/usr/bin/env bash
# coverage.sh SOURCES TILE-FUZZ [--count N] [--seed S] [--jobs J]: which lines of the passes random
# kernels reach. TILE-FUZZ is of a build with TILE_COVERAGE. Prints for each file of passes/ how many
# percent of its lines ran, and how many did not.
set -euo pipefail
root=$1 fuzz=$2
shift 2
count=3000 seed=1 jobs=0
while [ $# -gt 0 ]; do
  case $1 in
    --count) count=$2 ;;
    --seed) seed=$2 ;;
    --jobs) jobs=$2 ;;
    *) echo "tools/fuzz coverage: error: unknown option $1" >&2; exit 2 ;;
  esac
  shift 2
done
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
export LLVM_PROFILE_FILE=$folder/%m.profraw
status=0
"$fuzz" kernels --device emu --count "$count" --seed "$seed" --jobs "$jobs" --reduce 0 || status=1
"$fuzz" products --count $((count / 10)) --seed "$seed" --jobs "$jobs" --reduce 0 || status=1
llvm-profdata-22 merge -o "$folder/all.profdata" "$folder"/*.profraw
llvm-cov-22 report "$fuzz" -instr-profile "$folder/all.profdata" "$root/passes" -show-region-summary=false \
    -show-branch-summary=false >"$folder/report"
# file, functions, missed, percent, lines, missed, percent
printf '%8s  %13s  %s\n' lines 'not reached' file
awk 'NF == 7 && $1 ~ /\.(cpp|h)$/ { printf "%8s  %5d of %5d  %s\n", $7, $6, $5, $1 }' "$folder/report" |
  sed "s|$root/passes/||" | sort -n
grep TOTAL "$folder/report" | awk '{ print "all: " $7 " of " $5 " lines" }'
exit "$status"
