"""flashlib 0.4.0: emulated-precision products (Ozaki int8 and bf16/tf32/fp16 splits, Chinese remainders), tall-skinny Gram/covariance, Jacobi and Householder eigensolvers."""
from _common import *
import importlib
M = lambda n: importlib.import_module("flashlib." + n)
f64 = torch.float64


@case((2048, 7), (1024, 5))
def ozaki2(n, moduli):
    M("linalg.gemm.ozaki2_dispatch").matmul_ozaki2_triton(randn(n, n, dtype=f64), randn(n, n, dtype=f64), moduli)


@case((2048, 4))
def ozaki1(n, slices):
    M("linalg.gemm.triton.ozaki1_dispatch").matmul_ozaki_int8(randn(n, n, dtype=f64), randn(n, n, dtype=f64), slices)


@case(1024, 4096)
def splits(n):
    g = "linalg.gemm.triton."
    a, d = randn(n, n, dtype=f32), randn(n, n, dtype=f64)
    M(g + "split").split_fp32_bf16_pair(a)
    M(g + "split").split_fp64_tf32_pair(d)
    M(g + "split_fp16").split_fp32_fp16_pair(a)
    M(g + "split_fp16").split_fp64_fp16_pair(d)
    M(g + "split_helpers").split_fp32_to_bf16_fused(a)
    M(g + "split_helpers").sum3_fused(a, a, a)
    M(g + "sum3").fused_sum3(a, a, a, torch.zeros_like(a))


@case(1024, 2048)
def kahan(n):
    M("linalg.gemm.triton.fp16x3_kahan").matmul_fp16x3_kahan(randn(n, n, dtype=f32), randn(n, n, dtype=f32))


@case("3xbf16", "tf32x3")
def fused(mode):
    k = M("linalg.gemm.triton.fused_kernels")
    a, b = randn(2048, 2048, dtype=f32, scale=0.03), randn(2048, 2048, dtype=f32, scale=0.03)
    if mode == "tf32x3":
        k.fused_tf32_matmul(a, b, mode)
        return
    k.fused_ozaki_matmul(a, b, mode)
    k.kenney_laub_step(a)
    k.fused_axpby(a, b, 1.5, -0.5)
    k.fused_shift_sym(a, 0.3)
    k.fused_kl_poly(a, b)
    k.fused_sym(a)
    k.fused_diag_shift(a, 0.1)


@case((200000, 128), (65536, 512))
def tall(n, d):
    k = M("linalg.gemm.triton.tall_skinny")
    x = randn(n, d, dtype=f32)
    k.triton_cov_gemm(x)
    k.triton_full_gemm(x)
    k.triton_ab_gemm(randn(n, 64, dtype=f32), x)
    k.triton_streaming_matmul(x, randn(d, 32, dtype=f32))
    k.triton_gram_gemm(randn(2048, d, dtype=f32))


@case()
def cov():
    M("linalg.cov_gemm.triton.cov_gemm").cov_gemm(randn(100000, 256, dtype=f32))
    M("linalg.gram_gemm.triton.gram_gemm").gram_gemm(randn(4096, 256, dtype=f32))
    M("linalg.ab_gemm.triton.ab_gemm").ab_gemm(randn(100000, 128, dtype=f32), randn(100000, 96, dtype=f32))


@case(32, 64)
def eigh(n):
    a = randn(n, n, dtype=f32)
    a = a @ a.T + torch.eye(n, device=DEV)
    M("linalg.eigh.triton.jacobi").triton_jacobi_eigh(a)
    M("linalg.eigh.triton.householder").triton_eigh(a)
