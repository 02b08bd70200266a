"""flash-mlm 1.2.3: bidirectional attention of masked language models over a cached context (dense, packed, latent keys), causal attention with host descriptors."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import flash_mlm
from flash_mlm import InferenceCache, build_pack_metadata


def qkv(b, h, n, d, t):
    return [randn(b, h, n, d, dtype=t) for _ in range(3)]


@case((4, 16, 1024, 2048, 128, bf16, False), (4, 16, 1024, 2048, 128, bf16, True), (8, 12, 512, 1024, 64, f16, False))
def dense(b, h, n, context, d, t, mla):
    for tuned in (False, True):
        c = InferenceCache()
        kw = dict(inference_cache=c, layer_id=0, is_mla=mla, block_m=64, block_n=64, auto_tune_tiles=tuned)
        flash_mlm.flash_attn_mlm(*qkv(b, h, context, d, t), d**-0.5, prefill=True, **kw)
        flash_mlm.flash_attn_mlm(*qkv(b, h, n, d, t), d**-0.5, **kw)


@case((4, 16, 1024, 2048, 128, bf16, False), (4, 16, 1024, 2048, 128, bf16, True), (8, 12, 512, 1024, 64, f16, False))
def packed(b, h, n, context, d, t, mla):
    for tuned in (False, True):
        c = InferenceCache()
        kw = dict(inference_cache=c, layer_id=0, is_mla=mla, block_m=64, block_n=64, auto_tune_tiles=tuned)
        m = build_pack_metadata(tensor([context - 128 * (i % 3) for i in range(b)]), context, 64)
        flash_mlm.flash_attn_mlm_compressed(*qkv(b, h, context, d, t), h, m, d**-0.5, prefill=True, **kw)
        m = build_pack_metadata(tensor([n - 128 * (i % 2) for i in range(b)]), n, 64)
        flash_mlm.flash_attn_mlm_compressed(*qkv(b, h, n, d, t), h, m, d**-0.5, causal_query_seq_attn=tuned, **kw)


@case((4, 16, 1024, 2048, 128, bf16, False), (4, 16, 1024, 2048, 128, bf16, True))
def precompressed(b, h, n, context, d, t, mla):
    kv = 1 if mla else h
    for tuned in (False, True):
        c = InferenceCache()
        k = randn(kv * b * context, d, dtype=t)
        c.prefill_kv_cache(0, k_cache=k, v_cache=k if mla else randn(*k.shape, dtype=t), total_context_len=b * context,
                           cu_seqlens_kv=tensor([context * i for i in range(b + 1)]), context_batch_size=b, is_mla=mla, num_heads=h, head_dim=d)
        m = build_pack_metadata(tensor([n] * b), n, 64)
        k = randn(kv * b * n, d, dtype=t)
        flash_mlm.flash_attn_mlm_precompressed(
            randn(h * b * n, d, dtype=t), k, k if mla else randn(*k.shape, dtype=t), h, b * n, m.cu_seqlens, m.batch_ids_q, m.q_tile_starts_q,
            d**-0.5, inference_cache=c, layer_id=0, is_mla=mla, block_m=64, block_n=64, auto_tune_tiles=tuned)


@case((4, 16, 2048, 128, True), (4, 16, 2048, 128, False))
def plain(b, h, n, d, causal):
    from flash_mlm.kernel import _attention
    _attention.apply(*qkv(b, h, n, d, f16), causal, d**-0.5, False)
