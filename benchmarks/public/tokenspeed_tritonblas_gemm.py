"""tokenspeed-tritonblas 0.1.0.post20260510: GEMMs (persistent by stages or monolithic, work stealing, stream-K), fp8 with scales, mxfp4, mxfp4 quantisation."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
import triton

package("tritonblas")
K = lambda name: importlib.import_module("tritonblas.kernels." + name)
F8 = torch.float8_e4m3fn
BM, BN, BK, STRIDE = 128, 128, 64, 64
SMS = torch.cuda.get_device_properties(0).multi_processor_count


def inputs(m, n, k, quantized):
    a, b, c = randn(m, k), randn(n, k).t(), zeros(m, n)
    sa, sb = (rand(m, lo=0.5, hi=1.5), rand(n, lo=0.5, hi=1.5)) if quantized else (None, None)
    return (a.to(F8), b.to(F8), c, sa, sb) if quantized else (a, b, c, sa, sb)


def sizes(a, b, c, bias):
    (m, k), n = a.shape, b.shape[1]
    return (m, n, k, a.stride(0), b.stride(1), c.stride(0), c.stride(1), 1 if bias is not None else 0)


def meta(a, b, bias, quantized, **more):
    return dict(stride_ak=a.stride(1), stride_bk=b.stride(0), BLOCK_SIZE_M=BM, BLOCK_SIZE_N=BN, BLOCK_SIZE_K=BK, GROUP_SIZE_M=8, BIAS=bias is not None,
                EVEN_K=a.shape[1] % BK == 0, CACHE_MODIFIER_A=None, CACHE_MODIFIER_B=None, QUANTIZED=quantized, ALLOW_TF32=False,
                num_warps=8, num_stages=3, **more)


SHAPES = ((4096, 4096, 4096, False, False), (2048, 5120, 8192, False, True), (4096, 4096, 4096, True, False))


@case(*SHAPES)
def persistent(m, n, k, quantized, with_bias):
    a, b, c, sa, sb = inputs(m, n, k, quantized)
    bias = randn(n) if with_bias else None
    tiles = triton.cdiv(m, BM) * triton.cdiv(n, BN)
    K("persistent_gemm").persistent_matmul[(tiles,)](a, b, c, sa, sb, bias, *sizes(a, b, c, bias),
                                                     **meta(a, b, bias, quantized, NUM_SMS=tiles, NUM_XCDS=1, CHUNK_SIZE=64))


@case(*SHAPES)
def monolithic(m, n, k, quantized, with_bias):
    a, b, c, sa, sb = inputs(m, n, k, quantized)
    bias = randn(m) if with_bias else None
    K("persistent_gemm_monolithic").persistent_matmul[(SMS,)](a, b, c, sa, sb, bias, *sizes(a, b, c, bias),
                                                              **meta(a, b, bias, quantized, NUM_SMS=SMS, NUM_XCDS=1, CHUNK_SIZE=64))


@case(*SHAPES)
def stealing(m, n, k, quantized, with_bias):
    a, b, c, sa, sb = inputs(m, n, k, quantized)
    bias = randn(n) if with_bias else None
    K("persistent_gemm_work_stealing").ws_persistent_matmul[(SMS,)](
        a, b, c, sa, sb, bias, zeros(64 * STRIDE, dtype=i32), zeros(STRIDE, dtype=i32), *sizes(a, b, c, bias),
        **meta(a, b, bias, quantized, NUM_SMS=SMS, NUM_XCDS=1, COUNTERS_PER_XCD=8, COUNTER_STRIDE=STRIDE, GLOBAL_ATOMIC=False,
               HIERARCHICAL=False, LOCAL_TILES_PER_XCD=0, GLOBAL_TILES=0, USE_MASK=True, mask_ptr=ones(SMS, dtype=i32)))


@case(*SHAPES)
def streamk(m, n, k, quantized, with_bias):
    a, b, c, sa, sb = inputs(m, n, k, quantized)
    bias = randn(n) if with_bias else None
    part, locks = zeros(SMS, BM * BN, dtype=f32), zeros(SMS, dtype=torch.uint8)
    rest = triton.cdiv(m, BM) * triton.cdiv(n, BN) % SMS
    K("streamk_gemm").streamk_matmul[(SMS,)](a, b, c, sa, sb, bias, part, locks, *sizes(a, b, c, bias),
                                             **meta(a, b, bias, quantized, NUM_SMS=SMS, NUM_XCDS=1, CHUNK_SIZE=64, STREAMK_TILES=rest))


@case(*SHAPES)
def streamk_stealing(m, n, k, quantized, with_bias):
    a, b, c, sa, sb = inputs(m, n, k, quantized)
    bias = randn(n) if with_bias else None
    part, locks = zeros(SMS, BM * BN, dtype=f32), zeros(SMS, dtype=torch.uint8)
    rest = triton.cdiv(m, BM) * triton.cdiv(n, BN) % SMS
    K("streamk_gemm_work_stealing").ws_streamk_matmul[(SMS,)](
        a, b, c, sa, sb, bias, zeros(64 * STRIDE, dtype=i32), zeros(64 * STRIDE, dtype=i32), part, locks, *sizes(a, b, c, bias),
        **meta(a, b, bias, quantized, NUM_SMS=SMS, NUM_XCDS=1, CHUNK_SIZE=64, STREAMK_TILES=rest, COUNTERS_PER_XCD=8,
               COUNTER_STRIDE=STRIDE, GLOBAL_ATOMIC=False, mask_ptr=ones(SMS, dtype=i32)))


@case((8192, 8192), (16384, 4096))
def quantise(m, n):
    importlib.import_module("tritonblas.utils").dynamic_mxfp4_quant(randn(m, n))


@case((2048, 4096, 4096))
def mxfp4(m, n, k):
    a, b = (randint(0, 256, r, k // 2, dtype=torch.uint8) for r in (m, n))
    sa, sb = (randint(120, 130, r, k // 32, dtype=torch.uint8) for r in (m, n))
    b, c = b.t(), zeros(m, n)
    tiles = triton.cdiv(m, 128) * triton.cdiv(n, 128)
    K("fp4_matmul").fp4_matmul[(tiles,)](
        a, b, c, sa, sb, m, n, k, *a.stride(), *b.stride(), *c.stride(), *sa.stride(), *sb.stride(), BLOCK_SIZE_M=128, BLOCK_SIZE_N=128,
        BLOCK_SIZE_K=128, GROUP_SIZE_M=8, NUM_SMS=tiles, NUM_XCDS=1, CHUNK_SIZE=64, num_stages=2, num_warps=8)
