"""fp8-coat 1.0.11: fp8 training operators on groups of 16 and 32: quantisation (plain, transposed, per block, per tensor), division by scales, add, SiLU, GELU, product and their backwards, RMS and layer norm, fp8 product."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
for p in ("coat", "coat.activation", "coat.activation.real_quantization"):
    package(p)
import importlib


def f(module, name):
    m = importlib.import_module("coat.activation.real_quantization." + module)
    cut("coat.activation", pick=(4, 10, 23))
    return getattr(m, name)


E4 = torch.float8_e4m3fn
SHAPES = ((8192, 4096, 16), (4096, 11008, 32))


def quantised(m, n, q):
    return randn(m, n).to(E4), rand(m, n // q, lo=0.01, hi=0.02, dtype=bf16)


@case(*SHAPES)
def quantize(m, n, q):
    x = randn(m, n)
    f("_quantize_transpose", "fp8_quantize_transpose")(x, q, E4)
    y, s = f("_quantize", "fp8_quantize")(x, q, E4)
    f("_dequantize", "fp8_dequantize")(y, s, q)
    f("_transpose", "fp8_transpose")(y)
    f("_division", "fp8_division")(x, q, E4)
    f("_division_transpose", "fp8_division_transpose")(x, q, E4)


@case((8192, 4096, 128), (4096, 8192, 64))
def blocks(m, n, q):
    x = randn(m, n)
    f("_quantize_perblock", "fp8_quantize_perblock")(x, q, E4)
    f("_quantize_perblock_transpose", "fp8_quantize_perblock_transpose")(x, q, E4)
    f("_quantize_perblock_transpose_pergroup", "fp8_quantize_perblock_transpose_pergroup")(x, q, E4)


@case((8192, 4096, 16))
def tensor_scale(m, n, q):
    x = randn(m, n)
    f("_quantize_pertensor", "fp8_quantize_pertensor")(x, q, "E4M3")
    f("_quantize_pertensor_transpose", "fp8_quantize_pertensor_transpose")(x, q, "E4M3")


@case(*SHAPES)
def add(m, n, q):
    f("add_fwd", "fp8_add_Ifp_Ifp_Ofp_Og16")(randn(m, n), randn(m, n), E4, q)
    f("add_bwd", "fp8_add_Ifp_Ifp_Ofp_Opt")(randn(m, n), randn(m, n), q, E4)


@case(*SHAPES)
def activations(m, n, q):
    x, s = quantised(m, n, q)
    f("silu_fwd", "fp8_silu_forward")(x, s, q)
    f("silu_bwd", "fp8_silu_backward")(x, s, randn(m, n), q, E4)
    f("gelu_fwd", "fp8_gelu_forward")(x, s, q)
    f("gelu_bwd", "fp8_gelu_backward")(x, s, randn(m, n), q, E4)
    f("mul_bwd", "fp8_mul_backward")(x, s, *quantised(m, n, q), randn(m, n), q, E4)


@case((8192, 4096, 16), (8192, 2048, 32))
def norms(m, n, q):
    x, s = quantised(m, n, q)
    w, b = randn(n), randn(n)
    _, _, _, (_, rstd, nw) = f("func_rmsnorm", "fp8_rmsnorm_forward")(x, s, w, q, 1e-6)
    f("func_rmsnorm", "fp8_rmsnorm_backward")(x, s, randn(m, n), w, rstd, q, nw)
    _, _, _, (_, _, mean, rstd, nw) = f("func_layernorm_param", "fp8_layernorm_param_forward")(x, s, w, b, q, 1e-6)
    f("func_layernorm_param", "fp8_layernorm_param_backward")(x, s, randn(m, n), q, w, b, mean, rstd, nw)
    _, _, _, saved = f("func_layernorm_noparam", "fp8_layernorm_noparam_forward")(x, s, q, 1e-6)
    f("func_layernorm_noparam", "fp8_layernorm_noparam_backward")(x, s, randn(m, n), q, *saved)


@case((4096, 4096, 4096, 16, True), (8192, 4096, 11008, 16, False))
def linear(m, k, n, q, out8):
    one = ones(1, dtype=bf16)
    f("linear", "fp8_linear_forward")(randn(m, k).to(E4), one, randn(n, k).to(E4), one, out8, q)
