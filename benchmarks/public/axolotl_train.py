"""axolotl 0.19.0: head-size-512 flash attention, gated norms, rope norms, gated activations, DoRA norm, reward losses, Sinkhorn optimizer."""
from _common import *
import importlib
M = lambda n: importlib.import_module("axolotl." + n)


@case((True, False), (True, True))
def d512(causal, packed):
    pos = torch.cat([torch.arange(n, device=DEV) for n in (400, 1000, 648)])[None] if packed else None
    q, k, v = [randn(1, h, 2048, 512, scale=0.3, grad=True) for h in (8, 2, 2)]
    bwd(M("monkeypatch.attention.flash_attn_d512").flash_d512(q, k, v, causal, pos))


@case((32768, 128), (4096, 4096))
def gated_norm(m, n):
    k = M("kernels.rms_norm_gated")
    bwd(k.FusedRMSNormGatedFunction.apply(randn(m, n, grad=True), randn(m, n, grad=True), randn(n, grad=True), 1e-6, 0.0))


@case((256, 256), (256, 64), (512, 128))
def norm_rope(d, rot):
    k = M("kernels.gemma4_fused_rope")
    bwd(k.fused_rms_norm_rope(randn(2, 2048, 8, d, grad=True), randn(d, grad=True), randn(2, 2048, rot), randn(2, 2048, rot), unit_offset=rot != d))
    bwd(k.fused_rms_norm_noscale(randn(2, 2048, 8, d, grad=True)))


@case("geglu", "swiglu")
def gated(n):
    k = M("kernels." + n)
    a = [randn(1, 4096, 8192) for _ in range(3)]
    getattr(k, n + "_forward")(a[0], a[1])
    getattr(k, n + "_backward")(a[2], a[0], a[1])


@case(16, 64)
def dora(r):
    M("kernels.dora").triton_dora_scale(randn(4096, 4096), None, randn(r, 4096), randn(4096, r), 2.0, rand(4096, dtype=bf16), bf16)


@case()
def reward():
    k = M("core.trainers.ebft.kernels")
    k.fused_log_softmax_gather(randn(2, 1024, 32000), randint(0, 32000, 2, 1024))
    k.fused_reinforce_loss(randn(16, 65536, dtype=f32), randn(16, 65536, dtype=f32), rand(16, 65536) > 0.3)
    k.fused_cosine_similarity(randn(64, 64, 4096, dtype=f32), randn(64, 64, 4096, dtype=f32))
    k.fused_diversity_penalty(randn(64, 16, 4096, dtype=f32))


@case("base", "spec", "md")
def sinkgd(mode):
    m = M("utils.optimizers.sinkgd_triton")
    kw = {} if mode == "base" else dict(u=randn(4096, dtype=f32))
    if mode == "md":
        kw["target_norm"] = torch.tensor(60.0, device=DEV)
    m.fused_sinkgd_step(randn(4096, 4096, dtype=f32), randn(4096, 4096, dtype=f32), 1e-3, 0.1, 5, 1e-8, mode=mode, **kw)
