"""fbgemm-gpu-genai 1.9.0: fp8 products by rows and blocks, fp8 and mx4 quantisation, grouped products, gather/scatter/shuffle of experts, jagged attention, products and softmax with gradients."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

try:
    import packaging.version
except ImportError:
    pv = types.ModuleType("packaging.version")
    pv.parse = lambda s: tuple(int(x) for x in re.findall(r"\d+", s)[:3])
    sys.modules["packaging"] = types.ModuleType("packaging")
    sys.modules["packaging"].version = sys.modules["packaging.version"] = pv

for p in ("", ".experimental", ".experimental.gemm", ".experimental.gemm.triton_gemm", ".experimental.gen_ai", ".experimental.gen_ai.moe", ".sll", ".sll.triton"):
    package("fbgemm_gpu" + p)
G = lambda n: importlib.import_module("fbgemm_gpu." + n)
F8 = torch.float8_e4m3fn
cdiv = lambda a, b: -(-a // b)


def fp8(*shape):
    return randn(*shape).to(F8)


@case((4096, 4096, 4096), (128, 8192, 8192), (2048, 14336, 4096))
def fp8_rows(m, n, k):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    a, b, sa, sb = fp8(m, k), fp8(n, k), rand(m, lo=0.01, hi=0.02), rand(n, lo=0.01, hi=0.02)
    f.matmul_fp8_row(a, b, sa, sb, tma_persistent=False)
    f.matmul_fp8_row(a, b, sa, sb, bias=randn(n), tma_persistent=False, fp8_fast_accum=False)


@case((4096, 4096, 4096))
def fp8_rows_imprecise(m, n, k):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    f.matmul_fp8_row(fp8(m, k), fp8(n, k), rand(m, lo=0.01, hi=0.02), rand(n, lo=0.01, hi=0.02), tma_persistent=False, imprecise_acc=True)


@case((4096, 4096, 4096, 256, 256, 256, True), (2048, 4096, 7168, 128, 128, 128, False), (4096, 4096, 4096, 256, 256, 256, False))
def fp8_blocks(m, n, k, bm, bn, bk, fast):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    scale = lambda a, b: rand(a, b, lo=0.01, hi=0.02)
    f.matmul_fp8_block(fp8(m, k), fp8(n, k), scale(cdiv(m, bm), cdiv(k, bk)), scale(cdiv(n, bn), cdiv(k, bk)), bm, bn, bk, fp8_fast_accum=fast)


@case((8192, 4096), (4096, 14336), (16384, 2880))
def fp8_quantize(m, k):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    x = randn(m, k)
    q, s = f.triton_quantize_fp8_row(x)
    f.triton_quantize_fp8_row(x.view(8, m // 8, k), tensor([50.0], f32), randint(m // 16, m // 8, 8, dtype=i32))
    f.dequantize_fp8_row(q, s)
    _, _, packed = f.triton_quantize_fp8_packed_row(x, return_only_packed=True)
    f.dequantize_fp8_packed_row(packed)
    f.scale_fp8_row(x, s, rand(k))


@case((8192, 4096, 256), (8192, 7168, 128))
def fp8_quantize_blocks(m, k, b):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    x = randn(m, k)
    q, s = f.triton_quantize_fp8_block(x, b, b)
    f.dequantize_fp8_block(q, s, b, b)


@case((8192, 4096, None), (8192, 7168, 16))
def fp8_quantize_groups(m, k, groups):
    f = G("experimental.gemm.triton_gemm.fp8_gemm")
    sizes = None if groups is None else torch.full((groups,), m // groups, device=DEV, dtype=i64)
    f.triton_quantize_fp8_group(randn(m, k), 128, m_sizes=sizes, k_major=groups is None)


@case((8, 8192, 4096, 4096), (16, 16384, 2048, 5120), (64, 8192, 1536, 2048))
def grouped(g, m, n, k):
    f = G("experimental.gemm.triton_gemm.grouped_gemm")
    cuts = torch.cat([torch.zeros(1, device=DEV, dtype=i64), torch.randperm(m, device=DEV)[:g - 1].sort().values, torch.full((1,), m, device=DEV)])
    sizes = (cuts[1:] - cuts[:-1]).to(i32)
    x, w = randn(m, k), randn(g * n, k, scale=0.02)
    f.grouped_gemm(x, w, sizes, _use_warp_specialization=False)
    f.grouped_gemm_fp8_rowwise(x.to(F8), w.to(F8), sizes, rand(m, lo=0.01, hi=0.02), rand(g * n, lo=0.01, hi=0.02), _use_warp_specialization=False)


@case((8, 4096, 4096, 4096))
def grouped_scatter(g, m, n, k):
    f = G("experimental.gemm.triton_gemm.grouped_gemm")
    sizes = torch.full((g,), m // g, device=DEV, dtype=i32)
    out, ids = zeros(m // 2, n), randint(0, m // 2, m)
    f.grouped_gemm(randn(m, k), randn(g * n, k, scale=0.02), sizes, _use_warp_specialization=False, _output_tensor=out, _scatter_add_indices=ids)


@case((8192, 4096), (16384, 5120))
def activation(t, d):
    f = G("experimental.gen_ai.moe.activation")
    x = randn(t, 2 * d)
    f.silu_mul(x[:, :d], x[:, d:])
    f.silu_mul_quant(x[:, :d], x[:, d:], tensor([100.0], f32), tensor([t - 100], i32))


@case((8192, 128, 5120, 8192), (4096, 16, 5120, 8192))
def gather(t, e, d, a):
    f = G("experimental.gen_ai.moe.gather_scatter")
    x, tokens, experts, scores = randn(t, d), randint(0, t, a, dtype=i32), randint(0, e, a, dtype=i32), rand(t, e, dtype=bf16)
    y = f.gather_scale_dense_tokens(x, tokens, experts, scores)
    f.gather_scale_quant_dense_tokens(x, tokens, experts, scores)
    f.scatter_add_dense_tokens(zeros(t, d), y, randint(0, t, a))


@case((4, 64, 4096, 5120))
def scatter_padded(ep, e, t, d):
    f = G("experimental.gen_ai.moe.gather_scatter")
    f.scatter_add_padded_tokens(randn(ep, t, d), torch.full((e,), t // e, device=DEV, dtype=i32), torch.randperm(t, device=DEV).to(i32), zeros(t, d))


@case((8192, 5120, 8, 16, False), (8192, 5120, 4, 64, True))
def shuffling(t, d, ep, e, padded):
    f = G("experimental.gen_ai.moe.shuffling")
    counts = torch.full((ep, e), t // ep // e // (2 if padded else 1), device=DEV, dtype=i32)
    x = randn(t, d)
    f.combine_shuffling(x, counts, is_padded=padded)
    f.split_shuffling(x, counts, is_padded=padded)


@case((4096 * 4096, 2, 1, 4, False), (4096 * 2048, 3, 0, 0, True))
def mx4(n, ebits, mbits, rounding, noise):
    f = G("triton.quantize")
    q = f.triton_quantize_mx4(randn(n, dtype=f32), 32, ebits, mbits, rounding, noise)
    f.triton_dequantize_mx4(q, 32, ebits, mbits)


@case((16, 16384, 4096))
def group_maxima(g, m, k):
    f = G("experimental.gemm.triton_gemm.fp4_quantize")
    sizes = torch.full((g,), m // g, device=DEV, dtype=i64)
    f.calculate_group_max(randn(m, k), sizes)
    f.nvfp4_fused_padding_cumsum_and_segmented_arange(sizes, m)
    f.fused_single_block_cumsum_and_segmented_arange(sizes, m)


def ragged(b, n):
    lengths = randint(n // 2, n + 1, b, dtype=i64)
    return lengths, torch.cat([lengths.new_zeros(1), torch.cumsum(lengths, 0)])


def squares(lengths):
    return torch.cat([lengths.new_zeros(1), torch.cumsum(lengths * lengths, 0)])


@case((64, 512, 64, f32, True), (128, 256, 128, f32, True), (64, 512, 64, bf16, True))
def jagged_attention(b, n, d, dtype, tf32):
    s = "sll.triton."
    _, offs = ragged(b, n)
    total = int(offs[-1])
    q, k, v = (randn(total, d, dtype=dtype, grad=True) for _ in range(3))
    bwd(G(s + "triton_jagged_flash_attention_basic").jagged_flash_attention_basic(q, k, v, offs, n, True, tf32))


@case((32, 512, 4, 64, f32), (32, 512, 8, 128, bf16))
def jagged_heads(b, n, h, d, dtype):
    _, offs = ragged(b, n)
    total = int(offs[-1])
    q, k, v = (randn(h, total, d, dtype=dtype, grad=True) for _ in range(3))
    bwd(G("sll.triton.triton_multi_head_jagged_flash_attention").multi_head_jagged_flash_attention(q, k, v, offs, n, True))


@case((128, 512, 64, 128, f32))
def jagged_dense_attention(b, n, d, t, dtype):
    _, offs = ragged(b, n)
    total = int(offs[-1])
    q, v = randn(total, d, dtype=dtype, grad=True), randn(total, d, dtype=dtype, grad=True)
    k, bias = randn(b, d, t, dtype=dtype, grad=True), randn(b, n, t, dtype=dtype, grad=True)
    bwd(G("sll.triton.triton_jagged_dense_flash_attention").jagged_dense_flash_attention(q, k, v, bias, offs, n, True))


@case((256, 256, 128, 128, f32), (256, 256, 256, 128, bf16))
def jagged_products(b, n, d, t, dtype):
    f, g = G("sll.triton.triton_jagged_bmm"), G("sll.triton.triton_jagged_bmm_jagged_out")
    lengths, offs = ragged(b, n)
    total = int(offs[-1])
    x, y = randn(total, d, dtype=dtype, grad=True), randn(total, t, dtype=dtype, grad=True)
    bwd(f.jagged_dense_bmm(x, randn(b, d, t, dtype=dtype, grad=True), offs, n, True))
    bwd(f.jagged_jagged_bmm(x, y, offs, n, True))
    sq = squares(lengths)
    m = randn(int(sq[-1]), dtype=dtype, grad=True)
    bwd(g.array_jagged_bmm_jagged_out(m, x, lengths * lengths, sq, lengths, offs, lengths, offs, n, True))
    bwd(g.jagged_jagged_bmm_jagged_out(x, randn(d, total, dtype=dtype, grad=True), lengths, offs, lengths, offs, lengths * lengths, sq, n, True))


@case((256, 256, f32))
def jagged_squares(b, n, dtype):
    lengths, offs = ragged(b, n)
    sq = squares(lengths)
    x = randn(int(sq[-1]), dtype=dtype, grad=True)
    bwd(G("sll.triton.triton_jagged2_to_padded_dense").jagged2_to_padded_dense(x, sq, n))
    bwd(G("sll.triton.triton_jagged_softmax").jagged2_softmax(x, offs, sq, n, False))
    bwd(G("sll.triton.triton_jagged_softmax").jagged2_softmax(x, offs, sq, n, True))
    bwd(G("sll.triton.triton_jagged_dense_elementwise_mul_jagged_out").jagged_dense_elementwise_mul_jagged_out(x, randn(n, n, dtype=dtype), lengths, sq, n))
    G("sll.triton.triton_jagged_self_substraction_jagged_out").triton_jagged_self_substraction_jagged_out(
        randn(int(offs[-1]) + b, dtype=dtype), offs + torch.arange(b + 1, device=DEV), sq, n)


@case((1024, 512, 128, f32), (1024, 200, 64, f32))
def jagged_rows(b, n, d, dtype):
    f = G("triton.jagged.triton_jagged_tensor_ops")
    _, offs = ragged(b, n)
    total = int(offs[-1])
    x, y = randn(total, d, dtype=dtype), randn(total, d, dtype=dtype)
    f.triton_jagged_add_jagged(x, y)
    f.triton_jagged_mul_jagged(x, y)
    dense = f.jagged_to_dense(x, [offs], [n])
    f.dense_to_jagged(dense, [offs])
    f.jagged_dense_elementwise_add_jagged_output(x, [offs], dense)
    f.jagged_dense_elementwise_mul_jagged_output(x, [offs], dense)
    bwd(G("sll.triton.triton_jagged_softmax").jagged_softmax(randn(total, 16, dtype=dtype, grad=True), offs, n))
    G("sll.triton.triton_dense_jagged_cat_jagged_out").dense_jagged_cat_jagged_out(randn(b, dtype=dtype), randn(total, dtype=dtype), offs, n)


@case((256, 512, 4, 64))
def jagged_vectors(b, n, h, d):
    f = G("triton.jagged.triton_jagged_tensor_ops")
    _, offs = ragged(b, n)
    f.batched_dense_vec_jagged_2d_matmul(randn(b * h, n, dtype=f32), randn(int(offs[-1]), h * d, dtype=f32), offs)
