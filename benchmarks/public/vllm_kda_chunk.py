"""vllm 0.33.0: chunked KDA prefill with fused gate (Kimi K3), both gate forms; many configurations to tune."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.models.kimi_k3.nvidia.ops.third_party.kda import chunk as kc


def cu(lens, dtype=i32):
    return tensor([0] + torch.tensor(lens).cumsum(0).tolist(), dtype)


@case(([4096, 2048, 2048], 16, 128))
def kda_chunk(lens, h, d):
    n, b = sum(lens), len(lens)
    kc.chunk_kda_with_fused_gate(randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h), randn(h, dtype=f32, scale=0.1),
                                 randn(h * d, dtype=f32), initial_state=zeros(b, h, d, d, dtype=f32), output_final_state=True,
                                 lower_bound=-5.0, use_qk_l2norm_in_kernel=True, cu_seqlens=cu(lens))


@case((4096, 16, 128))
def kda_chunk_plain_gate(n, h, d):
    kc.chunk_kda_with_fused_gate(randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h, d), randn(1, n, h), randn(h, dtype=f32, scale=0.1),
                                 randn(h * d, dtype=f32), initial_state=zeros(1, h, d, d, dtype=f32), output_final_state=True,
                                 use_qk_l2norm_in_kernel=True, cu_seqlens=cu([n]))
