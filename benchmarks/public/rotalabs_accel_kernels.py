"""rotalabs-accel 1.1.1: RMS norm (with residual), swiglu (with biases), rope, products with int8 weights (dequantised, or with the activations quantised inside)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

import rotalabs_accel
from rotalabs_accel.quantization import symmetric

stub = types.ModuleType("triton_kernels")   # its file for quantised products still imports the package by its former name
stub.quantization = symmetric
sys.modules["triton_kernels"], sys.modules["triton_kernels.quantization"] = stub, symmetric
Q = importlib.import_module("rotalabs_accel.kernels.quantized_matmul")
S = importlib.import_module("rotalabs_accel.kernels.swiglu")


@case((4, 4096, 4096), (2, 4096, 11008))
def norms(b, n, d):
    x, w = randn(b, n, d, dtype=f16), randn(d, dtype=f16)
    rotalabs_accel.rmsnorm(x, w)
    rotalabs_accel.rmsnorm_residual_fused(x, randn(b, n, d, dtype=f16), w)


@case((2, 4096, 11008), (1, 2048, 14336))
def swiglu(b, n, d):
    g, u = randn(b, n, d, dtype=f16), randn(b, n, d, dtype=f16)
    rotalabs_accel.swiglu_fused(g, u)
    S.swiglu_with_bias(g, u, randn(d, dtype=f16), randn(d, dtype=f16))


@case((2, 4096, 32, 128), (4, 2048, 16, 64))
def rope(b, n, h, d):
    cos, sin = rotalabs_accel.build_rope_cache(n, d, device=DEV)
    rotalabs_accel.apply_rope(randn(b, n, h, d, dtype=f16), randn(b, n, h, d, dtype=f16), cos, sin)


@case((2048, 4096, 4096), (16, 11008, 4096))
def int8(m, n, k):
    x, w, s = randn(m, k, dtype=f16), randint(-127, 128, n, k, dtype=torch.int8), rand(n, lo=0.001, hi=0.002)
    rotalabs_accel.int8_gemm(x, w, s)
    Q._int8_gemm_fused(x, w, s)
