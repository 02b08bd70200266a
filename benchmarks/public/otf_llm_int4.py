"""otf-llm 4.1.0: linear layer on 4-bit weights with group scales (fused dequantisation)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("otf_llm")
F = importlib.import_module("otf_llm.otf_triton_kernel").triton_fused_int4_linear


@case((1, 4096, 14336, 64), (16, 4096, 4096, 64), (256, 4096, 4096, 64), (512, 3072, 3072, 128))
def linear(m, k, n, g):
    F(randn(1, m, k, dtype=f16), randint(0, 256, n, k // 2, dtype=torch.uint8), rand(n, k // g, lo=0.001, hi=0.01, dtype=f16), g)
