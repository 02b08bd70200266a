"""colt5-attention 0.11.2 and lion-pytorch 0.2.5: differentiable top-k by coordinate descent (loops within loops, both passes), Lion updates."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
package("colt5_attention")
package("lion_pytorch")
from colt5_attention.triton_coor_descent import triton_coor_descent
from lion_pytorch.triton import update_fn


@case((16, 4096, 512, 20, 1), (64, 1024, 128, 50, 5))
def route(b, n, k, iters, seg):
    s = randn(b, n, dtype=f32, grad=True)
    bwd(triton_coor_descent(s, n_iters=iters, k=k, eps=1e-1, eps_init=4.0, eps_decay=0.8, checkpoint_segments=seg))


@case((4096, 11008, f32), (4096, 4096, bf16))
def lion(m, n, dtype):
    update_fn(randn(m, n, dtype=dtype), randn(m, n, dtype=dtype), randn(m, n, dtype=dtype), 1e-4, 0.1, 0.9, 0.99)
