"""vllm 0.33.0: DeepSeek V3.2/V4/V4.1 kernels: fused norm+RoPE, query quantization (FP8), compressed K caches, inverse RoPE, candidate blocks."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.model_executor.kernels.attention.dsa import candidate_blocks as cb
from vllm.models.deepseek_v32.common import kernels as v32
from vllm.models.deepseek_v4.common.ops import cache_utils as c4, fused_indexer_q as iq, fused_inv_rope_fp8_quant as ir, fused_mtp_input_rmsnorm as mtp
from vllm.models.deepseek_v4.common.ops import save_partial_states as sp
from vllm.models.deepseek_v41.common.ops import cache_utils as c41, fused_compress_quant_cache as fc, indexer_k_store as ik, query_quant as qq
fp8, u8 = torch.float8_e4m3fn, torch.uint8
cb.has_deep_select = lambda: False
c4.has_cutedsl = lambda: False
import vllm.utils.deep_gemm as dgm
dgm.get_tma_aligned_size = lambda n, b: (n + 16 // b - 1) // (16 // b) * (16 // b)
ik.MXFP4_BLOCK_SIZE, ik._fp32x2_to_fp4x2 = 32, iq._fp32x2_to_fp4x2
v32.mqa_logits_use_mx_scales = ik.mqa_logits_use_mx_scales = lambda: False


def cache(n, d):
    a = torch.arange(n, device=DEV, dtype=f32)[:, None] * (10000 ** (-torch.arange(d // 2, device=DEV, dtype=f32) / (d // 2)))
    return torch.cat([a.cos(), a.sin()], -1)


def table(b, per):
    return torch.randperm(b * per, device=DEV).view(b, per).to(i32)


@case((4096,), (256,))
def v32_norm_rope(n):
    pos, c = torch.arange(n, device=DEV), cache(n, 64)
    v32.fused_norm_rope(pos, randn(n, 1536), randn(1536), 1e-6, randn(n, 512), randn(512), 1e-6, randn(n, 64), c, randn(n, 128),
                        randn(128, dtype=f32), randn(128, dtype=f32), 1e-6, c, zeros(n, 2048, dtype=i32))


@case((4096, 16, True), (2048, 128, True), (4096, 16, False))
def v32_query(n, h, quant):
    import vllm
    pos, c = torch.arange(n, device=DEV), cache(n, 64)
    v32.fused_q(pos, randn(n, h, 64), c, randn(n, 64, 128), c, randn(n, h, 512), torch.ones(1, device=DEV), randn(n, 64, dtype=f32), 0.1, 0.1,
                quantize_mqa=quant)


@case((8192, 64, 64), (8192, 64, 128))
def v4_cache(n, bs, per):
    nb = n // bs
    kc = zeros(nb, bs * 584 + 576 - bs * 584 % 576, dtype=u8)
    t = torch.randperm(nb, device=DEV).view(4, nb // 4).to(i32)
    slot = (t.view(-1)[:, None].to(i64) * bs + torch.arange(bs, device=DEV)).view(-1)
    c4.quantize_and_insert_k_cache(randn(n, 512), kc, slot, bs)
    sl = tensor([n // 4] * 4)
    c4.dequantize_and_gather_k_cache(zeros(4, n // 4, 512), kc, sl, None, t, bs, 0)


@case((4096, 512, 64))
def v4_topk(n, k, bs):
    per = 64
    idx = torch.rand(n, per * bs, device=DEV).argsort(-1)[:, :k].to(i32)
    c4.compute_global_topk_indices_and_lens(idx, (torch.arange(n, device=DEV) * 4 // n).to(i32), table(4, per), bs,
                                            torch.ones(n, device=DEV, dtype=torch.bool))


@case((4096, 64, False), (2048, 128, False))  # MXFP4 needs sm_100
def v4_indexer_query(n, h, fp4):
    iq.fused_indexer_q_rope_quant(torch.arange(n, device=DEV), randn(n, h, 128), cache(n, 64), randn(n, h), 0.1, 0.1, use_fp4=fp4)


@case((4096, 8, 8), (2048, 16, 8))
def v4_inverse_rope(n, g, hg):
    ir.fused_inv_rope_fp8_quant(randn(n, g * hg, 512), torch.arange(n, device=DEV), cache(n, 64), g, hg)


@case((8192, 7168, 4))
def v4_mtp(n, d, m):
    mtp._FUSED_MTP_INPUT_RMSNORM_KERNEL(randn(n // 4, d), torch.arange(n // 4, device=DEV), randn(n // 4, m, d), randn(d), randn(d), 1e-6, m)
    mtp._MTP_SHARED_HEAD_RMSNORM_KERNEL(randn(n, d), randn(d), 1e-6)


@case((8192, 512, 4))
def v4_partial_states(n, d, r):
    bs = 64
    sp._SAVE_PARTIAL_STATES_KERNEL(randn(n, d, dtype=f32), randn(n, d, dtype=f32), randn(r, d, dtype=f32), torch.arange(n, device=DEV),
                                   zeros(n // bs, bs, 2 * d, dtype=f32), torch.randperm(n, device=DEV), bs, d, r)


@case((8192, 1536, 512), (4096, 2048, 512))
def v41_query(n, q, kv):
    qq.fused_q_kv_rmsnorm_quant(randn(n, q), randn(n, kv), randn(q), randn(kv), 1e-6)


@case((8192, 584), (8192, 528), (8192, 0))  # 288 (NVFP4) needs sm_100
def v41_insert(n, w):
    bs = 64
    kc = zeros(n // bs, bs, w, dtype=u8) if w else zeros(n // bs, bs, 512)
    fc.rope_quant_insert(randn(n, 512), torch.arange(n, device=DEV), cache(n, 64), kc, torch.randperm(n, device=DEV), 1)


@case((8192, 1), (8192, 2))
def v41_compress(n, r):
    pos, slot = torch.arange(n, device=DEV), torch.arange(n, device=DEV)
    if r == 1:
        fc.fused_save_compress_norm(randn(n, 512, dtype=f32), pos, None, slot, None, None, randn(512), 1e-6, 1, zeros(n, 512))
    else:
        b, cap = 4, 16
        m = n // b
        p = torch.arange(m, device=DEV).repeat(b)
        req = (torch.arange(n, device=DEV) // m).to(i32)
        fc.fused_save_compress_norm(randn(n, 1024, dtype=f32), p, randn(b, cap, 1024, dtype=f32), req.to(i64) * cap + p % cap,
                                    torch.arange(b + 1, device=DEV, dtype=i32) * m, req, randn(512), 1e-6, 2, zeros(n, 512))


@case((16384, False))  # MXFP4 needs sm_100
def v41_indexer_keys(n, fp4):
    bs = 64
    ik.indexer_k_norm_rope_store(randn(n, 128), torch.arange(n, device=DEV), cache(n, 64), randn(128), 1e-6,
                                 zeros(n // bs, bs, 68 if fp4 else 132, dtype=u8), torch.randperm(n, device=DEV), 1, fp4)


@case((1024, 32768, 64, 128), (256, 65536, 128, 64))
def candidates(rows, w, k, bs):
    lg = randn(rows, w, dtype=f32)
    ke = randint(w // 2, w, rows, dtype=i32)
    out = torch.full((rows, k), -1, device=DEV, dtype=i32)
    cb.select_candidate_blocks(lg, None, ke, k, bs, out)
    idx = torch.rand(rows, w // bs, device=DEV).argsort(-1)[:, :k].to(i32).contiguous()
    cb.apply_candidate_mask(lg, None, ke, idx, bs)
