"""veomni 0.1.12: mixture of experts (histogram, indices by atomics, scatter, gather, grouped products by rows and by sums), load balancing loss with gradient, rotary in three layouts, batch-invariant product, log softmax, mean, RMS norm."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _stub import stub
for p in ("veomni", "veomni.ops", "veomni.ops.kernels", "veomni.ops.kernels.moe", "veomni.ops.kernels.moe._kernels", "veomni.ops.kernels.moe._kernels.kernel",
          "veomni.ops.kernels.moe._kernels.utils", "veomni.ops.kernels.load_balancing_loss", "veomni.ops.kernels.rotary", "veomni.ops.kernels.rms_norm", "veomni.ops.batch_invariant_ops",
          "veomni.utils"):
    package(p)
stub("veomni.utils.device", get_torch_device=lambda: torch.cuda, is_moe_kernel_supported=lambda d: True, get_compute_units=lambda *a: 132, get_device_name=lambda: "cuda",
     get_device_type=lambda: "cuda", IS_CUDA_AVAILABLE=True, IS_NPU_AVAILABLE=False)
stub("veomni.utils.logging", "veomni.utils.import_utils")
from veomni.ops.kernels.load_balancing_loss.triton import load_balancing_loss_triton
from veomni.ops.kernels.moe._kernels.kernel import group_gemm as gg, moe as mo
from veomni.ops.kernels.rotary import triton_deepseek_v4 as r4, triton_deterministic as rd, triton_wan as rw
from veomni.ops.batch_invariant_ops import batch_invariant_ops as bi
from veomni.ops.kernels.rms_norm import triton_batch_invariant as rn


@case((8192, 8, 64, 2048, 1408), (16384, 4, 128, 2048, 768))
def experts(n, k, e, d, f):
    ids = torch.rand(n, e, device=DEV).topk(k)[1].to(i32).contiguous()
    h = mo.expert_histogram(ids, e)
    cum = h.cumsum(0).to(i32)
    idx = mo.moe_index_compute(ids, cum)
    x = mo.moe_scatter(randn(n, d), idx)
    w = randn(e, f, d, scale=d ** -0.5)
    top = int(h.max())
    y = gg.group_gemm_same_nk(x, w, cum, top, transpose_b=True)
    gg.group_gemm_same_nk(y, w, cum, top)
    gg.group_gemm_same_mn(y, x, torch.empty_like(w), cum, top, transpose_a=True)
    mo.moe_gather(x, idx)
    mo.moe_add_gather(x, torch.randn_like(x), idx)


@case((4, 8, 4096, 128, 8), (2, 4, 8192, 256, 4))
def balance(layers, b, n, e, k):
    g = tuple(randn(b * n, e, dtype=f32, grad=True) for _ in range(layers))
    load_balancing_loss_triton(g, e, k, (torch.rand(b, n, device=DEV) > 0.1).long()).backward()
    load_balancing_loss_triton(g, e, k).backward()


@case((2, 64, 4096, 512, 64), (1, 128, 4096, 128, 32))
def rotary_v4(b, h, n, d, r):
    bwd(r4.apply_rotary_pos_emb_triton(randn(b, h, n, d, grad=True), randn(b, n, r // 2, dtype=f32), randn(b, n, r // 2, dtype=f32)))


@case((1, 16384, 24, 128))
def rotary_wan(b, n, h, d):
    bwd(rw.apply_rotary_emb(randn(b, n, h * d, grad=True), cos=randn(n, d // 2, dtype=f32), sin=randn(n, d // 2, dtype=f32), head_dim=d))


@case((64, 64, 4096, 1, f32), (16, 512, 512, 128, bf16))
def bmm(b, m, n, k, dtype):
    rd.triton_bmm(randn(b, m, k, dtype=dtype), randn(b, k, n, dtype=dtype))


@case((2048, 4096, 4096, bf16), (1000, 2048, 11008, f16))
def invariant(m, k, n, dtype):
    x = randn(m, k, dtype=dtype)
    bi.matmul_persistent(x, randn(k, n, dtype=dtype), randn(n, dtype=dtype))
    bi.log_softmax(x.float(), -1)
    bi.mean_dim(x.view(m, k // 64, 64), 1)
    rn.batch_invariant_rms_norm(x, randn(k, dtype=dtype))
