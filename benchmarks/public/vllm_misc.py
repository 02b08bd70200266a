"""vllm 0.33.0: MaxSim reranking, DeepEncoder attention with relative bias, row statistics, routing, index mapping, gated norm, state gather/scatter, input preparation."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.model_executor.layers.attention import sparse_mla_attention as sma
from vllm.model_executor.layers.mamba.ops import gather_initial_states as gi, layernorm_gated as lg, scatter_states as ss
from vllm.model_executor.models import deepencoder as de, diffusion_gemma_sampler as dg, gemma4 as g4
from vllm.models.deepseek_v41.common import engram as en
from vllm.v1.attention.backends.mla import sparse_utils as su
from vllm.v1.attention.ops.metadata import compute_token_to_req_indices
from vllm.v1.pool.flash_maxsim.flash_maxsim_rerank import flash_maxsim_rerank_direct
from vllm.v1.spec_decode import utils as sd
from vllm.v1.worker.gpu import input_batch as ib
import triton
de.LOG2E = triton.language.constexpr(1.4426950408889634)  # triton 3.6 wants a constexpr


def idx(n):
    return torch.arange(n, device=DEV, dtype=i32)


@case((32, 128, 512, 512), (128, 128, 1024, 180))
def maxsim(lq, d, docs, ld):
    lens = randint(ld // 2, ld, docs, dtype=i32)
    off = torch.cat([lens.new_zeros(1), lens.cumsum(0)[:-1].to(i32)])
    flash_maxsim_rerank_direct(randn(lq, d, dtype=f16), randn(int(lens.sum()), d, dtype=f16), off, lens, ld)


@case((2, 12, 64, 64), (1, 12, 40, 64))
def deepencoder(b, h, w, d):
    n = w * w
    de.deepencoder_rel_pos_attention(randn(b, h, n, d), randn(b, h, n, d), randn(b, h, n, d), randn(b, h, n, w), randn(b, h, n, w), w, d ** -0.5)


@case((256, 262144, 64), (512, 128256, 256))
def row_stats(n, v, c):
    dg.sample_row_stats(randn(n, v), rand(n // c, lo=0.5), c, 1234, None)
    dg.sample_row_stats(randn(n, v // 2), rand(n // c, lo=0.5), c, 1234, bf16)


@case((16384, 128, 8), (4096, 64, 4))
def routing(n, e, k):
    g4.gemma4_fused_routing_kernel_triton(randn(n, e, dtype=f32), k, rand(e, lo=0.5))


@case((4096, 2048, 64))
def topk_to_slots(n, k, per):
    b, bs = 4, 64
    req = (torch.arange(n, device=DEV) * b // n).to(i32)
    t = torch.randperm(b * per, device=DEV).view(b, per).to(i32)
    ti = torch.rand(n, per * bs, device=DEV).argsort(-1)[:, :k].to(i32).contiguous()
    ti[:, k - 100:] = -1
    su.triton_convert_req_index_to_global_index(req, t, ti, bs, NUM_TOPK_TOKENS=k, return_valid_counts=True)
    su.prepare_sparse_mla_safe_lengths(ti, randint(0, k, n, dtype=i32))
    words = per * bs // 32
    out = zeros(n, words, dtype=i32)
    sma._scatter_topk_single_req_kernel[(n,)](out, ti, num_words=words, mask_row_stride=words, num_topk=k, topk_stride=k, total_q=n, BLOCK_TOPK=k,
                                              BLOCK_WORDS=words)


@case((8192, 4096, 128, True), (8192, 2048, 2048, True), (4096, 8192, 1024, False))
def gated_norm(n, d, g, rms):
    lg._layer_norm_fwd(randn(n, d), randn(d), None if rms else randn(d), 1e-6, z=randn(n, d), group_size=g, norm_before_gate=False, is_rms_norm=rms)


@case((256, 32, 128, 128), (512, 64, 64, 128))
def states(n, h, d, s):
    st = randn(n, h, d, s, dtype=f32) if n * h * d * s < 2 ** 28 else randn(n, h, d, s)
    half = n // 2
    ix = torch.randperm(n, device=DEV)[:half].to(i32)
    got = gi.gather_initial_states(st, ix, torch.rand(half, device=DEV) > 0.2)
    ss.scatter_states(st, randn(*st[:half].shape, dtype=st.dtype), ix)


@case((8192, 16, 256, 100000), (16384, 8, 128, 200000))
def engram_lookup(n, h, d, v):
    w = randn(v, d).to(torch.float8_e4m3fn)
    s = randint(120, 130, v, d // 32, dtype=torch.uint8)
    ids = randint(0, v, n, h)
    rows, grid = n * h, 132
    out = zeros(n, h, d)
    en._engram_lookup_kernel[(grid,)](w, s, ids, ids, out, 0, v, rows, *ids.stride(), HEAD_START=0, LOCAL_HEADS=h, TOTAL_HEADS=h, DIM=d, QUANT_BLOCK=32,
                                      BLOCK_R=16, GRID=grid, SORTED=False, PACKED=False, OUT_STRIDE=out.stride(0), PEER_ROWS=0)


@case((512, 16384))
def prepare(b, total):
    per = total // b
    q = idx(b + 1) * per
    comp = randint(0, 1000, b, dtype=i32)
    plen = comp + per
    toks = randint(0, 32000, b, 4096, dtype=i32)
    inp = zeros(total, dtype=i32)
    ib.prepare_prefill_inputs(inp, zeros(b, dtype=i32), idx(b), q, toks, plen, comp)
    pos, sl = zeros(total, dtype=i64), zeros(b, dtype=i32)
    ib.prepare_pos_seq_lens(idx(b), q, comp, pos, sl)
    ib.expand_idx_mapping(idx(b), b * 4, idx(b + 1) * 4, 4)
    compute_token_to_req_indices(q, zeros(total, dtype=i32), total, total)
    sd.PADDING_SLOT_ID = -1
    t = torch.randperm(b * 64, device=DEV).view(b, 64).to(i32)
    sd.eagle_step_update_slot_mapping_and_metadata(comp.to(i64), t, comp + 1, 16, 1024, zeros(b, dtype=i64), zeros(b, dtype=i64))
