"""tetherpy 0.2.0: spiking neurons (LIF, adaptive, with vector parameters, fused with a linear layer), rate coding, spiking attention."""
from _common import *
import importlib
M = lambda n: importlib.import_module("tether." + n)


def scalar(v):
    return torch.tensor(v, device=DEV, requires_grad=True)


@case((32, 1 << 18, 0), (100, 65536, 1), (32, 1 << 18, 2))
def lif(steps, n, surrogate):
    x, v = randn(steps, n, dtype=f32, grad=True), zeros(n, dtype=f32)
    bwd(M("functional.lif").LIFSubFunction.apply(x, v, scalar(0.9), scalar(1.0), scalar(2.0), surrogate))
    x = randn(steps, n, dtype=f32, grad=True)
    decay, th = rand(n, lo=0.8, hi=0.99, grad=True), rand(n, lo=0.5, hi=1.5, grad=True)
    bwd(M("functional.plif").PLIFSubFunction.apply(x, v, decay, th, scalar(2.0), surrogate))


@case((32, 1 << 18), (100, 65536))
def alif(steps, n):
    x, v, a = randn(steps, n, dtype=f32, grad=True), zeros(n, dtype=f32), zeros(n, dtype=f32)
    bwd(M("functional.alif").ALIFSubFunction.apply(x, v, a, scalar(0.9), scalar(0.95), scalar(1.0), scalar(0.1), scalar(2.0)))


@case((16, 128, 1024, 1024), (32, 64, 784, 512))
def linear_lif(t, b, i, o):
    M("kernels.linear_lif").linear_lif_fwd(randn(t, b, i, dtype=f32), randn(o, i, dtype=f32, scale=0.05), zeros(b, o, dtype=f32))


@case((4, 32, 8, 196, 64), (16, 8, 8, 256, 64))
def attention(t, b, h, n, d):
    a = [(rand(t, b, h, n, d) > 0.8).float() for _ in range(3)]
    M("kernels.attention").causal_linear_attention_fused(*a)
    M("kernels.attention").causal_linear_attention_fused(*a, randn(b, h, n, d, dtype=f32))


@case((32, 32, 3 * 224 * 224 // 8))
def encoding(steps, b, n):
    M("kernels.encoding").rate_encoding_triton(rand(b, n), steps)
