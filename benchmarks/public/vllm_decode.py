"""vllm 0.33.0: decode attention (normal, grouped, MLA, fp8 cache), state merging, DCP packing, segmented attention, sequence packing."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.v1.attention.ops import dcp
from vllm.v1.attention.ops.common import pack_seq_triton, unpack_seq_triton
from vllm.v1.attention.ops.segmented_attention import run_segmented_attention
from vllm.v1.attention.ops.triton_decode_attention import decode_attention_fwd
from vllm.v1.attention.ops.triton_merge_attn_states import merge_attn_states


def cu(lens):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist())


def table(b, per):
    return torch.randperm(b * per, device=DEV).view(b, per).to(i32)


@case((32, 4096, 32, 8, 128, 128, 8, 16, bf16), (32, 4096, 128, 1, 576, 512, 4, 64, bf16), (16, 4096, 16, 16, 128, 128, 8, 16, bf16),
      (32, 4096, 32, 8, 128, 128, 8, 16, torch.float8_e4m3fn))
def decode(b, n, h, hk, d, dv, splits, page, dt):
    kb = randn(b * n // page, page, hk, d).to(dt)
    vb = kb[..., :dv] if d != dv else randn(b * n // page, page, hk, dv).to(dt)
    sc = torch.ones(1, device=DEV)
    decode_attention_fwd(randn(b, h, d), kb, vb, zeros(b, h, dv), zeros(b, h, dtype=f32), table(b, n // page), tensor([n - 7 * i for i in range(b)]),
                         zeros(b, h, splits, dv + 1, dtype=f32), splits, d ** -0.5, page, k_scale=sc, v_scale=sc, is_mla=d != dv)


@case((4096, 32, 128), (2048, 128, 128), (8192, 16, 512))
def merge(n, h, d):
    merge_attn_states(zeros(n, h, d), randn(n, h, d), randn(h, n, dtype=f32), randn(n, h, d), randn(h, n, dtype=f32), zeros(h, n, dtype=f32))


@case((4096, 32, 128, 4), (512, 128, 512, 8))
def cp(b, h, d, world):
    dcp.correct_attn_out(randn(b, h, d), randn(world, b, h, dtype=f32), 0, None)
    pk = dcp._dcp_a2a_lse_pack_dim(bf16)
    buf = zeros(world, b, h // world, d + pk)
    dcp._dcp_a2a_pack_send(randn(b, h, d), randn(b, h, dtype=f32), buf, world, h // world, d, pk, seq_lens=tensor([5] * b),
                           query_start_loc=torch.arange(b + 1, device=DEV, dtype=i32))
    dcp._dcp_a2a_unpack_combine(buf, d, pk, True, True)


@case(([512] * 2, [8192] * 2, 32, 8, 128), ([64] * 4, [4096] * 4, 16, 4, 64), ([4] * 16, [8192] * 16, 32, 8, 128), ([1024], [16384], 8, 2, 256))
def segmented(ql, kl, h, hk, d):
    n, b, page, per = sum(ql), len(ql), 16, max(kl) // 16
    kc, vc = randn(b * per, page, hk, d), randn(b * per, page, hk, d)
    one = torch.ones(1, device=DEV)
    from vllm.v1.attention.ops import segmented_attention as sa
    class NoWaves:  # waves_per_eu is an option of another backend
        def __init__(self, k): self.k = k
        def __getitem__(self, g): return lambda *a, waves_per_eu=None, **kw: self.k[g](*a, **kw)

    if not isinstance(sa._segmented_attention_stage, NoWaves):
        sa._segmented_attention_stage = NoWaves(sa._segmented_attention_stage)
    cfg = dict(sa.select_segmented_config(b, max(ql), max(kl), h, hk, d, False), pv_split=False)  # pv_split needs a newer tl.cat
    run_segmented_attention(randn(n, h, d), zeros(n, h, d), kc, vc, table(b, per), cu(ql), tensor(kl), max(ql), max(kl), one, one, d ** -0.5,
                            config=cfg)


@case(([2048, 1500, 900, 64] * 2, 4096), ([512] * 16 + [100] * 16, 1024))
def pack(lens, d):
    t = tensor(lens)
    unpack_seq_triton(pack_seq_triton(randn(sum(lens), d), t), t)
