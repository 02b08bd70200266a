"""parallax-kernel 0.1.1: parameterised local linear attention, training (dense, GQA, window), packed sequences, decode of one token."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from parallax.triton import parallax_decode, parallax_func, parallax_varlen_func


@case((1, 16, 4, 4096, 128, -1), (2, 16, 16, 2048, 64, -1), (2, 16, 16, 4096, 64, 512), (1, 8, 2, 4096, 128, 1024))
def train(b, hq, hk, n, d, window):
    q, r = (randn(b, hq, n, d, grad=True) for _ in range(2))
    k, v = (randn(b, hk, n, d, grad=True) for _ in range(2))
    bwd(parallax_func(q, r, k, v, window_size_left=window))


@case((4096, 16, 4, 128, -1), (8192, 16, 16, 64, 512), (4096, 16, 4, 64, -1))
def packed(n, hq, hk, d, window):
    q, r = (randn(1, n, hq, d, grad=True) for _ in range(2))
    k, v = (randn(1, n, hk, d, grad=True) for _ in range(2))
    bwd(parallax_varlen_func(q, r, k, v, window_size_left=window, cu_seqlens=tensor([0, n // 8 + 3, n // 2 - 1, n])))


@case((2, 2048, 16, 16, 64))
def unpacked(b, n, hq, hk, d):
    q, r = (randn(b, n, hq, d, grad=True) for _ in range(2))
    k, v = (randn(b, n, hk, d, grad=True) for _ in range(2))
    bwd(parallax_varlen_func(q, r, k, v))


@case((8, 32, 8, 8192, 128, -1), (32, 32, 8, 8192, 128, 1024), (16, 16, 16, 4096, 64, -1))
def decode(b, hq, hk, n, d, window):
    parallax_decode(randn(b, 1, hq, d), randn(b, 1, hq, d), randn(b, n, hk, d), randn(b, n, hk, d), window_size_left=window)
    parallax_decode(randn(b, 1, hq, d), randn(b, 1, hq, d), randn(b, n, hk, d), randn(b, n, hk, d), window_size_left=window,
                    cache_start=tensor([37 * i for i in range(b)]))
