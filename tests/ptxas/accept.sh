#!/usr/bin/env bash
# Compiles every kernel of the library for one target and gives the PTX to
# NVIDIA's assembler.
#
# usage: accept.sh TILEC KERNEL_FOLDER TARGET
#
# One line per kernel: registers, spilled bytes, shared memory. Fails if tilec or
# ptxas refuses one, or if there is none; a kernel whose parameters have a type
# that the target does not know (fp8e4nv before sm_89) is named and left out.
# Exits with 77 (skipped) without ptxas.
set -uo pipefail
tilec=$1 folder=$2 target=$3

ptxas=$(PATH="$PATH:/usr/local/cuda/bin" command -v ptxas) || {
  echo "SKIPPED: ptxas of the CUDA toolkit is not on PATH; nothing was assembled for $target"
  exit 77
}
if ! grep -q "'$target'" <<<"$("$ptxas" --help)"; then
  echo "SKIPPED: $ptxas does not know $target"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0
refuse() {
  failed=$((failed + 1))
  printf '%-44s REFUSED by %s\n' "$1" "$2"
  sed 's/^/    /' "$work/log"
}
for file in "$folder"/*.tile; do
  [ -e "$file" ] || continue
  for kernel in $("$tilec" compile "$file" --list-kernels | sed "/ /d"); do
    count=$((count + 1))
    name="$(basename "$file" .tile).$kernel"
    if ! "$tilec" compile "$file" --kernel "$kernel" --target "$target" -o "$work/k.ptx" \
        --metadata "$work/k.json" 2>"$work/log"; then
      if grep -q "error: parameter .* is not supported on $target;" "$work/log"; then
        # Its annotations name a type that the chip does not have: nothing to assemble.
        printf '%-44s not on this target: %s\n' "$name" \
          "$(sed -n "s/.*parameter .*: \(.* is not supported on $target\);.*/\1/p" "$work/log" | head -1)"
        continue
      fi
      refuse "$name" tilec
    elif ! "$ptxas" -v -arch="$target" "$work/k.ptx" -o "$work/k.cubin" 2>"$work/log"; then
      refuse "$name" ptxas
    else
      registers=$(sed -n 's/.*Used \([0-9]*\) registers.*/\1/p' "$work/log")
      spilled=$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$work/log" | head -1)
      printf '%-44s %3s registers %5s bytes spilled\n' "$name" "$registers" "${spilled:-0}"
    fi
  done
done
echo "$target: $count kernels, $failed refused"
[ "$count" -gt 0 ] && [ "$failed" -eq 0 ]
