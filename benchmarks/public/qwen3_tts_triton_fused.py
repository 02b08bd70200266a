"""qwen3-tts-triton 0.3.0: RMS norm (with residual), swiglu, interleaved multi-axis rope, TurboQuant key/value quantisation and dequantisation (3 and 4 bits)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

package("qwen3_tts_triton")
scipy, stats = types.ModuleType("scipy"), types.ModuleType("scipy.stats")
stats.norm, scipy.stats = None, stats
had = {n: sys.modules.get(n) for n in ("scipy", "scipy.stats")}
sys.modules["scipy"], sys.modules["scipy.stats"] = scipy, stats
K = importlib.import_module("qwen3_tts_triton.kernels")
for n, m in had.items():
    if m is None:
        del sys.modules[n]
    else:
        sys.modules[n] = m


@case((4, 4096, 2048), (2, 8192, 1024))
def norms(b, n, d):
    x, w = randn(b, n, d), randn(d)
    K.triton_rms_norm(x, w)
    K.triton_fused_add_rms_norm(x, randn(b, n, d), w)


@case((2, 4096, 6144), (8, 4096, 3072))
def swiglu(b, n, d):
    K.triton_swiglu_forward(randn(b, n, d), randn(b, n, d))


@case((4, 4096, 16, 8, 128))
def mrope(b, n, h, hk, d):
    K.triton_mrope_forward(randn(b, h, n, d), randn(b, hk, n, d), rand(3, b, n, d, lo=-1.0, dtype=bf16), rand(3, b, n, d, lo=-1.0, dtype=bf16), [24, 20, 20])


@case((2, 8, 2048, 128, 4), (2, 8, 2048, 128, 3), (4, 8, 4096, 64, 4))
def turboquant(b, h, n, d, bits):
    rot = randn(h, d, d, dtype=f32, scale=d ** -0.5)
    book = torch.linspace(-2.4, 2.4, 2 ** bits, device=DEV)
    packed, scales = K.triton_fused_quant(randn(b, h, n, d), rot, (book[:-1] + book[1:]) / 2, bits)
    K.triton_fused_dequant(packed, scales, rot, book, d, bits)
