#!/usr/bin/env bash
# Checks an installed release tree: check.sh TREE
#   1. the binaries need nothing but glibc, of a version that is out there, and
#      name nothing of the machine that they were built on
#   2. the library exports its C interface, and its own classes to its compiler, and nothing else
#   3. the command starts in milliseconds and compiles every kernel
#   4. another CMake project finds the package and runs against it
# The tree is checked from a copy elsewhere, since it must be relocatable.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
source=$(cd "$here/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -a "$1" "$work/moved tree"
tree="$work/moved tree"
fail() { echo "package: $*" >&2; exit 1; }

mapfile -t binaries < <(find "$tree/bin" "$tree"/lib* -type f -exec sh -c 'readelf -h "$1" >/dev/null 2>&1' _ {} \; -print)
"$here/binaries.sh" "${binaries[@]}"
for binary in "${binaries[@]}"; do
  readelf -d "$binary" >"$work/dynamic"
  ! grep -qE 'R(UN)?PATH.*/usr' "$work/dynamic" || fail "${binary##*/} looks for libraries of the build machine"
  ! grep -qaF "$source" "$binary" || fail "${binary##*/} names files of the build machine"
done

library=$(find "$tree"/lib* -name 'libtile.so' | head -1)
if [ -n "$library" ]; then
  extra=$(nm -D --defined-only "$library" | awk '{print $3}' | grep -v '^tile_\|@@TILE_PRIVATE$' || true)
  [ -z "$extra" ] || fail "libtile exports more than its interface: $(head -3 <<<"$extra")"
fi

env -i "$tree/bin/tilec" version >/dev/null
count=0
for file in "$tree"/share/tile/kernels/*.tile; do
  [ -e "$file" ] || continue
  for kernel in $(env -i "$tree/bin/tilec" compile "$file" --list-kernels | sed "/ /d"); do
    env -i "$tree/bin/tilec" compile "$file" --kernel "$kernel" -o "$work/k.ptx" --metadata "$work/k.json"
    count=$((count + 1))
  done
done
[ "$count" -gt 0 ] || fail "no kernel compiled"
echo "package: tilec starts, $count kernels compile"

"$here/consumer.sh" "$tree"
