#!/usr/bin/env bash
# Builds and runs a project of its own against an installed tree: consumer.sh TREE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$here/consumer" -B "$work" -DCMAKE_PREFIX_PATH="$tree" \
  -DCMAKE_C_COMPILER="${CC:-clang-22}" -DCMAKE_CXX_COMPILER="${CXX:-clang++-22}" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work" >"$work/log" || { cat "$work/log"; exit 1; }
for program in consumer consumer-cpp; do
  "$work/$program" "$tree/share/tile/kernels/vector_add.tile"
done
