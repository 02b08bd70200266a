"""vllm 0.33.0: MoE scatter/gather, weighted sums, SiLU and FP8 quantization, routing masks, MegaMoE input staging, LoRA finalization."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types
from vllm.model_executor.layers.fused_moe import deep_gemm_utils as dg, prepare_megamoe as pm, utils as mu
from vllm.model_executor.layers.fused_moe.experts import batched_deep_gemm_moe as bd
from vllm.model_executor.layers.fused_moe.experts import gpt_oss_triton_kernels_moe as go
from vllm.model_executor.layers.fused_moe.experts import trtllm_lora_moe as tr
from vllm.model_executor.layers.fused_moe.fused_moe import zero_experts_compute_triton
from vllm.model_executor.layers.fused_moe.moe_fused_mul_sum import moe_fused_mul_sum
from vllm.model_executor.layers.fused_moe.router import base_router as br
fp8 = torch.float8_e4m3fn


def route(m, e, k):
    w, ids = torch.softmax(randn(m, e, dtype=f32), -1).topk(k, -1)
    return w, ids.to(i32)


@case((4096, 32, 8, 7168), (8192, 64, 6, 2048))
def ep(m, e, k, d):
    w, ids = route(m, e, k)
    cnt = torch.bincount(ids.flatten().long(), minlength=e).to(i32)
    al = (cnt + 127) // 128 * 128
    total = int(al.sum())
    idx = zeros(m, k, dtype=i32)
    dg.ep_scatter(randn(m, d).to(fp8), rand(m, d // 128), ids, al.to(i32), None, zeros(e, dtype=i32), zeros(total, d).to(fp8),
                  zeros(total, d // 128, dtype=f32), zeros(total, dtype=i32), idx)
    order = torch.argsort(ids.flatten(), stable=True)
    dest = torch.empty_like(order)
    dest[order] = torch.arange(m * k, device=DEV)
    dg.ep_gather(randn(total, d), ids, w, dest.view(m, k).to(i32), None, zeros(m, d))


@case((8192, 8, 2048), (4096, 8, 7168), (4096, 4, 2880))
def mul_sum(m, k, d):
    w, ids = route(m, 64, k)
    moe_fused_mul_sum(randn(m, k, d), w)
    go.masked_moe_sum(randn(m, k, d), ids, zeros(m, d))
    tr._finalize_lora_kernel  # launched as its wrapper does
    f = [v for c in vars(tr).values() if isinstance(c, type) for n, v in vars(c).items() if n == "_finalize_with_w2_lora"][0]
    f.__func__(zeros(m, d), randn(m * k, d), w, torch.randperm(m * k, device=DEV).to(i32), randn(m, k, d), m, k)
    g = [v for c in vars(tr).values() if isinstance(c, type) for n, v in vars(c).items() if "tr._unpermute" in n or n.startswith("_unpermute")]
    if g:
        g[0].__func__(randn(m * k, d), torch.randperm(m * k, device=DEV).to(i32), m, k, d)


@case((8192, 8, 2048))
def zero_experts(m, k, d):
    w, ids = route(m, 96, k)
    zero_experts_compute_triton(ids, w.contiguous(), 64, "identity", randn(m, d))


@case((32, 512, 2048), (64, 256, 1408))
def silu_quant(e, t, h):
    bd.current_platform = types.SimpleNamespace(is_cuda=lambda: False, fp8_dtype=lambda: fp8, has_device_capability=lambda c: True)
    import enum
    bd.DeepGemmQuantScaleFMT = enum.Enum("Fmt", "FLOAT32 FLOAT32_CEIL_UE8M0 UE8M0")
    bd.persistent_masked_m_silu_mul_quant(randn(e, t, 2 * h), randint(t // 2, t, e, dtype=i32), quant_scale_fmt=bd.DeepGemmQuantScaleFMT.FLOAT32)


@case((32768, 2048, 2.0), (32768, 4096, 0.0))
def swiglu_limit(n, h, lim):
    mu._swiglu_limit_pad_aware(zeros(n, h), randn(n, 2 * h), randint(-1, 64, n, 1, dtype=i32), lim)


@case((65536, 8, 256))
def maps(m, k, e):
    w, ids = route(m, e, k)
    emap = torch.where(torch.arange(e, device=DEV) < e // 2, torch.arange(e, device=DEV), -1).to(i32)
    mu.remap_topk_to_local(ids, emap)
    mu.count_expert_num_tokens(ids, e // 2, emap)


@case((65536, 4, 128))
def bitmatrix(m, k, e):
    w, ids = route(m, e, k)
    bm = torch.zeros(m, e // 32, dtype=torch.uint32, device=DEV)
    go.pack_bitmatrix[((m + 511) // 512,)](bm, ids.to(torch.int16), m, e // 32, k, BLOCK_SIZE_M=512, BLOCK_SIZE_K=32)


@case((8192, 8, 7168), (4096, 6, 2048))
def megamoe(m, k, d):
    w, ids = route(m, 256, k)
    pm.prepare_megamoe_inputs(randn(m, d), w, ids, zeros(m, d).to(fp8), zeros(m, d // 128, dtype=i32), zeros(m, k, dtype=i64), zeros(m, k, dtype=f32))
    pm.prepare_megamoe_nvfp4_inputs(randn(m, d), w, ids, zeros(m, d // 2, dtype=torch.uint8), zeros(m, d // 64, dtype=i32), zeros(m, dtype=f32),
                                    zeros(m, k, dtype=i64), zeros(m, k, dtype=f32))


@case((65536, 8, 256))
def eplb(m, k, e):
    w, ids = route(m, e, k)
    count = randint(1, 3, e, dtype=i32)
    l2p = torch.stack([torch.arange(e, device=DEV), torch.arange(e, device=DEV) + e], 1).to(i32)
    n = ids.numel()
    on = torch.ones((), device=DEV, dtype=torch.bool)
    br._eplb_map_and_record_i32_kernel[((n + 255) // 256,)](ids.flatten().contiguous(), count, l2p, zeros(n, dtype=i32), zeros(2 * e, dtype=i32), on,
                                                            None, e, 2, 2 * e, n, k, HAS_NUM_UNPADDED=False, BLOCK_SIZE=256)
