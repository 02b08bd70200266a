"""vllm 0.33.0: KDA (recurrent, packed decode), attention residuals (Kimi K3), causal conv1d, short paged conv (Inkling)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.models.kimi_k3.nvidia.ops.attn_res import attn_res
from vllm.models.kimi_k3.nvidia.ops.third_party.kda import fused_recurrent as kr
from vllm.models.inkling.nvidia.ops.sconv import fused_sconv
from vllm.model_executor.layers.mamba.ops import causal_conv1d as cc


def cu(lens, dtype=i32):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist(), dtype)


@case((64, 32, 128), (256, 16, 128))
def kda_decode(b, h, d):
    idx = torch.randperm(b, device=DEV).to(i32)
    st = randn(b, h, d, d, dtype=f32, scale=0.1)
    kr.fused_recurrent_kda(randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h), randn(h, dtype=f32, scale=0.1),
                           randn(h * d, dtype=f32), -5.0, st, cu([1] * b), idx)
    kr.fused_recurrent_kda(randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h, d), randn(1, b, h), randn(h, dtype=f32, scale=0.1),
                           randn(h * d, dtype=f32), -5.0, st, cu([1] * b), idx, fuse_gate=False)
    kr.fused_recurrent_kda_packed_decode(randn(b, 3 * h * d), randn(1, b, h, d), randn(1, b, h), randn(h, dtype=f32, scale=0.1), randn(h * d, dtype=f32),
                                         -5.0, st, idx)


@case((4096, 7168, 6), (128, 7168, 8))
def residuals(n, d, nb):
    attn_res(randn(n, d), randn(n, d), randn(n, nb, d), randn(d), randn(d), randn(d), nb - 1, nb - 1, 1e-6, 1e-6)


@case(([4096, 2048, 2048], 8192), ([1024] * 4, 6144))
def conv_prefill(lens, d):
    n, b = sum(lens), len(lens)
    x = randn(n, d).t()
    st = randn(b + 1, 3, d).transpose(1, 2)
    cc.causal_conv1d_fn(x, randn(d, 4), randn(d), st, cu(lens), torch.arange(1, b + 1, device=DEV, dtype=i32),
                        torch.ones(b, device=DEV, dtype=torch.bool), activation="silu")


@case((256, 8192), (64, 12288))
def conv_decode(b, d):
    st = randn(b + 1, 3, d).transpose(1, 2)
    cc.causal_conv1d_update(randn(b, d), st, randn(d, 4), randn(d), "silu", conv_state_indices=torch.arange(1, b + 1, device=DEV, dtype=i32))


@case(([2048, 2048], 8, 128, 4), ([1] * 256, 8, 128, 4))
def sconv(lens, h, ws, w):
    n, b, bs = sum(lens), len(lens), 64
    total = max(lens) + 64
    per = (total + bs - 1) // bs
    t = torch.randperm(b * per, device=DEV).view(b, per).to(i32)
    seq = torch.repeat_interleave(torch.arange(b, device=DEV, dtype=i32), tensor(lens, i64))
    start = cu(lens)[:-1][seq.long()]
    pos = torch.arange(n, device=DEV) - start + 64
    slot = t[seq.long(), pos // bs].to(i64) * bs + pos % bs
    fused_sconv(randn(n, h * ws), randn(h * ws, w), randn(b * per, h, bs, ws), pos, t, seq, slot, start, 0, ws, bs, activation="silu")
