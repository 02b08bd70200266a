"""power-attention 1.4.4: symmetric power attention (gated, both passes), states of degree two (update and query, kernels written by templates), discounted cumulative sums."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
for p in ("power_attention", "power_attention._attention", "power_attention._update_state", "power_attention._query_state", "power_attention._discumsum"):
    package(p)
from power_attention._attention.triton import _power_attention
from power_attention._discumsum.triton import discumsum
from power_attention._query_state.triton import query_state
from power_attention._update_state.triton import update_state, compute_expanded_dim
cut("power_attention.", pick=(5, 9, 13))


@case((2, 2048, 16, 64, 2, True, False), (4, 1024, 12, 128, 4, False, True), (2, 2048, 16, 64, 2, True, True))
def attention(b, n, h, d, deg, gated, norm):
    q, k, v = (randn(b, n, h, d, grad=True) for _ in range(3))
    g = (-rand(b, n, h, hi=0.1)).cumsum(1).requires_grad_(True) if gated else None
    o, l, m = _power_attention.apply(q, k, v, g, deg, 1, 1, True, False, d ** -0.5, norm, False)
    torch.autograd.backward([o, l], [torch.randn_like(o), torch.randn_like(l)])


@case((2, 8, 1024, 12, 64))
def update(b, n, c, h, d):
    s, m = update_state(randn(b, n, c, h, d, grad=True), randn(b, n, c, h, d, grad=True), 2)
    torch.autograd.backward([s, m], [torch.randn_like(s), torch.randn_like(m)])


@case((2, 8, 1024, 12, 64))
def query(b, n, c, h, d):
    e = compute_expanded_dim(d, 2, 16)
    m = rand(b * n, h, c, lo=1.0).transpose(1, 2).view(b, n, c, h)
    o = query_state(randn(b, n, c, h, d, grad=True), randn(b, n, h, e, d, grad=True), rand(b, n, h, e, lo=0.5, grad=True), randn(b, n, c, h, d), rand(b, n, c, h, lo=0.5), m, 2, d ** -0.5, False)
    bwd(o)


@case((2, 32, 12, 2304 * 64), (4, 64, 16, 65536))
def discount(b, n, h, d):
    x = randn(b, n, h, d, grad=True)
    bwd(discumsum(x, (-rand(b, n, h, hi=0.5)).requires_grad_(True)))
