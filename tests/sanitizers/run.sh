#!/usr/bin/env bash
# Builds programs of tests with a preset's sanitizers and runs them.
#
#   run.sh SOURCE PRESET FOLDER TILEC JOBS PROGRAM...
set -euo pipefail
source=$1 preset=$2 folder=$3 tilec=$4 jobs=$5
shift 5
programs=("$@")
tests="^($(IFS='|'; echo "${programs[*]}"))\$"
tests=${tests/CacheStress/CacheStress|CacheOnce}

# Unoptimised: it is the build that takes the time.
flags="-O0 -gline-tables-only"
if ! cmake --preset "$preset" -S "$source" -B "$folder" -DTILE_TILEC="$tilec" \
     -DCMAKE_C_FLAGS_DEV="$flags" -DCMAKE_CXX_FLAGS_DEV="$flags" >"$folder.log" 2>&1 </dev/null; then
  cat "$folder.log"
  grep -q "install the compiler's run-time library" "$folder.log" && exit 77
  exit 1
fi
cmake --build "$folder" --parallel "$jobs" --target "${programs[@]}" </dev/null >"$folder.log" 2>&1 ||
  { tail -50 "$folder.log"; exit 1; }
ctest --test-dir "$folder" --output-on-failure --no-tests=error -R "$tests" </dev/null
