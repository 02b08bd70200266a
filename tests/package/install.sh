#!/usr/bin/env bash
# Installs a build tree elsewhere, moves it once more, and uses it: the command,
# the kernels, the CMake package. usage: install.sh BUILD
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved tree"
tree="$work/moved tree"
"$tree/bin/tilec" compile "$tree/share/tile/kernels/vector_add.tile" --target sm_90a -o "$work/add.ptx"
grep -q '\.entry add' "$work/add.ptx"
"$tree/bin/tile-selftest" --device cpu vector_add
"$here/consumer.sh" "$tree"
