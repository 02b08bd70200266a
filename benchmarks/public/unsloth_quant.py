"""unsloth 2026.10.9: fp8 quantisation and block products, nf4 dequantisation and gemv, nvfp4 and packed int4 products, grouped gemm (forward, dX, dW)."""
from _common import *
import importlib, os
os.environ["UNSLOTH_NVFP4_FUSED"] = "force"
import os
os.environ["UNSLOTH_TRITON_FAST_LAUNCH"] = "0"   # ordinary launches only
M = lambda n: importlib.import_module("unsloth.kernels." + n)
f8 = torch.float8_e4m3fn
q8 = lambda *s: rand(*s, lo=-4, hi=4).to(f8)


@case()
def fp8():
    m = M("fp8")
    m.weight_dequant_block(q8(4096, 4096), rand(32, 32))
    m.act_quant(randn(4096, 4096))
    m.w8a8_block_fp8_matmul_triton(q8(2048, 4096), q8(4096, 4096), rand(2048, 32), rand(32, 32), [128, 128], bf16)
    m.w8a8_block_fp8_matmul_triton(q8(16, 4096), q8(4096, 4096), rand(16, 32), rand(32, 32), [128, 128], bf16)


NF4 = [-1.0, -0.696, -0.525, -0.395, -0.284, -0.185, -0.091, 0.0, 0.08, 0.161, 0.246, 0.338, 0.441, 0.563, 0.723, 1.0]


@case(False, True)
def nf4(double):
    N, K, bs = 4096, 4096, 64
    W, code = randint(0, 256, N * K // 2, 1, dtype=torch.uint8), torch.tensor(NF4, device=DEV)
    n = N * K // bs
    if double:
        absmax, code2, absmax2, off = randint(0, 256, n, dtype=torch.uint8), rand(256), rand(n // 256), torch.tensor(0.1, device=DEV)
    else:
        absmax, code2, absmax2, off = rand(n), None, None, None
    M("nf4").dequantize_nf4(W, absmax, code2, absmax2, off, code, bs, 256, (N, K), bf16)
    M("nf4_gemv").gemv_nf4(randn(1, 1, K), W, absmax, code2, absmax2, off, code, bs, 256, (N, K), bf16)


@case()
def nvfp4():
    m = M("nvfp4")
    p, s, g = randint(0, 256, 4096, 2048, dtype=torch.uint8), rand(4096, 256, lo=0.5, hi=2).to(f8), rand(1)
    m.nvfp4_dequantize(p, s, g)
    for r in (4, 64, 256):
        m._nvfp4_matmul_fwd_fused(randn(r, 4096), p, s, g)
        m._nvfp4_matmul_dx_fused(randn(r, 4096), p, s, g)


@case()
def int4():
    m = M("int4_packed")
    m._FAST_LAUNCH = False
    p = randint(-(1 << 31), (1 << 31) - 1, 4096, 512, dtype=i32)
    qs = m.Int4QuantState(rand(4096, 32, lo=0.01, hi=0.02, dtype=bf16), None, None, (4096, 4096), 4, 128, bf16)
    m.int4_dequantize(p, qs)
    with torch.no_grad():
        m.int4_matmul(randn(1, 4096), p, qs)
        m.int4_matmul(randn(4, 4096), p, qs)


@case((True, False), (False, True))
def grouped(px, py):
    m = M("moe.grouped_gemm.interface")
    E, T, top, K, N = 16, 2048, 4, 2048, 1536
    e = randint(0, E, T * top)
    g = torch.argsort(e).to(i32)
    sizes = torch.bincount(e, minlength=E).to(i32)
    X = randn(T if px else T * top, K, scale=0.1)
    W, dY = randn(E, N, K, scale=0.02), randn(T * top, N, scale=0.1)
    kw = dict(permute_x=px, permute_y=py, BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64)
    m._grouped_gemm_forward_impl(X, W, top, sizes, g, use_tma_load_w=py, **kw)
    m._grouped_gemm_dX_impl(dY, W, g, sizes, top, **kw)
    m._grouped_gemm_dW_impl(X, dY, sizes, g, top, **kw)
