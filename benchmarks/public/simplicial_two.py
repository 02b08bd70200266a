"""simplicial-attention 0.1.6: two-simplicial attention in sliding windows (pairs of keys), its backward in three kernels."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
package("simplicial_attention")
stub("simplicial_attention.simplicial_mha")
from simplicial_attention.triton_two_simplicial_attention import sliding_two_simplicial_attn


@case((1, 1024, 8, 8, 64, 128, 16), (2, 512, 16, 4, 64, 256, 32))
def attention(b, n, h, hk, d, w1, w2):
    q = randn(b, n, h, d, grad=True)
    ks = [randn(b, n, hk, d, grad=True) for _ in range(4)]
    bwd(sliding_two_simplicial_attn(q, (ks[0], ks[1]), (ks[2], ks[3]), w1=w1, w2=w2))
