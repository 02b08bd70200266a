"""vllm 0.33.0: fused MoE products (bf16, bias, fp8 block and tensor scales, int8, int4/int8 weights, MXFP8, NVFP4 emulation, batched)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import triton.language as tl
from vllm.model_executor.layers.fused_moe import fused_moe as fm
from vllm.model_executor.layers.fused_moe.experts.fused_batched_moe import invoke_moe_batched_triton_kernel
from vllm.model_executor.layers.fused_moe.experts.mxfp8_native_moe import _grouped_gemm_mxfp8
from vllm.model_executor.layers.fused_moe.experts.nvfp4_emulation_moe import invoke_fused_moe_nvfp4_emulation_kernel
from vllm.model_executor.layers.fused_moe.moe_align_block_size import moe_align_block_size
fp8, u8, i8 = torch.float8_e4m3fn, torch.uint8, torch.int8


def route(m, e, k, block):
    w, ids = torch.softmax(randn(m, e, dtype=f32), -1).topk(k, -1)
    return w, moe_align_block_size(ids.to(i32), block, e)


def config(m, e, n, k, top, dt, bs=None):
    return fm.get_default_config(m, e, n, k, top, dt, bs)


@case((4096, 64, 1408, 2048, 6, False), (2048, 8, 4096, 4096, 2, True), (64, 128, 1536, 2048, 8, False))
def bf16_moe(m, e, n, k, top, bias):
    c = config(m, e, n // 2, k, top, None)
    w, al = route(m, e, top, c["BLOCK_SIZE_M"])
    fm.invoke_fused_moe_triton_kernel(randn(m, k), randn(e, n, k, scale=0.05), zeros(m, top, n), None, None, w, *al, False, top, c,
                                      tl.bfloat16, False, False, False, False, False, B_bias=randn(e, n) if bias else None)
    fm.invoke_fused_moe_triton_kernel(randn(m * top, n // 2), randn(e, k, n // 2, scale=0.05), zeros(m, top, k), None, None, w, *al, True, 1, c,
                                      tl.bfloat16, False, False, False, False, False)


@case((4096, 64, 1408, 2048, 6), (256, 32, 4096, 7168, 8))
def fp8_block(m, e, n, k, top):
    c = config(m, e, n // 2, k, top, "fp8_w8a8", [128, 128])
    w, al = route(m, e, top, c["BLOCK_SIZE_M"])
    fm.invoke_fused_moe_triton_kernel(randn(m, k).to(fp8), randn(e, n, k).to(fp8), zeros(m, top, n), rand(m, k // 128), rand(e, n // 128, k // 128), w,
                                      *al, False, top, c, tl.bfloat16, True, False, False, False, False, block_shape=[128, 128])


@case((4096, 64, 1408, 2048, 6, "tensor"), (4096, 16, 4096, 2048, 2, "channel"))
def fp8_tensor(m, e, n, k, top, mode):
    c = config(m, e, n // 2, k, top, "fp8_w8a8")
    w, al = route(m, e, top, c["BLOCK_SIZE_M"])
    ch = mode == "channel"
    fm.invoke_fused_moe_triton_kernel(randn(m, k).to(fp8), randn(e, n, k).to(fp8), zeros(m, top, n), rand(m, 1) if ch else rand(1),
                                      rand(e, n, 1) if ch else rand(e), w, *al, False, top, c, tl.bfloat16, True, False, False, False, ch)


@case((4096, 64, 1408, 2048, 6))
def int8_channel(m, e, n, k, top):
    c = config(m, e, n // 2, k, top, None)
    w, al = route(m, e, top, c["BLOCK_SIZE_M"])
    fm.invoke_fused_moe_triton_kernel(randint(-127, 127, m, k, dtype=i8), randint(-127, 127, e, n, k, dtype=i8), zeros(m, top, n), rand(m, 1, hi=0.02),
                                      rand(e, n, 1, hi=0.02), w, *al, False, top, c, tl.bfloat16, False, True, False, False, True)


@case((2048, 64, 1408, 2048, 6, 4, True), (64, 128, 1536, 2048, 8, 4, False), (2048, 8, 4096, 4096, 2, 8, False))
def weight_only(m, e, n, k, top, bits, zp):
    c = config(m, e, n // 2, k, top, "int4_w4a16" if bits == 4 else "int8_w8a16", [0, 128])
    c = {"BLOCK_SIZE_M": c["BLOCK_SIZE_M"], "GROUP_SIZE_M": c.get("GROUP_SIZE_M", 1), "SPLIT_K": 1}
    w, al = route(m, e, top, c["BLOCK_SIZE_M"])
    fm.invoke_fused_moe_wna16_triton_kernel(randn(m, k), randint(0, 256, e, n, k * bits // 8, dtype=u8), zeros(m, top, n),
                                            rand(e, n, k // 128, dtype=bf16, hi=0.02),
                                            randint(0, 256, e, n * bits // 8, k // 128, dtype=u8) if zp else None, w, *al, False, top, c, tl.bfloat16,
                                            bits == 8, bits == 4, [0, 128])


@case((2048, 32, 2880, 2944, 4), (1024, 64, 1408, 2048, 6))
def mxfp8(m, e, n, k, top):
    w, al = route(m, e, top, 64)
    k = k // 128 * 128
    _grouped_gemm_mxfp8(randn(m, k).to(fp8), randint(118, 128, m, k // 32, dtype=u8), randn(e, n, k).to(fp8), randint(118, 128, e, n, k // 32, dtype=u8),
                        *al, m * top, top, 64, bf16, top)


@case((2048, 32, 2048, 2048, 4))
def nvfp4(m, e, n, k, top):
    w, al = route(m, e, top, 64)
    cfg = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=8)
    invoke_fused_moe_nvfp4_emulation_kernel(randn(m, k), randint(0, 256, e, n, k // 2, dtype=u8), zeros(m, top, n),
                                            rand(e, n, k // 16, lo=0.1, hi=4.0).to(fp8).view(u8), rand(1), rand(e), w, *al, False, top, cfg, tl.bfloat16)


@case((64, 256, 1408, 2048, False), (32, 128, 4096, 4096, True))
def batched(e, t, n, k, quant):
    cnt = randint(t // 4, t, e, dtype=i32)
    cfg = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64 if not quant else 128)
    a, b = randn(e, t, k), randn(e, n, k)
    if quant:
        a, b = a.to(fp8), b.to(fp8)
    invoke_moe_batched_triton_kernel(a, b, zeros(e, t, n), cnt, tl.bfloat16, rand(e, t, k // 128) if quant else None,
                                     rand(e, n // 128, k // 128) if quant else None, None, quant, False, False, cfg, False,
                                     [128, 128] if quant else None)
