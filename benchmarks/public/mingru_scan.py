"""mingru-scans 0.2.0: affine, linear, log-space, rotation (angle) and delta-rule scans, forward and backward."""
from _common import *
from mingru import triton_scans as ts


@case((8, 2048, 512), (2, 8192, 1024))
def linear(b, t, d):
    a, x = rand(b, t, d, lo=-0.9, hi=0.9, grad=True), randn(b, t, d, dtype=f32, grad=True)
    bwd(ts.linear_scan_fwd(a, x))
    ts.linear_scan_bwd(a.detach(), *[randn(b, t, d, dtype=f32, scale=0.1) for _ in range(4)])


@case((8, 2048, 512), (2, 4096, 1024))
def logspace(b, t, d):
    c = (-rand(b, t, d)).requires_grad_()
    v = randn(b, t + 1, d, dtype=f32, grad=True)
    bwd(ts.parallel_scan_log_fwd(c, v))


@case((8, 1024, 64, 2, 1), (4, 1024, 64, 4, 1), (2, 512, 32, 4, 4))
def affine(b, t, n, k, v):
    A = randn(b, t, n, k, k, dtype=f32, scale=0.5 / k ** 0.5, grad=True)
    B = randn(b, t, n, k, v, dtype=f32, grad=True)
    bwd(ts.affine_scan_fwd(A, B))


@case((4, 1024, 64, 4, 2), (2, 1024, 64, 8, 3))
def angle(b, t, n, k, r):
    half = k // 2
    theta = rand(b, t, n, r, half, grad=True)
    scale, gamma = rand(b, t, n, lo=0.5, grad=True), rand(b, t, n, lo=0.5, grad=True)
    x, h0 = randn(b, t, n, k, dtype=f32, grad=True), randn(b, n, k, dtype=f32, grad=True)
    perm = torch.stack([torch.arange(k) ^ (1 if i == 0 else min(1 << i, k // 2)) for i in range(r)]).to(DEV, i32)
    sgn = torch.where(perm > torch.arange(k, device=DEV), -1.0, 1.0)
    p2p = (torch.arange(k) // 2).repeat(r, 1).to(DEV, i32)
    bwd(ts.angle_scan_impl(theta, scale, gamma, x, h0, perm, sgn, p2p, has_scale=1, has_decay=1))


@case((4, 8, 2048, 1, 64, 64), (4, 8, 1024, 2, 32, 64))
def delta(b, h, t, nh, dk, c):
    q, k = randn(b, h, t, dk, dtype=f32), torch.nn.functional.normalize(randn(b, h, t, nh, dk, dtype=f32), dim=-1)
    v, beta = randn(b, h, t, nh, dk, dtype=f32), rand(b, h, t, nh)
    ts.delta_scan_impl(q, k, v, beta, randn(b, h, dk, dk, dtype=f32), chunk_size=c)
