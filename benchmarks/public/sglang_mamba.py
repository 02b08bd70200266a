"""sglang 0.5.23: causal conv1d (prefill and update), Mamba-2 chunked scan, selective state update, gated delta decode, gated norm."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


def load(mod):
    import importlib
    return importlib.import_module("sglang.kernels.ops." + mod)


@case((8, 512, 4096, 4), (2, 2048, 8192, 4))
def conv(b, n, dim, w):
    f = load("mamba.causal_conv1d_triton")
    x = randn(b * n, dim).t()
    st = randn(b, w - 1, dim).transpose(1, 2)
    f.causal_conv1d_fn(x, randn(dim, w), randn(dim), st, torch.arange(b + 1, device=DEV, dtype=i32) * n, [n] * b,
                       torch.arange(b, device=DEV, dtype=i32), torch.ones(b, device=DEV, dtype=torch.bool), "silu")
    big = randn(256, w - 1, dim).transpose(1, 2)
    f.causal_conv1d_update(randn(256, dim), big, randn(dim, w), randn(dim), "silu", conv_state_indices=torch.arange(256, device=DEV, dtype=i32))


@case((2, 4096, 64, 64, 8, 128), (1, 8192, 32, 64, 1, 128))
def ssd(b, n, h, p, g, s):
    f = load("mamba.triton_ops.ssd_combined")
    f.mamba_chunk_scan_combined(randn(b, n, h, p), randn(b, n, h), -rand(h, lo=0.5, hi=4.0), randn(b, n, g, s, scale=0.3),
                                randn(b, n, g, s, scale=0.3), 256, D=randn(h), z=None, dt_bias=rand(h), dt_softplus=True,
                                return_final_states=True, out=zeros(b, n, h, p))


@case((64, 64, 64, 8, 128), (256, 32, 64, 1, 128))
def state_update(b, h, p, g, s):
    f = load("mamba.triton_ops.mamba_ssm")
    x = randn(b, h, p)
    ex = lambda t: t.view(h, 1, 1).expand(h, p, s) if t.dtype == f32 else t.view(h, 1).expand(h, p)
    f.selective_state_update(randn(b, h, p, s, dtype=f32), x, randn(b, h, 1).expand(b, h, p), ex(-rand(h, lo=0.5, hi=4.0)),
                             randn(b, g, s), randn(b, g, s), ex(randn(h)), None, ex(randn(h)), True, out=zeros(b, h, p))


@case((128, 16, 32, 128))
def delta_decode(b, h, hv, d):
    f = load("attention.linear.fused_sigmoid_gating_recurrent")
    f.fused_sigmoid_gating_delta_rule_update(
        rand(hv), randn(1, b, hv), randn(hv), 1.0, 20.0, randn(1, b, h, d), randn(1, b, h, d), randn(1, b, hv, d), randn(1, b, hv),
        randn(b, hv, d, d, dtype=f32, scale=0.1), torch.arange(b, device=DEV, dtype=i32), use_qk_l2norm_in_kernel=True,
        cu_seqlens=torch.arange(b + 1, device=DEV, dtype=i32))
    load("attention.linear.fused_gdn_gating").fused_gdn_gating(rand(hv, dtype=f32), randn(8192, hv), randn(8192, hv), randn(hv))


@case((8192 * 16, 128), (8192, 4096))
def gated_norm(m, n):
    f = load("attention.fla.layernorm_gated")
    f._layer_norm_fwd(randn(m, n), randn(n), None, 1e-6, z=randn(m, n), is_rms_norm=True)
    f._layer_norm_fwd(randn(m, n), randn(n), randn(n), 1e-6, z=randn(m, n), norm_before_gate=False)
