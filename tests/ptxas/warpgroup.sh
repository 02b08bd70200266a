#!/usr/bin/env bash
# Products on sm_90a in many shapes, given to NVIDIA's assembler: it must take
# each without spilling (but where it says how much) and without running the matrix instructions one by one.
#
# usage: warpgroup.sh TILEC KERNEL_FOLDER
#
# Exits with 77 (skipped) without ptxas.
set -uo pipefail
tilec=$1 folder=$2

ptxas=$(PATH="$PATH:/usr/local/cuda/bin" command -v ptxas) || {
  echo "SKIPPED: ptxas of the CUDA toolkit is not on PATH; nothing was assembled"
  exit 77
}
if ! grep -q "'sm_90a'" <<<"$("$ptxas" --help)"; then
  echo "SKIPPED: $ptxas does not know sm_90a"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0 failed=0
rows='i32:16,i32:1,i32:16,i32:1,i32:16,i32:1'    # both operands in row order
columns='i32:16,i32:1,i32:1,i32:16,i32:16,i32:1' # the right one in column order

# KERNEL TYPE STRIDES BLOCK_M BLOCK_N BLOCK_K WARPS STAGES
check() {
  local kernel=$1 type=$2 strides=$3 m=$4 n=$5 k=$6 warps=$7 stages=$8 out=$2 why=
  case $type in fp8*) out=fp16 ;; esac
  local types=${pointers:-*$type:16,*$type:16,*$out:16}
  count=$((count + 1))
  if ! "$tilec" compile "$folder/${file:-matmul}.tile" --kernel "$kernel" \
      --signature "$types,i32,i32:16,i32,$strides" --constexpr BLOCK_M="$m" \
      --constexpr BLOCK_N="$n" --constexpr BLOCK_K="$k" --num-warps "$warps" \
      --num-stages "$stages" --target sm_90a -o "$work/k.ptx" 2>"$work/log"; then
    why="refused by tilec"
  elif ! "$ptxas" -v -arch=sm_90a "$work/k.ptx" -o "$work/k.cubin" 2>"$work/log"; then
    why="refused by ptxas"
  elif ! grep -q 'wgmma.mma_async' "$work/k.ptx"; then
    why="not by warpgroup instructions"
  elif [ "$(sed -n 's/.* \([0-9]*\) bytes spill stores.*/\1/p' "$work/log")" -gt "${spilled:-0}" ]; then
    why="spills"
  elif grep -q 'C75[0-9][0-9]' "$work/log"; then
    why="matrix instructions are serialised"
  fi
  [ -z "$why" ] && return
  failed=$((failed + 1))
  echo "$kernel of $type, ${m}x${n}x${k}, $warps warps, $stages stages, $strides: $why"
  sed 's/^/    /' "$work/log"
}

for kernel in matmul matmul_persistent; do
  check $kernel fp16 "$rows" 128 256 64 8 3
  check $kernel fp16 "$columns" 128 128 64 8 4
  check $kernel fp16 "$rows" 64 256 64 4 4
done
check matmul fp16 "$rows" 256 128 64 8 3
check matmul fp16 "$rows" 128 64 32 4 2
check matmul fp16 "$rows" 64 64 16 4 3
check matmul fp16 "$rows" 64 32 64 4 1
check matmul fp16 "$rows" 16 128 64 4 4
# Many warps have few registers each, and narrower instructions.
check matmul fp16 "$rows" 128 256 64 16 3
check matmul bf16 "$columns" 128 256 64 8 3
check matmul fp32 "$columns" 128 128 32 8 3
check matmul fp8e4nv "$columns" 128 256 128 8 3
check matmul fp8e5 "$columns" 64 128 128 4 3
# Results that are scaled under the next product: scales that are loaded two steps ahead
# are worth more than the few bytes that they push out.
spilled=32
scales='i32:16,i32:1,i32:1,i32:16,i32:16,i32:1,i32:1,i32,i32,i32:1'
file=matmul_fp8 pointers='*fp8e4nv:16,*fp8e4nv:16,*bf16:16,*fp32:16,*fp32:16'
check matmul_fp8_blocks fp8e4nv "$scales" 128 128 128 8 5
check matmul_fp8_blocks fp8e4nv "$scales" 64 128 128 4 4
echo "$count products, $failed refused"
[ "$failed" -eq 0 ]
