"""vllm 0.33.0: block FP8, scaled int8/fp8, AWQ and W4A16 products; FP8, INT8, MXFP8, MXFP4 and NVFP4 quantization, fused with SiLU."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from vllm.kernels.triton.qkv_padded_fp8_quant import quantize_fp8_pad_head_dim_triton
from vllm.model_executor.kernels.linear.mixed_precision import triton_w4a16 as w4
from vllm.model_executor.layers.quantization import awq_triton as awq
from vllm.model_executor.layers.quantization.compressed_tensors import compressed_tensors_embedding as cte
from vllm.model_executor.layers.quantization.compressed_tensors.triton_scaled_mm import triton_scaled_mm
from vllm.model_executor.layers.quantization.utils import fp8_utils as f8, int8_utils as q8, mxfp4_utils as m4, mxfp8_utils as m8
from vllm.model_executor.layers.quantization.utils import nvfp4_emulation_utils as nv
fp8, u8, i8 = torch.float8_e4m3fn, torch.uint8, torch.int8


@case((4096, 4096, 4096), (64, 7168, 2048), (2048, 1536, 7168))
def block_mm(m, n, k):
    f8.w8a8_triton_block_scaled_mm(randn(m, k).to(fp8), randn(n, k).to(fp8), rand(m, k // 128), rand(n // 128, k // 128), [128, 128], bf16)


@case((4096, 4096, 4096, i8), (2048, 8192, 4096, fp8), (16, 4096, 4096, i8))
def scaled_mm(m, n, k, dt):
    if dt == i8:
        a, b = randint(-127, 127, m, k, dtype=i8), randint(-127, 127, n, k, dtype=i8).t()
    else:
        a, b = randn(m, k).to(fp8), randn(n, k).to(fp8).t()
    triton_scaled_mm(a, b, rand(m, 1, hi=0.02), rand(n, 1, hi=0.02), bf16, bias=randn(n))


@case((2048, 4096, 4096), (8, 11008, 4096))
def awq_mm(m, n, k):
    qw, qz = randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32), randint(-2 ** 31, 2 ** 31 - 1, k // 128, n // 8, dtype=i32)
    s = rand(k // 128, n, dtype=f16, hi=0.02)
    awq.awq_dequantize_triton(qw, s, qz)
    awq.awq_gemm_triton(randn(m, k, dtype=f16), qw, s, qz, 8 if m < 64 else 1)


@case((2048, 4096, 4096, True), (16, 11008, 4096, False))
def w4a16(m, n, k, zp):
    w4._triton_w4a16_gemm_impl(randn(m, k), randint(-2 ** 31, 2 ** 31 - 1, k, n // 8, dtype=i32), rand(k // 128, n, dtype=bf16, hi=0.02),
                               randint(-2 ** 31, 2 ** 31 - 1, k // 128, n // 8, dtype=i32) if zp else None, 128)


@case((8192, 4096, 128), (4096, 7168, 128))
def group_quant(m, k, g):
    x = randn(m, k + 128)[:, :k]
    f8.per_token_group_quant_fp8(x, g, use_ue8m0=False)
    f8.per_token_group_quant_fp8(x, g, column_major_scales=True, use_ue8m0=False)
    q8.per_token_quant_int8(randn(m, k))
    import types
    q8.current_platform = types.SimpleNamespace(is_cuda=lambda: False, is_cuda_alike=lambda: False, is_xpu=lambda: False)
    q8.per_token_group_quant_int8(randn(m, k), g)


@case((8192, 4096), (4096, 2048))
def silu_quant(m, h):
    f8.silu_mul_quant_fp8_packed_triton(randn(m, 2 * h), 128)
    f8.silu_mul_quant_fp8_packed_triton(randn(m, 2 * h), 32, clamp_limit=7.0)
    f8.silu_mul_per_token_group_quant_fp8_colmajor(randn(m, 2 * h), use_ue8m0=False)


@case((8192, 4096))
def mx(m, k):
    m8._mxfp8_e4m3_quantize_triton(randn(m, k))
    m4.downcast_to_mxfp(randn(m, k), -1)
    m4.downcast_to_mxfp(randn(32, 1024, 2048), 1)


@case((8192, 4096))
def nvfp4(m, k):
    nv._triton_nvfp4_quant_dequant(randn(m, k), rand(1, lo=10.0, hi=20.0), 16)
    nv._triton_dequantize_nvfp4(randint(0, 256, m, k // 2, dtype=u8), rand(m, k // 16, lo=0.1, hi=4.0).to(fp8), rand(1), bf16)


@case((8192, 128, 80), (4096, 16, 72))
def pad_head(n, h, d):
    quantize_fp8_pad_head_dim_triton(randn(n, h, d), rand(1, lo=0.5))


@case((8192, 32000, 4096))
def embedding(n, v, d):
    cte._dequant_gather_triton(randint(0, v, n), randint(-2 ** 31, 2 ** 31 - 1, v, d // 8, dtype=i32), rand(v, d // 128, dtype=bf16, hi=0.02), d, 4)
