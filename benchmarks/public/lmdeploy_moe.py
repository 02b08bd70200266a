"""lmdeploy 0.18.0 (pytorch engine): fused MoE in bf16, blocked fp8, int8 (w8a8) and 4-bit weights, routing, MoE scatter/gather."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from lmdeploy.pytorch.kernels.cuda.blocked_gemm_fp8 import quant_fp8
from lmdeploy.pytorch.kernels.cuda.compressed_tensors_w4a16 import fused_moe_w4a16
from lmdeploy.pytorch.kernels.cuda.moe.blocked_fp8 import fused_moe_blocked_fp8
from lmdeploy.pytorch.kernels.cuda.moe.ep import ep_gather, ep_scatter
from lmdeploy.pytorch.kernels.cuda.moe.fused_moe import fused_moe
from lmdeploy.pytorch.kernels.cuda.moe.route_noaux_tc import fused_noaux_tc_routing
from lmdeploy.pytorch.kernels.cuda.moe.route_single_group import fused_single_group_topk_router
from lmdeploy.pytorch.kernels.cuda.moe.v4_swiglu_quant import v4_swiglu_and_quant_fp8
from lmdeploy.pytorch.kernels.cuda.moe.w8a8 import fused_moe_w8a8
from lmdeploy.pytorch.kernels.cuda.w8a8_triton_kernels import per_token_quant_int8


def route(n, e, k):
    w, i = torch.rand(n, e, device=DEV).topk(k, -1)
    return w, i


@case((2048, 2048, 768, 128, 8), (64, 2048, 768, 128, 8), (1024, 4096, 3584, 8, 2))
def moe(n, hid, ffn, e, k):
    w, i = route(n, e, k)
    fused_moe(randn(n, hid), randn(e, 2 * ffn, hid, scale=0.02), randn(e, hid, ffn, scale=0.02), w, i, k, renormalize=True)


@case((2048, 2048, 768, 64, 8), (128, 2048, 768, 64, 8))
def moe_fp8(n, hid, ffn, e, k):
    f8 = torch.float8_e4m3fn
    w, i = route(n, e, k)
    x, xs = quant_fp8(randn(n, hid), 128)
    fused_moe_blocked_fp8(x, xs, randn(e, 2 * ffn, hid, scale=0.5).to(f8), rand(e, 2 * ffn // 128, hid // 128, lo=0.01, hi=0.05),
                          randn(e, hid, ffn, scale=0.5).to(f8), rand(e, hid // 128, ffn // 128, lo=0.01, hi=0.05), w, i, k,
                          out_dtype=bf16, renormalize=True)


@case((2048, 2048, 768, 64, 8))
def moe_int8(n, hid, ffn, e, k):
    w, i = route(n, e, k)
    x, xs = per_token_quant_int8(randn(n, hid), 1e-7)
    fused_moe_w8a8(x, xs, randint(-127, 128, e, 2 * ffn, hid, dtype=torch.int8), rand(e, 2 * ffn, 1, lo=0.0005, hi=0.001),
                   randint(-127, 128, e, hid, ffn, dtype=torch.int8), rand(e, hid, 1, lo=0.0005, hi=0.001), w, i, k,
                   out_dtype=bf16, renormalize=True)


@case((1024, 2048, 1024, 32, 4), (16, 2048, 1024, 32, 4))
def moe_w4(n, hid, ffn, e, k):
    w, i = route(n, e, k)
    gu, dn = randint(-2 ** 31, 2 ** 31 - 1, e, 2 * ffn, hid // 8, dtype=i32), randint(-2 ** 31, 2 ** 31 - 1, e, hid, ffn // 8, dtype=i32)
    fused_moe_w4a16(randn(n, hid), gu, rand(e, 2 * ffn, hid // 32, lo=0.005, hi=0.02, dtype=bf16), dn,
                    rand(e, hid, ffn // 32, lo=0.005, hi=0.02, dtype=bf16), w, i, k, renormalize=True)


@case((8192,), (512,))
def routing(n):
    fused_noaux_tc_routing(randn(n, 256, dtype=f32), randn(256, dtype=f32))
    fused_single_group_topk_router(rand(n, 192), randn(192, dtype=f32), num_experts=192, top_k=8, routed_scaling_factor=2.5)


@case((4096, 4096, 16, 4))
def scatter(n, hid, e, k):
    w, i = route(n, e, k)
    cnt = torch.bincount(i.flatten(), minlength=e)
    cnt = ((cnt + 127) // 128 * 128).to(i32)
    total = n * k + e * 128
    start, m_idx, out_idx = zeros(e, dtype=i32), zeros(total, dtype=i32), zeros(n, k, dtype=i64)
    out = zeros(total, hid)
    ep_scatter(randn(n, hid), i, cnt, start, out, m_idx, out_idx)
    idx = torch.randperm(total, device=DEV)[:n * k].view(n, k)
    ep_gather(out, i, w.float(), idx, zeros(n, hid))


@case((8192, 4096), (512, 7168))
def swiglu(n, h):
    v4_swiglu_and_quant_fp8(randn(n, 2 * h), 7.0)
