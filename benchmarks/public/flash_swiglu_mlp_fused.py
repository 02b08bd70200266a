"""flash-swiglu-mlp 0.4.3: gate and up projections with SwiGLU through tensor descriptors, training and inference, and the two backward kernels."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from flash_swiglu_mlp import FlashSwiGLUMLP


@case((2, 1024, 2048, 5632, 1.0, bf16), (1, 2048, 1024, 4096, 0.7, f16))
def training(b, n, d, hidden, mult, dtype):
    mlp = FlashSwiGLUMLP(d, hidden, device=DEV, dtype=dtype, gate_multiplier=mult, down_multiplier=mult)
    bwd(mlp(randn(b, n, d, dtype=dtype, grad=True)))


@case((1, 2048, 2048, 5632, 1.0, bf16), (8, 32, 4096, 11008, 0.7, f16))
def inference(b, n, d, hidden, mult, dtype):
    mlp = FlashSwiGLUMLP(d, hidden, device=DEV, dtype=dtype, gate_multiplier=mult, down_multiplier=mult).requires_grad_(False)
    mlp(randn(b, n, d, dtype=dtype))
