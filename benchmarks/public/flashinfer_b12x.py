"""flashinfer-python 0.7.4 (its b12x folder): statistics and samples of routed experts (hashes, float64 atomics), draft selections and top-k groups of sparse attention (sorting of packed keys, scores), n-gram hashes and lookups in bf16, fp8 and nvfp4 tables, hyper-connections, gated dilated convolutions."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
X = "flashinfer.experimental.b12x"
package("flashinfer")
for p in (".experimental", ".experimental.b12x", ".experimental.b12x.moe", ".experimental.b12x.attention", ".experimental.b12x.attention.qsa", ".experimental.b12x.norm",
          ".experimental.b12x.norm.hyperconnection", ".experimental.b12x.sequence", ".experimental.b12x.sequence.mtp_feedback", ".experimental.b12x.sequence.ple",
          ".experimental.b12x.sequence.ple_embedding", ".experimental.b12x.sequence.ple_hash"):
    package("flashinfer" + p)
stub("b12x._lib.compile_plan", launch_triton=lambda k, g, *a, **kw: k[g](*a, **kw))
stub("b12x.preparation.types", X + ".norm.hyperconnection._cute_config", X + ".sequence.mtp_feedback._cute_prefill_config")
from flashinfer.experimental.b12x.moe import calibration as ca
from flashinfer.experimental.b12x.attention.qsa import _draft_selection as dr, _kernels as qs
from flashinfer.experimental.b12x.norm.hyperconnection import _kernels as hy
from flashinfer.experimental.b12x.sequence.mtp_feedback import _kernels as mt
from flashinfer.experimental.b12x.sequence.ple import _kernels as pl
from flashinfer.experimental.b12x.sequence.ple_embedding import _kernels as em
from flashinfer.experimental.b12x.sequence.ple_hash import _kernels as ha
f64, i8 = torch.float64, torch.int8


@case((8192, 8, 128, 2048, 4096, 2), (2048, 4, 32, 4096, 1024, 1))
def calibrate(n, k, e, d, cap, rate):
    ids, w = torch.rand(n, e, device=DEV).topk(k)[1].to(i32).contiguous(), rand(n, k)
    pad, on, epoch = torch.zeros(n, dtype=torch.bool, device=DEV), ones(1, dtype=i32), zeros(1, dtype=i64)
    z = lambda *s, t=f32: zeros(*s, dtype=t)
    ca.collect_route_input(randn(n, d), w, ids, pad, ca.RouteInputBuffers(
        on, z(1, t=i64), epoch, z(e, t=i64), z(e, t=f64), z(e, t=f64), z(e, d), z(e, t=f64), z(e, t=i64), z(1, t=i32), z(1, t=i32), z(n, t=i32), z(cap, d, t=bf16), z(cap),
        z(cap, t=i64), z(cap, k, t=i32), z(cap, k), z(cap, t=i8)), num_experts=e, expert_begin=0, expert_end=e, moment_sample_rate=rate, hessian_sample_rate=4, validation_modulus=10,
        collect_routing=True)
    f = d // 2
    ca.collect_mid(randn(n * k, f), w, ids, torch.arange(e, device=DEV, dtype=i32), pad, ca.MidBuffers(
        on, epoch, z(e, f), z(e, t=f64), z(e, t=i64), z(1, t=i32), z(1, t=i32), z(n * k, t=i32), z(cap, f, t=bf16), z(cap), z(cap, t=i64), z(cap, t=i32), z(cap, t=i8)),
        num_experts=e, width=f, source_stride=f, moment_sample_rate=rate, hessian_sample_rate=4, validation_modulus=10)
    slot = torch.where(torch.arange(n, device=DEV) < cap, torch.randperm(n, device=DEV), -1)
    slot = torch.where(slot < cap, slot, -1).to(i32)
    ca.collect_paired_token_rows(randn(n, d), slot, z(cap, d, t=bf16), z(cap, t=i8))
    ca.unscale_route_rows_(randn(n * k, f), ids, torch.arange(e, device=DEV, dtype=i32), rand(e, f, lo=0.5), num_experts=e, scale_stride=f)


@case((4096, 2048, 6), (1024, 512, 4))
def drafts(n, width, tail):
    pos, sel = torch.arange(n, device=DEV), randint(0, 65536, n, width, dtype=i32)
    saved, ssel, count = zeros(n, dtype=i64), zeros(n, width, dtype=i32), tensor([n])
    dr._record_kernel[(n,)](pos, saved, count, sel, ssel, n, 1, WIDTH=width, BLOCK=width)
    b = 1 << (width + tail - 1).bit_length()
    dr._prepare_kernel[(n,)](pos, sel, torch.randperm(n, device=DEV).to(i32), count, torch.arange(n, device=DEV, dtype=i32), pos + 2, zeros(n, width + tail, dtype=i32), n, n, n, WIDTH=width,
                             TAIL=tail, DCP_SIZE=1, DCP_RANK=0, CP_INTERLEAVE=1, BLOCK=b, num_warps=4)


@case((2048, 4, 128, 512, 16384, 4), (512, 8, 64, 256, 32768, 8))
def groups(n, h, d, budget, m, ratio):
    """Scores of group representatives in a paged cache, then what follows their selection."""
    page, b = 64, 4
    per = m // page
    cap = types.SimpleNamespace(position_axes=1, index_heads=h, index_head_dim=d, rotary_dim=64, rms_norm_eps=1e-6, max_groups=m, group_budget=budget, compress_ratio=ratio,
                                selection_width=budget * ratio + ratio, compressed_page_size=page, dcp_size=1, dcp_rank=0, cp_kv_cache_interleave_size=1, mrope_interleaved=False)
    req, pos = (torch.arange(n, device=DEV) * b // n).to(i32), randint(m * ratio // 2, m * ratio, n)
    q = randn(n, h, d)
    cos = rand(m * ratio, 32)
    qs._prepare_index_query_kernel[(n * h,)](q, req, randn(d), pos[:, None].contiguous(), cos, cos, torch.empty_like(q), m * ratio, 1e-6, 1, 1, 32, 32, h * d, INDEX_HEADS=h, HEAD_DIM=d,
                                             ROTARY_DIM=64, POSITION_AXES=1, MROPE_INTERLEAVED=False, MROPE_SECTION_0=0, MROPE_SECTION_1=0, ROPE_IS_BF16=False, BLOCK_D=d)
    cache, table = randn(b * per, page, d), torch.randperm(b * per, device=DEV).view(b, per).to(i32)
    cnt, ml, sc = zeros(n, dtype=i32), zeros(n, dtype=i32), zeros(n, m + budget, dtype=f32)
    qs._score_representatives_kernel[(n, m // 32)](q, pos, req, torch.full((b,), m * ratio, device=DEV, dtype=i32), cache, table, sc, cnt, ml, cache.stride(0), cache.stride(1), table.stride(0),
                                                   sc.stride(0), MAX_GROUPS=m, GROUP_OFFSET=0, GROUP_COUNT=m, GROUP_BUDGET=budget, INDEX_HEADS=h, INDEX_HEAD_DIM=d, COMPRESS_RATIO=ratio,
                                                   COMPRESSED_PAGE_SIZE=page, DCP_SIZE=1, DCP_RANK=0, CP_INTERLEAVE=1, BLOCK_G=32, BLOCK_D=d)
    ids = torch.rand(n, m, device=DEV).topk(budget)[1].to(i32).contiguous()
    cnt = torch.full((n,), m, device=DEV, dtype=i32)
    qs.launch_stage_topk_carry(prior_values=rand(n, budget), eligible_counts=cnt, scores=sc, group_offset=1024, group_budget=budget)
    qs.launch_remap_topk_group_ids(local_ids=ids.clone(), prior_ids=ids, eligible_counts=cnt, merge_lengths=cnt, group_offset=1024, group_budget=budget)
    v = rand(n, budget)
    qs._copy_stable_topk_kernel[(n,)](v, ids, torch.empty_like(v), torch.empty_like(ids), GROUP_BUDGET=budget, BLOCK_K=budget, num_warps=8)
    w = cap.selection_width
    qs._expand_selected_groups_kernel[(n,)](ids, cnt, pos, zeros(n, w, dtype=i32), budget, w, GROUP_BUDGET=budget, COMPRESS_RATIO=ratio, SELECTION_WIDTH=w, DCP_SIZE=1, DCP_RANK=0, CP_INTERLEAVE=1,
                                            BLOCK_W=1 << (w - 1).bit_length())


@case((8192, 4, 4096), (4096, 4, 7168))
def hyper(n, s, d):
    b = 1 << (d - 1).bit_length()
    x, w = randn(n, s, d), randn(s, d)
    hy._norm_launch(x, w, torch.empty_like(x), 1e-6, s, d, b, 8)
    hy._scaled_silu_launch(randn(n, d), zeros(n, d), s, 1024)
    hy._gate_mean_launch(x, randn(n, s, d), zeros(n, d), s, d, 512)
    hy._combine_launch(x, randn(n, d), randn(n, s), torch.empty_like(x), s, d, b, 8)
    mt._token_norm_kernel[(n,)](randn(n, d), randn(d), zeros(n, d), 1e-6, HIDDEN_SIZE=d, BLOCK_H=b)
    part = zeros(n, s, dtype=f32)
    mt._state_partial_sum_kernel[(n * s,)](x, part, HIDDEN_SIZE=d, BLOCK_H=b)
    mt._state_norm_kernel[(n, s)](x, part, w, torch.empty_like(x), 1e-6, STREAMS=s, HIDDEN_SIZE=d, BLOCK_S=4, BLOCK_H=b)


@case((8192, 16, 4, 8, 256, 1 << 20), (16384, 64, 3, 4, 128, 1 << 21))
def ngrams(n, b, order, per, d, v):
    heads = (order - 1) * per
    ids, start = randint(0, 128000, n, dtype=i32), (torch.arange(b + 1, device=DEV) * (n // b)).to(i32)
    req, num = zeros(n, dtype=i32), tensor([n])
    ha._request_ids_kernel[(n,)](start, tensor([b]), num, req, MAX_TOKENS=n)
    prime = v // heads - 1 - 2 * torch.arange(heads, device=DEV)
    out = zeros(n, heads, dtype=i64)
    ha._hash_ids_kernel[(n, heads)](ids, start, randint(0, 128000, b, order - 1), num, req, randint(1, 1 << 40, order) * 2 + 1, prime, prime.cumsum(0) - prime, out, 2, MAX_TOKENS=n, MAX_ORDER=order,
                                    HEADS_PER_ORDER=per, HEAD_COUNT=heads)
    kw = dict(MAX_TOKENS=n, HEAD_COUNT=heads, HEAD_DIM=d, EMBEDDING_DIM=heads * d, TABLE_VOCAB_SIZE=v, SHARD_START=0, SHARD_END=v, BLOCK_D=128)
    e, g = zeros(n, heads * d), (n, heads, d // 128)
    em._bf16_lookup_kernel[g](randn(v, d), out, num, e, **kw)
    em._fp8_lookup_kernel[g](randn(v, d).to(torch.float8_e4m3fn), ones(1, dtype=f32), out, num, e, **kw)
    em._nvfp4_lookup_kernel[g](randint(0, 256, v, d // 2, dtype=torch.uint8), rand(v, d // 16, lo=0.5).to(torch.float8_e4m3fn), ones(1, dtype=f32), out, num, e, **kw)


@case((8192, 16, 4, 2048, 4, 3))
def dilated(n, b, s, d, taps, dil):
    c, keep = s * d, (taps - 1) * dil
    start = (torch.arange(b + 1, device=DEV) * (n // b)).to(i32)
    req, slot, num = (torch.arange(n, device=DEV) * b // n).to(i32), torch.arange(b, device=DEV, dtype=i32), tensor([n])
    out, u = zeros(n, c), zeros(n, c)
    pl._gated_u_norm_kernel[(n, s)](randn(n, c), randn(n, c), randn(n, d), randn(c), randn(c), randn(c), req, slot, num, out, u, 1e-6, STREAMS=s, HIDDEN_SIZE=d, CHANNELS=c, BLOCK_H=d)
    pl._dilated_conv_kernel[(n, c // 128)](u, randn(b, c, keep), randn(c, taps), start, req, slot, num, out, CHANNELS=c, STATE_LENGTH=keep, KERNEL_SIZE=taps, DILATION=dil, BLOCK_C=128)
