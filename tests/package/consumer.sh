#!/usr/bin/env bash
# Builds and runs a project of its own against an installed tree: consumer.sh TREE
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
tree=$(cd "$1" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake -S "$here/consumer" -B "$work" -DCMAKE_PREFIX_PATH="$tree" -DKERNELS="$tree/share/tile/kernels" \
  -DCMAKE_C_COMPILER="${CC:-clang-22}" -DCMAKE_CXX_COMPILER="${CXX:-clang++-22}" >"$work/log" || { cat "$work/log"; exit 1; }
cmake --build "$work" >"$work/log" || { cat "$work/log"; exit 1; }
# The same with pkg-config and no CMake.
flags=$(PKG_CONFIG_PATH=$(dirname "$(find "$tree"/lib* -name tile.pc)") pkg-config --cflags --libs tile)
eval "${CXX:-clang++-22} -std=c++17 '$here/consumer/main.cpp' $flags -o '$work/consumer-pkg'"
rt=$(PKG_CONFIG_PATH=$(dirname "$(find "$tree"/lib* -name tile_rt.pc)") pkg-config --cflags --libs tile_rt)
echo '#include <tile/rt.h>
int main(void) { return tile_rt_last_error()[0]; }' >"$work/rt.c"
eval "${CC:-clang-22} '$work/rt.c' $rt -o '$work/consumer-rt'"
export LD_LIBRARY_PATH="$(dirname "$(find "$tree"/lib* -name libtile.so | head -1)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
"$work/consumer-rt"
for program in consumer consumer-cpp consumer-pkg; do
  "$work/$program" "$tree/share/tile/kernels/vector_add.tile"
done
# On a machine with a GPU its addresses would be none of the device's: it only has to start there.
CUDA_VISIBLE_DEVICES= "$work/consumer-ahead"
! readelf -d "$work/consumer-ahead" | grep -q 'libtile\.so\|libcuda\|LLVM' || { echo "consumer-ahead needs more than libtile_rt"; exit 1; }
