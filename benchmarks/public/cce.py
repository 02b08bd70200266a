"""cut-cross-entropy 25.1.1: linear cross entropy without the logits (lse forward, indexed dot, backward with filtering and locks)."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from cut_cross_entropy import linear_cross_entropy


@case((4096, 2048, 32000, None), (2048, 2048, 128256, None), (4096, 2304, 64000, 30.0))
def cce(M, D, V, cap):
    e, c = randn(M, D, grad=True), randn(V, D, scale=0.02, grad=True)
    t = randint(0, V, M)
    bwd(linear_cross_entropy(e, c, t, softcap=cap))


@case((4, 1024, 2048, 50304))
def shifted(B, T, D, V):
    t = randint(0, V, B, T)
    t[:, :100] = -100
    bwd(linear_cross_entropy(randn(B, T, D, grad=True), randn(V, D, scale=0.02, grad=True), t, shift=True, reduction="sum"))
