"""unsloth 2026.10.9: rms/layer norm, rope, gated activations, cross entropy (whole and chunked), q/k norm with rope, large-head attention."""
from _common import *
import importlib
import os
os.environ["UNSLOTH_TRITON_FAST_LAUNCH"] = "0"   # ordinary launches only
M = lambda n: importlib.import_module("unsloth.kernels." + n)
NS = type("N", (), {})


def layer(n, bias=False, **kw):
    l = NS()
    l.weight, l.bias, l.variance_epsilon, l.eps, l.elementwise_affine = torch.nn.Parameter(randn(n)), torch.nn.Parameter(randn(n)), 1e-6, 1e-6, True
    return l


@case((4096, 4096, False), (4096, 2048, True), (65536, 128, False))
def rms(m, n, gemma):
    bwd(M("rms_layernorm").fast_rms_layernorm(layer(n), randn(1, m, n, grad=True) * 1, gemma))


@case((8192, 1024), (4096, 4096))
def lnorm(m, n):
    bwd(M("layernorm").fast_layernorm(layer(n), randn(1, m, n, grad=True) * 1))


@case((32000, 0), (128256, 0), (151936, 30.0))
def ce(V, cap):
    x = randn(1, 1024, V, grad=True)
    bwd(M("cross_entropy_loss").fast_cross_entropy_loss(x * 1, randint(0, V, 1, 1024), cap))


@case(False, True)
def rope(idx):
    q, k = randn(2, 32, 2048, 128, grad=True), randn(2, 8, 2048, 128, grad=True)
    i = torch.arange(2048, device=DEV).repeat(2, 1).to(i32) if idx else None
    bwd(M("rope_embedding").fast_rope_embedding(q * 1, k * 1, randn(2048, 128), randn(2048, 128), i))


@case()
def gates():
    a = lambda: randn(1, 4096, 11008)
    s, g = M("swiglu"), M("geglu")
    s.swiglu_fg_kernel(a(), a())
    s.swiglu_DWf_DW_dfg_kernel(a()[0], a()[0], a()[0])
    for n in ("exact", "approx"):
        getattr(g, f"geglu_{n}_forward_kernel")(a(), a())
        getattr(g, f"geglu_{n}_backward_kernel")(a()[0], a()[0], a()[0])


@case()
def add_rms():
    M("fused_add_rms_layernorm").fast_add_rms_layernorm_inference(randn(4096, 4096), randn(4096, 4096), randn(4096), 1e-6)


@case()
def qk_rope():
    a, b = layer(128), layer(128)
    a.weight.requires_grad_(False), b.weight.requires_grad_(False)
    q, k = randn(2, 2048, 32, 128, grad=True), randn(2, 2048, 8, 128, grad=True)
    bwd(M("qk_norm_rope").fast_qk_norm_rope(a, b, q * 1, k * 1, randn(2048, 128), randn(2048, 128)))


@case(512)
def large_head(D):
    m = M("large_head_attention")
    for k in ("_lh_fwd", "_lh_bwd_dq", "_lh_bwd_dkdv"):
        t = getattr(m, k)
        if hasattr(t, "configs"):
            t.configs = t.configs[:4]
    q, k, v = [randn(1, h, 2048, D, scale=0.3, grad=True) for h in (8, 2, 2)]
    lo, hi = m._dense_intervals(1, 2048, True, torch.device(DEV))
    bwd(m.large_head_attention(q, k, v, lo, hi))
