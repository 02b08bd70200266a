"""flash-semicrf 0.2.0: semi-Markov CRF by streaming scans in float64 over ring buffers: partition (log and max), best segmentation with back pointers, gradients from checkpoints."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
for p in ("flash_semicrf", "flash_semicrf.streaming"):
    package(p)
from flash_semicrf.streaming import triton_backward as tb, triton_forward as tf


def scores(b, t, k, c):
    s = torch.cat([torch.zeros(b, 1, c, device=DEV), rand(b, t, c, lo=-1.0).cumsum(1)], 1).double()
    return s, rand(c, c, lo=-1.0).double(), rand(k, c, lo=-1.0).double(), torch.full((b,), t - 5, device=DEV, dtype=i64)


@case((64, 200, 8, 8), (32, 300, 16, 16), (128, 128, 8, 24))
def partition(b, t, k, c):
    x = scores(b, t, k, c)
    z, ring, every, norm = tf.launch_streaming_triton_kernel(*x, k, "log", validate_cache=False)
    tb.launch_streaming_triton_backward(*x, z, ring, norm, every, torch.ones_like(z), validate_cache=False)


@case((64, 200, 8, 8), (32, 300, 16, 16))
def best(b, t, k, c):
    tf.launch_streaming_triton_kernel(*scores(b, t, k, c), k, "max", validate_cache=False)
    tf.launch_streaming_triton_kernel_max_bp(*scores(b, t, k, c), k, validate_cache=False)


@case((64, 200, 8, 8))
def boundaries(b, t, k, c):
    s, _, d, n = scores(b, t, k, c)
    tr, p, q = rand(k, c, c, lo=-1.0).double(), rand(b, t, c, lo=-1.0).double(), rand(b, t, c, lo=-1.0).double()
    z, ring, every, norm = tf.launch_streaming_triton_kernel(s, tr, d, n, k, "log", proj_start=p, proj_end=q, validate_cache=False)
    tb.launch_streaming_triton_backward(s, tr, d, n, z, ring, norm, every, torch.ones_like(z), p, q, return_boundary_marginals=True, validate_cache=False)
