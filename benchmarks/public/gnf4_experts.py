"""grouped-nf4-gemm 0.51.0: expert products on packed nf4, int4 and mxfp4 weights (prefill tiles, decode gemv with split k), fp8 paged decode attention, fused rows of a decode step."""
from _common import *
import importlib
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site", "gnf4"))
M = importlib.import_module
u8 = torch.uint8


def nf4(e, n, k):
    return randint(0, 256, e, n, k // 2, dtype=u8), rand(e, n, k // 64, lo=0.01, hi=0.1)


def int4(e, n, k):
    return randint(0, 256, e, n, k // 2, dtype=u8), rand(e, n, k // 32, lo=0.001, hi=0.01, dtype=f16)


@case((8, 4096, 4096, 256), (32, 1536, 2048, 64))
def nf4_grouped(e, n, k, rows):
    m = M("nf4_grouped")
    w = nf4(e, n, k)
    ids = torch.arange(e, device=DEV, dtype=i32)
    m.gemm_4bit_grouped(randn(e * rows, k), *w, [rows] * e, ids)
    m.gemm_4bit_grouped(randn(e, k), *w, [1] * e, ids)
    m.dgrad_4bit_grouped(randn(e * rows, n), *w, [rows] * e, ids)


@case((8, 4096, 4096), (32, 1536, 2048))
def nf4_dequant(e, n, k):
    M("nf4_route").dequant_groups(*nf4(e, n, k), torch.arange(e, device=DEV, dtype=i32), n, k)


@case((8, 2880, 2880, 256), (32, 2880, 5760, 64))
def mxfp4(e, k, n, rows):
    m = M("mxfp4_grouped")
    w = randint(0, 256, e, n, k // 2, dtype=u8), randint(118, 128, e, n, k // 32, dtype=u8)
    ids = torch.arange(e, device=DEV, dtype=i32)
    m.gemm_mxfp4_grouped(randn(e * rows, k), *w, [rows] * e, ids)
    m.gemm_mxfp4_grouped(randn(e, k), *w, [1] * e, ids)


@case((32, 1536, 2048, 64), (128, 768, 2048, 128))
def int4_decode(e, n, k, rows):
    m = M("int4_b32")
    ids = randint(0, e, rows, dtype=i32)
    xq, xs = m.quant_x_rows(randn(rows, k))
    xq = randint(-127, 128, rows, k, dtype=torch.int8) if xq.shape == (rows, k) and xq.dtype == torch.int8 else xq
    xs = rand(*xs.shape, lo=0.001, hi=0.01)
    w = int4(e, n, k)
    m.gemv_int4_b32(xq, xs, *w, ids, n, k)
    m.gemv_int4_b32(xq, xs, *w, ids, n, k, fused_reduce=True)
    m.gemv_int4_b32_grouped(xq, xs, *w, ids, n, k)
    t = m.build_group_tiles_fused(ids, e, 16)
    r0 = torch.arange(0, rows, 16, device=DEV, dtype=i32)
    m.gemm_int4_b32_grouped_captured(xq, xs, *w, r0, torch.full_like(r0, 16), randint(0, e, len(r0), dtype=i32))


@case((16, 4096, 4096), (8, 8192, 2048))
def int4_small(rows, n, k):
    m = M("int4_smallm")
    p, s = int4(1, n, k)
    m.gemm_int4_b32_smallm(randn(rows, k), p[0], s[0])


@case((4096, 4096), (11008, 2048))
def dense(n, k):
    M("dense_gemv").gemv_bf16_bw(randn(1, k), randn(n, k))
    q, s = randint(-127, 128, n, k, dtype=torch.int8), rand(n, lo=0.001, hi=0.01)
    M("dense_gemv").gemv_i8_bw(randn(1, k), q, s)
    M("dense_i8").linear_i8(randn(16, k), q, s)


@case((64, 2048, 32, 128))
def rows(b, d, heads, hd):
    m = M("int4_b32")
    m.swiglu_rows(randn(b * 8, 2 * d))
    m.combine_rows(randn(b * 8, d), rand(b, 8), 8)
    m.rmsnorm_rows(randn(b, d), randn(d), 1e-6)
    m.rmsnorm_resid_rows(randn(b, d), randn(b, d), randn(d), 1e-6)
    m.router_epilogue(randn(b, 128, dtype=f32), 8, True)
    m.rope_heads(randn(b, heads, hd), randn(b, hd), randn(b, hd))


def packed(count, tokens, hk, d, row):
    """Rows of fp8 values followed by fp32 scales."""
    pool = torch.zeros(count, row, device=DEV, dtype=u8)
    size = tokens * hk * d
    pool[:, :size] = randn(count, size).to(torch.float8_e4m3fn).view(u8)
    pool[:, size:] = rand(count, (row - size) // 4, lo=0.5, hi=1.5).view(u8)
    return pool


@case((16, 4096, 8, 128, 32), (4, 16384, 8, 64, 64))
def paged(b, n, hk, d, h):
    m = M("fp8_paged_attn")
    kv = M("fp8_kv")
    tokens = 16
    pages = n // tokens
    row = kv.kv_block_bytes(tokens, hk, d)
    k_pool, v_pool = (packed(b * pages, tokens, hk, d, row) for _ in range(2))
    table = torch.randperm(b * pages, device=DEV).reshape(b, pages).to(i32)
    m.fp8_paged_decode_attention(randn(b, h, d), k_pool, v_pool, table, tensor([n - 5 * i for i in range(b)]), n_kv_heads=hk, head_dim=d)
