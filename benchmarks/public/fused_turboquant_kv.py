"""fused-turboquant 0.1.0: randomised Hadamard, KV encode (norm, quantise, pack), decode, attention scores of packed 2/3/4-bit keys."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("fused_turboquant")
K = "fused_turboquant.kernels."
rht = importlib.import_module(K + "triton_rht")
enc = importlib.import_module(K + "triton_encode")
dec = importlib.import_module(K + "triton_decode")
att = importlib.import_module(K + "triton_attention")


def signs(d):
    return (randint(0, 2, d) * 2 - 1).float()


def levels(bits, d):
    """Centroids and bin edges of a Gaussian of variance 1/d."""
    n = 1 << bits
    p = (torch.arange(n, device=DEV, dtype=f32) + 0.5) / n
    c = torch.special.ndtri(p) / d ** 0.5
    edge = torch.full((1,), 1e3, device=DEV, dtype=f32)
    return c.contiguous(), torch.cat([-edge, (c[1:] + c[:-1]) / 2, edge]).contiguous()


@case((4, 8, 8192, 128), (2, 8, 8192, 256), (8, 8, 8192, 64))
def hadamard(b, h, n, d):
    s = signs(d)
    y = rht.triton_rht(randn(b, h, n, d, dtype=f32), s)
    rht.triton_rht(y, s, inverse=True)


@case((4, 8, 8192, 128, 4), (4, 8, 8192, 128, 3), (4, 8, 8192, 128, 2), (2, 8, 8192, 256, 4), (8, 8, 8192, 64, 3))
def codec(b, h, n, d, bits):
    s = signs(d)
    c, e = levels(bits, d)
    packed, norms = enc.triton_fused_encode(randn(b, h, n, d), s, e, bits)
    dec.triton_fused_decode(packed, norms, c, s, bits, d)


@case((8, 32, 8, 8192, 128, 4), (8, 32, 8, 8192, 128, 3), (8, 32, 8, 8192, 128, 2), (16, 16, 16, 4096, 64, 4), (4, 16, 4, 8192, 256, 3))
def scores(b, hq, hk, n, d, bits):
    packed = randint(0, 256, b, hk, n, d * bits // 8, dtype=torch.uint8)
    att.fused_qk_scores_rht(randn(b, hq, 1, d, dtype=f32), packed, rand(b, hk, n, lo=0.5, hi=1.5), levels(bits, d)[0], d ** -0.5, bits=bits)
