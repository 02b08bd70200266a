"""torchtitan 0.3.0: routing of experts (metadata, inverse permutation, weighted sums of top-k rows and their gradients, copies through tables of pointers), SwiGLU over valid rows, rotary parts of latent attention."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
for p in ("torchtitan", "torchtitan.distributed", "torchtitan.distributed.minimal_async_ep", "torchtitan.overrides"):
    package(p)
stub("spmd_types", "torchtitan.config", "torchtitan.models.common.decoder_sharding", "torchtitan.models.common.feed_forward", "torchtitan.models.common.moe",
     "torchtitan.protocols.sharding", "torchtitan.distributed.utils", "torchtitan.models.common.attention", "torchtitan.models.common.rope", "torchtitan.models.deepseek_v3.model")
if not hasattr(torch.Tag, "inplace"):  # PyTorch 2.12
    torch.Tag.inplace = ()
from torchtitan.distributed.minimal_async_ep import kernels as ek
from torchtitan.overrides import fused_mla as fm, fused_swiglu as fs


@case((8192, 8, 4096, 64), (16384, 6, 2048, 128))
def route(n, k, d, e):
    rows = n * k
    idx = torch.randperm(rows, device=DEV)
    inv = ek.invert_flat_indices_kernel(idx, num_rows=rows)
    x, s = randn(rows, d), rand(rows)
    ek.reduce_topk_slots_kernel(x, inv, s, num_tokens=n, top_k=k, scores_are_slot_ordered=True)
    ek.reduce_topk_slots_kernel(x, inv, None, num_tokens=n, top_k=k)
    g = randn(n, d)
    ek.expand_topk_grad_kernel(g, idx, s, top_k=k, dtype=bf16, scores_are_slot_ordered=True)
    ek.topk_scores_grad_kernel(x, g, idx, top_k=k, dtype=f32)


@case((65536, 64, 8, 4096), (32768, 128, 4, 2048))
def exchange(rows, e, ranks, d):
    """One rank stands for all: every destination lies in this memory."""
    local = e // ranks
    c = torch.bincount(randint(0, e, rows), minlength=e)
    start = c.cumsum(0) - c
    off = torch.cat([c[r * local:(r + 1) * local].cumsum(0) - c[r * local:(r + 1) * local] for r in range(ranks)])
    r, q = ek.fill_dispatch_metadata_kernel(c, off, start, num_routed_tokens=rows, num_local_experts=local, max_tokens_per_segment=int(c.max()))
    ek.fill_combine_metadata_kernel(c, start, start, ep_rank=0, ep_size=ranks, num_local_experts=local, receive_capacity=rows, max_tokens_per_segment=int(c.max()))
    dst = [zeros(rows, d) for _ in range(ranks)]
    ptrs = tensor([t.data_ptr() for t in dst], i64)
    ek.copy_rows_to_peers_kernel(randn(rows, d), dst, r, q, ep_size=ranks, num_rows=rows, num_cols=d, dst_ptrs=ptrs)
    cnt = [zeros(ranks, e, dtype=i64) for _ in range(ranks)]
    ek.copy_full_counts_to_peers_kernel(c, cnt, rank=0, ep_size=ranks, num_experts=e, dst_ptrs=tensor([t.data_ptr() for t in cnt], i64))


@case((16384, 2048, 16), (8192, 14336, 0))
def swiglu(n, d, e):
    both = randn(n, d, 2).unbind(-1)
    off = (torch.arange(1, e + 1, device=DEV) * (n // e) * 3 // 4).to(i32) if e else None
    fs.silu_and_mul_forward_kernel(*both, off)
    fs.silu_and_mul_backward_kernel(randn(n, d), *both, off)


@case((2, 4096, 16, 128, 64, 128), (1, 4096, 128, 128, 64, 128))
def mla(b, n, h, nope, rope, vd):
    cache, pos = randn(n, rope // 2, 2, dtype=f32), torch.arange(n, device=DEV).expand(b, n).contiguous()
    q = randn(b, n, h, nope + rope)
    fm._fused_mla_q_rope_op._init_fn(q, cache, pos, nope, False)
    k = fm._fused_mla_k_rope_op(randn(b, n, h, nope + vd), randn(b, n, rope), cache, pos, nope)
    fm._fused_mla_kv_backward_op(torch.randn_like(k), randn(b, n, h, vd), cache, pos, nope, rope)
