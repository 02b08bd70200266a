"""liger-kernel 0.8.5: rotary forms, multi-token and neighborhood attention, hyper-connections, MoE, embedding, int2 GEMM."""
from _common import *
import liger_kernel.ops as L


@case((2, 32, 8, 4096, 128))
def rope(b, h, kv, t, d):
    q, k = randn(b, h, t, d, grad=True), randn(b, kv, t, d, grad=True)
    cos, sin = randn(1, t, d), randn(1, t, d)
    bwd(L.LigerRopeFunction.apply(q, k, cos, sin))


@case((2, 28, 4, 4096, 128))
def mrope(b, h, kv, t, d):
    q, k = randn(b, h, t, d, grad=True), randn(b, kv, t, d, grad=True)
    bwd(L.LigerQwen2VLMRopeFunction.apply(q, k, randn(3, b, t, d), randn(3, b, t, d), [16, 24, 24]))


@case((2, 32, 8, 4096, 128))
def rope4(b, h, kv, t, d):
    f = torch.polar(torch.ones(t, d // 2, device=DEV), rand(t, d // 2, hi=6.0))
    bwd(L.LigerLlama4RopeFunction.apply(randn(b, t, h, d, grad=True), randn(b, t, kv, d, grad=True), f))


@case((1, 8, 1024), (2, 4, 512))
def multitoken(b, c, n):
    bwd(L.LigerMultiTokenAttentionFunction.apply(randn(b, c, n, n, dtype=f32, grad=True), randn(c, c, 3, 3, dtype=f32, scale=0.2, grad=True),
                                                 randn(c, dtype=f32, grad=True), 1, 1))


@case((2, 8, 1024, 64))
def neighborhood(b, h, n, d):
    bwd(L.LigerFusedNeighborhoodAttentionFunction.apply(*[randn(b, h, n, d, grad=True) for _ in range(3)]))


@case((4096, 4, 2048))
def mhc(t, m, c):
    x = randn(t, m, c, grad=True)
    k = m * m + 2 * m
    s = lambda: torch.tensor(0.5, device=DEV, requires_grad=True)
    pre, post, res = L.LigerMHCCoeffsFunction.apply(x, randn(m * c, k, scale=0.02, grad=True), randn(k, dtype=f32, grad=True), s(), s(), s(),
                                                    True, 10, 1e-6, 0.0, 1e-6, 2.0)
    y = L.LigerMHCPreFunction.apply(x, pre)
    bwd(L.LigerMHCPostResFunction.apply(x, y, post, res))


@case((4096, 1024, 768, 16, 4))
def moe(t, h, i, e, k):
    bwd(L.LigerFusedMoEFunction.apply(randn(t, h, grad=True), randn(e, 2 * i, h, scale=0.03, grad=True), randn(e, h, i, scale=0.03, grad=True),
                                      torch.rand(t, e, device=DEV).topk(k)[1], rand(t, k, dtype=bf16).requires_grad_()))


@case((32000, 4096, 8192))
def embedding(v, d, t):
    bwd(L.LigerEmbeddingFunction.apply(randn(v, d, grad=True), randint(0, v, 4, t // 4)))


@case((1024, 2048, 2048))
def int2(m, k, n):
    from liger_kernel.ops.experimental import mm_int8int2 as mm
    mm.matmul(randint(-128, 127, m, k, dtype=torch.int8), mm.pack_weights(randint(0, 3, k, n).to(torch.uint8), bits=2))
