"""deepspeed 0.19.8: fused RMS norm, rotary, SwiGLU, grouped GEMM, token combine, chunked cross entropy (with backward), fp8 GEMM, softmax, layer norm."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


def load(mod):
    import importlib
    m = importlib.import_module("deepspeed." + mod)
    return m


@case((4, 2048, 4096), (2, 1024, 8192))
def rms(b, n, h):
    f = load("ops.triton_ops.fused_rms_norm")
    bwd(f.fused_rms_norm(randn(b, n, h, grad=True), randn(h, grad=True), 1e-6))


@case((2, 32, 4096, 128, 8), (4, 16, 2048, 64, 16))
def rotary(b, h, n, d, hk):
    f = load("ops.triton_ops.fused_rotary_pos_emb")
    bwd(f.fused_apply_rotary_pos_emb(randn(b, h, n, d, grad=True), randn(b, hk, n, d, grad=True), randn(b, n, d), randn(b, n, d)))


@case((8192, 11008), (2048, 14336))
def swiglu(m, n):
    f = load("ops.triton_ops.swiglu_triton")
    bwd(f.swiglu(randn(m, n, grad=True), randn(m, n, grad=True)))
    bwd(f.swiglu_packed(randn(m, 2 * n, grad=True)))


@case((8192, 2048, 1536, 16), (4096, 4096, 1024, 8))
def grouped(m, k, n, e):
    f = load("ops.triton_ops.group_gemm_triton")
    offs = torch.sort(randint(0, m, e))[0].to(i32)
    offs[-1] = m
    bwd(f.group_gemm_triton(randn(m, k, grad=True), randn(e, k, n, scale=0.02, grad=True), offs))


@case((2, 2048, 4096, 4))
def tokens(b, n, h, k):
    f = load("ops.triton_ops.autoep_fused_token_ops")
    t = b * n
    rows = randn(t * k, h, grad=True)
    bwd(f.fused_row_weighting(rows, rand(t * k, grad=True)))
    bwd(f.fused_weighted_restore(randn(t * k, h, grad=True), rand(t, k, grad=True), torch.randperm(t * k, device=DEV), k, (b, n, h)))


@case((4096, 32000), (2048, 128256))
def entropy(n, v):
    f = load("runtime.chunked_cross_entropy")
    f.chunked_cross_entropy(randn(n, v, grad=True), randint(0, v, n), backend="triton").backward()


@case((256, 4096, 4096, 128), (16, 4096, 11008, 128))
def fp8(m, k, n, g):
    f = load("ops.fp_quantizer.fp8_gemm_triton")
    w = randn(k, n).to(torch.float8_e4m3fn).view(torch.uint8)
    f.matmul_fp8_triton(randn(m, k), w, rand(k * n // g, lo=0.5, hi=1.5), g)
    f.matmul_fp8_triton(randn(m, k, dtype=f16), w, rand(k * n // g, lo=0.5, hi=1.5), g)


@case((16, 16, 1024), (8, 32, 2048))
def softmax(b, h, n):
    f = load("ops.transformer.inference.triton.softmax")
    f.softmax(randn(b, h, 128, n, dtype=f16))
    f.softmax(randn(b, h, 128, n, dtype=f16), randn(b, 1, 1, n, dtype=f16))


@case((8192, 4096), (4096, 1024))
def norms(m, n):
    f = load("ops.transformer.inference.triton.layer_norm")
    x, r, b, w = randn(m, n, dtype=f16), randn(m, n, dtype=f16), randn(n, dtype=f16), randn(n, dtype=f16)
    f.layer_norm(x, w, b, 1e-5)
    f.layer_norm_residual(x, b, r, w, b, 1e-5)
    f.layer_norm_residual(x, None, r, w, b, 1e-5)
    load("ops.transformer.inference.triton.gelu").gelu(x)


@case((8, 4, 8192, 4096))
def permute(e, ranks, rows, h):
    f = load("moe.ep_kernels")
    cnt = randint(1, rows // (e * ranks), e * ranks, dtype=i32)
    idx = f.generate_permute_indices(cnt, e, ranks, rows + 128 * e, 128)[0]
    x = randn(rows, h, grad=True)
    full = torch.full((rows + 128 * e,), -1, device=DEV, dtype=idx.dtype)
    full[torch.randperm(len(full), device=DEV)[:rows]] = torch.randperm(rows, device=DEV).to(idx.dtype)
    idx = full
    f.gather_rows(x.detach(), idx.clamp(min=0))
    y = f.permute_rows(x, idx)
    bwd(y)
