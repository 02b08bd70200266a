"""conch-triton-kernels 1.3: mixed-precision and scaled GEMM, bitsandbytes formats, fp8/int8 quantisation, norms, activations."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import conch.platforms.platform as plat
from conch.ops.activation.gelu_tanh_and_mul import gelu_tanh_and_mul
from conch.ops.activation.silu_and_mul import silu_and_mul
from conch.ops.normalization.gemma_rms_norm import gemma_rms_norm
from conch.ops.normalization.rms_norm import fused_add_rms_norm, rms_norm
from conch.ops.quantization.bitsandbytes.functional import (_create_dynamic_map, dequantize_4bit, dequantize_blockwise,
                                                            quantize_4bit, quantize_blockwise)
from conch.ops.quantization.fp8 import scaled_fp8_quant
from conch.ops.quantization.gemm import mixed_precision_gemm, scaled_gemm
from conch.ops.quantization.int8 import scaled_int8_quant


@case((2048, 4096, 4096, 4, 128, None), (32, 4096, 14336, 4, 128, True), (1024, 4096, 4096, 8, 128, None))
def mixed(m, k, n, bits, group, zp):
    w = randint(-2 ** 31, 2 ** 31 - 1, k * bits // 32, n, dtype=i32)
    s = rand(k // group, n, lo=0.005, hi=0.02, dtype=f16)
    z = randint(0, 2 ** bits, k // group, n, dtype=i32).to(f16) if zp else None
    mixed_precision_gemm(randn(m, k, dtype=f16), w, s, z, bits, 0 if zp else 2 ** (bits - 1), group)


@case((2048, 4096, 4096, "int8"), (2048, 4096, 4096, "fp8"), (64, 8192, 4096, "int8"))
def scaled(m, k, n, kind):
    if kind == "int8":
        a, b = randint(-127, 128, m, k, dtype=torch.int8), randint(-127, 128, n, k, dtype=torch.int8).t()
    else:
        a, b = randn(m, k).to(torch.float8_e4m3fn), randn(n, k).to(torch.float8_e4m3fn).t()
    scaled_gemm(a, b, rand(m, 1, lo=0.01, hi=0.02), rand(n, 1, lo=0.01, hi=0.02), bf16)


@case((4096, 4096, "nf4", 64, bf16), (4096, 14336, "fp4", 128, f16))
def bnb4(r, c, kind, bs, dt):
    q, st = quantize_4bit(randn(r * c, dtype=dt), blocksize=bs, quant_type=kind)
    dequantize_4bit(q, st, blocksize=bs, quant_type=kind)


@case((4096, 4096, 4096), (8192, 4096, 256))
def bnb8(r, c, bs):
    code = _create_dynamic_map().to(DEV)
    q, st = quantize_blockwise(randn(r * c), code=code, blocksize=bs, quant_type="fp8")
    dequantize_blockwise(q, st, code=code, blocksize=bs, quant_type="fp8")


@case((8192, 4096), (256, 14336))
def static_quant(m, n):
    scaled_fp8_quant(randn(m, n), tensor([0.02], f32))
    scaled_int8_quant(randn(m, n), tensor([0.03], f32))


@case((8192, 4096, bf16), (2048, 8192, f16), (4096, 2560, bf16))
def norms(m, n, dt):
    x, w, r = randn(m, n, dtype=dt), randn(n, dtype=dt), randn(m, n, dtype=dt)
    rms_norm(x, w, 1e-6)
    fused_add_rms_norm(x.clone(), r.clone(), w, 1e-6)
    gemma_rms_norm(x, w, 1e-6)
    gemma_rms_norm(x.clone(), w, 1e-6, r.clone())


@case((8192, 11008), (4096, 14336))
def acts(m, n):
    silu_and_mul(randn(m, 2 * n))
    gelu_tanh_and_mul(randn(m, 2 * n, dtype=f32))
