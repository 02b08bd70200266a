"""sglang 0.5.23: fused MoE (bf16, fp8 blockwise, int8, int4 weights), activations, reduction, routing, expert-parallel shuffles."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import triton.language as tl
from sglang.kernels.ops.moe import ep_moe_kernels as ep
from sglang.kernels.ops.moe.fused_moe_triton_kernels import act_and_mul_triton, invoke_fused_moe_kernel, moe_sum_reduce_triton
from sglang.kernels.ops.moe.moe_fused_mul_sum import moe_fused_mul_sum
from sglang.kernels.ops.moe.router import fused_moe_router_shim


def aligned(ids, e, bm):
    flat = ids.flatten().long()
    order = torch.argsort(flat, stable=True)
    cnt = torch.bincount(flat, minlength=e)
    pad = (cnt + bm - 1) // bm * bm
    total = int(pad.sum())
    out = torch.full((total,), flat.numel(), device=DEV, dtype=i32)
    base = torch.cumsum(pad, 0) - pad
    first = torch.cumsum(cnt, 0) - cnt
    se = flat[order]
    out[base[se] + torch.arange(len(order), device=DEV) - first[se]] = order.to(i32)
    return out, torch.repeat_interleave(torch.arange(e, device=DEV), pad // bm).to(i32), tensor([total])


CFG = dict(BLOCK_SIZE_M=64, BLOCK_SIZE_N=128, BLOCK_SIZE_K=64, GROUP_SIZE_M=8, num_warps=4, num_stages=3)
CFG8 = dict(CFG, BLOCK_SIZE_K=128)
SMALL = dict(BLOCK_SIZE_M=16, BLOCK_SIZE_N=64, BLOCK_SIZE_K=64, GROUP_SIZE_M=1, num_warps=4, num_stages=3)


@case((2048, 2048, 768, 64, 8, "bf16"), (32, 2048, 768, 64, 8, "small"), (2048, 2048, 768, 64, 8, "fp8"),
      (2048, 2048, 768, 64, 8, "int8"), (1024, 2048, 1024, 32, 4, "int4"), (1024, 2048, 1024, 32, 4, "int8w"))
def gemm(n, hid, ffn, e, k, kind):
    w, ids = torch.rand(n, e, device=DEV).topk(k, -1)
    ids = ids.to(i32)
    cfg = SMALL if kind == "small" else CFG8 if kind in ("fp8", "int8") else CFG
    s, x, t = aligned(ids, e, cfg["BLOCK_SIZE_M"])
    a, c = randn(n, hid), zeros(n, k, 2 * ffn)
    a_s = b_s = zp = block = None
    if kind in ("bf16", "small"):
        b = randn(e, 2 * ffn, hid, scale=0.02)
    elif kind == "fp8":
        b, b_s, block = randn(e, 2 * ffn, hid).to(torch.float8_e4m3fn), rand(e, 2 * ffn // 128, hid // 128, lo=0.01, hi=0.02), [128, 128]
    elif kind == "int8":
        b, b_s = randint(-127, 128, e, 2 * ffn, hid, dtype=torch.int8), rand(e, 2 * ffn, lo=0.001, hi=0.002)
    elif kind == "int4":
        b, block = randint(0, 256, e, 2 * ffn, hid // 2, dtype=torch.uint8), [0, 128]
        b_s, zp = rand(e, 2 * ffn, hid // 128, lo=0.01, hi=0.02, dtype=bf16), randint(0, 256, e, ffn, hid // 128, dtype=torch.uint8)
    else:
        b, block = randint(0, 256, e, 2 * ffn, hid, dtype=torch.uint8), [0, 128]
        b_s = rand(e, 2 * ffn, hid // 128, lo=0.001, hi=0.002, dtype=bf16)
    invoke_fused_moe_kernel(a, b, None, c, a_s, b_s, zp, w, ids, s, x, t, False, k, cfg, tl.bfloat16, kind == "fp8",
                            kind == "int8", kind == "int8w", kind == "int4", kind == "int8", block)
    if kind in ("bf16", "small"):
        act = zeros(n * k, ffn)
        act_and_mul_triton(c.view(-1, 2 * ffn), act, cfg, ids, None)
        out = zeros(n, k, hid)
        invoke_fused_moe_kernel(act, randn(e, hid, ffn, scale=0.02), None, out, None, None, None, w, ids, s, x, t, True, 1, cfg,
                                tl.bfloat16, False, False, False, False, False)
        moe_sum_reduce_triton(out, zeros(n, hid), 1.0)
        moe_fused_mul_sum(out, w)


@case((512, 4096, 8, 2), (2048, 4096, 8, 2))
def router(n, hid, e, k):
    fused_moe_router_shim(30.0, randn(n, hid), randn(e, hid), k, False)


@case((4096, 4096, 32, 4), (512, 7168, 64, 8))
def shuffle(n, hid, e, k):
    w, ids = torch.rand(n, e, device=DEV).topk(k, -1)
    x = randn(n, hid)
    r = ep.moe_permute(x, ids.to(i32), e)
    perm = r[0] if isinstance(r, tuple) else r
    src2dst = torch.randperm(n * k, device=DEV).to(i32)
    ep.moe_unpermute(randn(n * k, hid), src2dst, ids.to(i32), w)


@case((16, 1024, 2048), (64, 256, 1536))
def masked(e, m, ffn):
    x, cnt = randn(e, m, 2 * ffn), randint(1, m + 1, e, dtype=i32)
    ep.silu_and_mul_masked_fwd(x, zeros(e, m, ffn), cnt)
    q = zeros(e, m, ffn, dtype=f32).to(torch.float8_e4m3fn)
    ep.silu_and_mul_masked_post_quant_fwd(x, q, ones(e, m, ffn // 128, dtype=f32), 128, cnt)
    ep.silu_and_mul_masked_post_per_tensor_quant_fwd(x, q, cnt, ones(1, dtype=f32))


@case((4096, 7168, 8, 8))
def gather(n, hid, e, k):
    ids = randint(0, e, n, k, dtype=i32)
    rows = n * k
    ep.ep_gather(randn(rows, hid), ids, rand(n, k), torch.randperm(rows, device=DEV).to(i32).view(n, k), zeros(n, hid))
    ep.tma_align_input_scale(rand(n, hid // 128))
    ep.fused_moe_dispatch_index(ids, e, n)
    ep.zero_experts_compute_triton(ids.clone(), rand(n, k), e // 2, "identity", randn(n, hid))
