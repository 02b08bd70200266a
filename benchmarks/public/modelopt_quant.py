"""nvidia-modelopt 0.47.0: nvfp4 rounding (static, dynamic), sweeps over fp8 scales (with Hessians), GPTQ columns in one block, fp8 dequantisation; attention with fp8/nvfp4 probabilities, 2:4 sparse scores or skipped tiles (both passes), calibration of thresholds, paged decode with rounding of values."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
for p in ("modelopt", "modelopt.torch", "modelopt.torch.quantization", "modelopt.torch.quantization.utils", "modelopt.torch.kernels", "modelopt.torch.kernels.common", "modelopt.torch.kernels.common.attention",
          "modelopt.torch.kernels.quantization", "modelopt.torch.kernels.quantization.attention", "modelopt.torch.kernels.quantization.common", "modelopt.torch.kernels.quantization.gemm",
          "modelopt.torch.kernels.sparsity", "modelopt.torch.kernels.sparsity.attention"):
    package(p)
from _stub import stub
stub("modelopt.torch.quantization.utils.numeric_utils", E4M3_MAX=448.0)
from modelopt.torch.kernels.common.attention import decode_attention as da, triton_fa as fa
from modelopt.torch.kernels.quantization.attention.bmm2_qdq import fake_quant_v_onwrite
from modelopt.torch.kernels.quantization.gemm import fp4_kernel as f4, fp4_kernel_hopper as fh, fp8_kernel as f8, gptq_fused_kernel as gp, nvfp4_fp8_sweep as sw
from modelopt.torch.kernels.sparsity.attention.calibrate import attention_calibrate
cut("modelopt.")


@case((4096, 4096), (11008, 4096))
def rounding(m, n):
    x = randn(m, n)
    amax = x.float().view(-1, 16).abs().amax(1)
    f4.static_blockwise_fp4_fake_quant(x, amax, quantize_block_scales=False)
    fh.fp4_fake_quant_block(x, amax.max())
    f4.static_blockwise_fp4_cast(x)
    f8.weight_dequant(x.to(torch.float8_e4m3fn), rand(m // 128, n // 128), dtype=bf16)


@case((4096, 4096))
def sweep(m, n):
    x = randn(m, n)
    top = x.float().abs().max()
    sw.nvfp4_fp8_scale_sweep(x, top)
    h = randn(n // 16, 16, 16, dtype=f32)
    c = sw.fp8_scale_candidates(DEV).float() * top
    best = zeros(m * n // 16, dtype=f32)
    sw._fp8_scale_sweep_hessian_kernel[(-(-m // 32) * (n // 16),)](x.view(-1), (h @ h.transpose(1, 2)).reshape(-1), c / 6.0, c, best, m, n // 16, BLOCK_SIZE=16, NUM_CANDIDATES=len(c), ROWS_PER_PROGRAM=32, num_warps=4)


@case((4096, 128), (8192, 128))
def gptq(rows, block):
    gp.gptq_fused_block_scalar(randn(rows, block, dtype=f32), rand(rows, 4096 // 16, lo=0.5), 0.01, rand(block, block, hi=0.1) + torch.eye(block, device=DEV), 16, 0)


@case((4, 2048, 32, 8, 128, {}), (2, 4096, 16, 16, 64, dict(sparsity_n=2, sparsity_m=4)), (2, 4096, 32, 8, 128, dict(skip_softmax_threshold=1e-3)), (4, 2048, 32, 8, 128, dict(p_qdq="nvfp4", v_qdq="nvfp4")),
      (4, 2048, 32, 8, 128, dict(p_qdq="fp8")))
def attention(b, n, h, hk, d, more):
    g = "v_qdq" not in more
    q, k, v = randn(b * n, h, d, grad=g), randn(b * n, hk, d, grad=g), randn(b * n, hk, d, grad=g)
    s = (torch.arange(b, device=DEV) * n).to(i32)
    o = fa.attention(q, k, v, s, torch.full((b,), n, device=DEV, dtype=i32), n, **more)
    if g:
        bwd(o)


@case((2, 4096, 16, 4, 128))
def calibrate(b, n, h, hk, d):
    s = (torch.arange(b, device=DEV) * n).to(i32)
    attention_calibrate(randn(b * n, h, d), randn(b * n, hk, d), randn(b * n, hk, d), s, torch.full((b,), n, device=DEV, dtype=i32), n, threshold_trials=[1e-4, 1e-3, 1e-2, 1e-1])


@case((32, 4096, 32, 8, 128, {}), (32, 4096, 32, 8, 128, dict(p_qdq="fp8", v_qdq="nvfp4")))
def decode(b, n, h, hk, d, more):
    page = 16
    per = n // page
    k, v, t = randn(b * per, page, hk, d), randn(b * per, page, hk, d), torch.randperm(b * per, device=DEV).view(b, per).to(i32)
    da.attention_decode(randn(b, h, d), k, v, t, torch.full((b,), n - 7, device=DEV, dtype=i32), page_size=page, **more)
    lo = torch.full((b,), n - 1024, device=DEV, dtype=i32)
    fake_quant_v_onwrite(v, t, lo, lo + 1000, max_new_tokens=1024, page_size=page)
