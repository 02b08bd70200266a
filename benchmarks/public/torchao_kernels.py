"""torchao 0.18.0: blockwise fp8 GEMMs and quantisation, int8 products (block pointers, scaled), QKV fp8 quantisation with rope/Hadamard, HQQ."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import triton

F8 = torch.float8_e4m3fn


def load(mod):
    import importlib
    return importlib.import_module("torchao." + mod)


@case((2048, 4096, 4096, 5), (256, 4096, 11008, 5))
def int8_blocks(m, k, n, _):
    f = load("kernel.intmm_triton")
    a, b = randint(-127, 128, m, k, dtype=torch.int8), randint(-127, 128, n, k, dtype=torch.int8).t()
    cfg = triton.Config(dict(BLOCK_M=128, BLOCK_N=128, BLOCK_K=64, GROUP_M=8), num_warps=8, num_stages=3)
    f.int_matmul_kernel(a, b, zeros(m, n, dtype=i32), cfg)
    s = rand(m, 1, lo=0.001, hi=0.002, dtype=bf16).expand(m, n)
    f.int_scaled_matmul_kernel(a, b, s, zeros(m, n), cfg)


@case((2048, 4096, 4096), (4096, 4096, 14336))
def int8_scaled(m, k, n):
    f = load("prototype.quantized_training.int8_mm")
    f.scaled_int8_mm_cuda(randint(-127, 128, m, k, dtype=torch.int8), randint(-127, 128, n, k, dtype=torch.int8).t(),
                          rand(m, lo=0.001, hi=0.002, dtype=bf16), rand(n, lo=0.001, hi=0.002, dtype=bf16))


@case((2048, 4096, 4096))
def blockwise(m, k, n):
    f = load("kernel.blockwise_quantization")._get_triton_impls()
    names = [x for x in dir(f) if not x.startswith("_")]
    fn = {x: getattr(f, x) for x in names if callable(getattr(f, x))}
    print(sorted(fn))
    m_ = load("kernel.blockwise_quantization")
    q, s = m_.fp8_blockwise_act_quant(randn(m, k))
    w, ws = m_.fp8_blockwise_weight_quant(randn(n, k))
    m_.fp8_blockwise_weight_dequant(w, ws)
    m_.blockwise_fp8_gemm(q, s, w, ws)


@case((4096, 4096, 4096))
def training(m, k, n):
    f = load("prototype.blockwise_fp8_training.kernels")
    x, w = randn(m, k), randn(n, k)
    raw = lambda op: getattr(op, "_init_fn", op)
    a, a_s = raw(f.triton_fp8_blockwise_act_quant_lhs)(x)
    r, r_s = raw(f.triton_fp8_blockwise_act_quant_rhs)(x)
    t, t_s = raw(f.triton_fp8_blockwise_act_quant_transposed_lhs)(x)
    b, b_s = raw(f.triton_fp8_blockwise_weight_quant_transposed_rhs)(w)
    raw(f.triton_fp8_blockwise_weight_quant_rhs)(w)
    raw(f.triton_fp8_gemm_1x128_128x128)(a, b, a_s, b_s)
    g, g_s = raw(f.triton_fp8_blockwise_act_quant_rhs)(randn(m, n))
    raw(f.triton_fp8_gemm_1x128_128x1)(t, g, t_s, g_s)


@case((2, 32, 4096, 128), (1, 16, 8192, 64))
def sdpa(b, h, n, d):
    f = load("prototype.fp8_sdpa_inference.fp8_sdpa_quantization")
    f.fp8_sdpa_quantize_func(randn(b, h, n, d), randn(b, h, n, d), randn(b, h, n, d))


@case((2, 32, 4096, 128), (1, 16, 8192, 64))
def sdpa_hadamard(b, h, n, d):
    f = load("prototype.attention.quantization.triton_hadamard_qkv_quantization")
    f.triton_fp8_hadamard_sdpa_quantize(randn(b, h, n, d), randn(b, h, n, d), randn(b, h, n, d))


@case((2, 4096, 32, 128, False), (2, 4096, 32, 128, True))
def sdpa_rope(b, n, h, d, inter):
    f = load("prototype.attention.quantization.triton_rope_qkv_quantization")
    f.triton_fp8_rope_sdpa_quantize(randn(b, n, h, d), randn(b, n, h, d), randn(b, n, h, d), rand(n, d, lo=-1.0), rand(n, d, lo=-1.0),
                                    rope_interleaved=inter)


@case((32, 4096, 4096, 128), (512, 4096, 4096, 128))
def hqq(m, k, n, g):
    f = load("prototype.hqq.kernels")
    x, w = randn(m, k), randint(0, 256, k // 2, n, dtype=torch.uint8)
    s, z = rand(k // g, n, lo=0.005, hi=0.02, dtype=bf16), rand(k // g, n, hi=15.0, dtype=bf16)
    c = zeros(m, n)
    tuned = [getattr(f, x) for x in ("mixed_mm_kernel_compute_bound", "mixed_mm_kernel_max_autotune", "_mixed_mm") if hasattr(f, x)]
    kern = f._mixed_mm_kernel
    kern[(triton.cdiv(m, 32) * triton.cdiv(n, 64), 1)](
        x, w, s, z, c, m, n, k, x.stride(0), x.stride(1), w.stride(0), w.stride(1), c.stride(0), c.stride(1), s.stride(0), s.stride(1),
        IS_BFLOAT16=True, QGROUP_SIZE=g, BLOCK_M=32, BLOCK_N=64, BLOCK_K=64, SPLIT_K=1, EVEN_K=True, num_warps=4, num_stages=3)
