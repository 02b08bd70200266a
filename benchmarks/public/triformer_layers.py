"""triformer 3.0.7: swiglu, RMS and layer norms, softmax (plain and causal), each with its backward; dropout from a seed; cross entropy with its gradient in place."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

M = lambda n: importlib.import_module("triformer." + n)


@case((2, 4096, 4096), (1, 4096, 11008))
def swiglu(b, n, d):
    bwd(M("swiglu").TritonSwiglu()(randn(b, n, d, grad=True), randn(b, n, d, grad=True)))


@case((4, 4096, 4096), (8, 4096, 1024))
def norms(b, n, d):
    bwd(M("rms_norm").FastRMSNorm.apply(randn(b, n, d, grad=True), randn(d), 1e-6))
    bwd(M("layernorm").Fast_Layernorm.apply(randn(b, n, d, grad=True), randn(d), randn(d), 1e-5))


@case((1, 8, 2048, 2048, True), (1, 8, 2048, 2048, False), (1, 4, 4096, 4096, True))
def softmax(b, h, n, m, causal):
    bwd(M("softmax").TritonSoftmax(causal)(randn(b, h, n, m, dtype=f32, grad=True)))


@case(f32, bf16)
def dropout(dtype):
    """The kernel itself: its wrapper's seed is a tensor, which Triton takes for a pointer."""
    x = randn(8192, 4096, dtype=dtype)
    M("dropout")._seeded_dropout[(x.numel() // 4096,)](x, torch.empty_like(x), x.numel(), 0.1, 1234, BLOCK_SIZE=1024)


@case((4096, 32000), (2048, 50257))
def cross_entropy(n, v):
    targets = randint(0, v, n)
    targets[: n // 16] = 0
    M("cross_entropy").TritonCrossEntropyLoss(0, "mean")(randn(n, v, dtype=f32), targets)
