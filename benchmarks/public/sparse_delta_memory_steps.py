"""sparse-delta-memory 2.0.0: triangular solves of chunks, the dual product of a step, staging by time, elementwise parts of the backward, head permutes, bank copies and sums, decode step."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("sparse_delta_memory")
M = lambda name: importlib.import_module("sparse_delta_memory." + name)


@case((2048, 64), (256, 256), (4096, 32), (512, 128))
def solve(n, c):
    M("wy_solve").wy_solve(randn(n, c, c, dtype=f32, scale=0.05), rand(n, c), randn(n, c, c, dtype=f32, scale=0.1))


@case((256, 64, 512, bf16), (64, 256, 512, bf16), (64, 64, 512, f32))
def dual(p, c, hd, t):
    n = 2 * p
    launch = M("phase2_kernels").make_dual_matmul(
        randn(n, c, c, dtype=f32, scale=0.1), randn(n, c, c, dtype=f32, scale=0.1), randn(n * c, hd, dtype=t), rand(n * c),
        randn(p * c, hd, dtype=f32), randn(p * c, hd, dtype=f32), zeros(n * c, hd, dtype=f32), zeros(n * c, hd, dtype=t),
        zeros(n * c, hd, dtype=f32), num_parallel=p, valid_tokens=2 * c)
    launch(0)
    launch(1)


@case((64, 2048, 64, 512), (32, 4000, 256, 64))
def stage(p, t, c, d):
    m = M("memory_ops")
    x = m.stage_time_major(randn(p * t, d), p, t, c, f32)
    m.unstage_time_major(x, p, t, c, bf16)


@case((1024, 64, 512), (128, 256, 1024))
def elementwise(n, c, d):
    m = M("memory_ops")
    beta = rand(n * c)
    _, part = m._pre_bmm(randn(n, c, d, dtype=f32), beta, randn(n, c, d, dtype=f32), zeros(n * c, d))
    m._post_bmm(randn(n, c, c, dtype=f32), randn(n, c, c, dtype=f32), beta, part, zeros(n * c, dtype=f32))


@case((4, 4096, 16, 128, bf16), (4, 4096, 4, 1024, bf16), (4, 4096, 16, 64, f32))
def heads(b, t, h, d, dt):
    m = M("memory_ops")
    bwd(m.head_split(randn(b, t, h * d, dtype=dt, grad=True), h))
    bwd(m.head_merge(randn(b * h, t, d, dtype=dt, grad=True), h))


@case((8, 65536, 256, bf16), (4, 65536, 512, f32))
def bank(b, s, d, t):
    bwd(M("memory_ops").expand_memory_batch(randn(s, d, dtype=t, grad=True), b))


@case((512, 4096, 512, 32, 32, bf16), (256, 4096, 256, 64, 128, f32))
def decode(streams, slots, hd, w, r, t):
    base = torch.arange(streams, device=DEV).unsqueeze(1) * 128
    wi = (torch.rand(streams, 128, device=DEV).argsort(1)[:, :w] + base).contiguous()
    ri = (torch.rand(streams, 128, device=DEV).argsort(1)[:, :r] + base).contiguous()
    f = M("decode").sdm_decode_step
    for g in (1, w):
        f(randn(streams * 128, hd, dtype=t), wi, rand(streams, w), randn(streams, hd), rand(streams, 1), rand(streams, g, lo=-1.0, hi=0.0), ri, rand(streams, r))
