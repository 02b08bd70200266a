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
# Without C nothing would compile the sources that kernels become.
mkdir "$work/cxx"
printf '%s\n' 'cmake_minimum_required(VERSION 3.20)' 'project(consumer CXX)' 'find_package(Tile REQUIRED)' \
  "add_executable(consumer '$here/consumer/main.cpp')" 'tile_add_kernels(consumer tuned.tile)' |
  tr "'" '"' >"$work/cxx/CMakeLists.txt"
if cmake -S "$work/cxx" -B "$work/cxx/build" -DCMAKE_PREFIX_PATH="$tree" \
   -DCMAKE_CXX_COMPILER="${CXX:-clang++-22}" >"$work/log" 2>&1 ||
   ! grep -q 'kernels are built as C sources' "$work/log"; then
  cat "$work/log"; echo "kernels without C are not refused"; exit 1
fi
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
