"""piper-kernels 0.7.8: int8 linear layers with Hadamard rotation (preparation, product, GGUF conversion, updates), projections fused with norm, rope and quantisation, 3d convolution."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types
import triton

SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")
for folder, _, files in os.walk(os.path.join(SITE, "piper_kernels")):  # packages whose __init__ is not run (they import everything)
    name = os.path.relpath(folder, SITE).replace(os.sep, ".")
    if "__init__.py" in files and not name.endswith("stochastic_quantization") or name == "piper_kernels":
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = [folder]


def load(name):
    return importlib.import_module("piper_kernels." + name)



i8, u8 = torch.int8, torch.uint8


def int8(*shape):
    return randint(-127, 128, *shape, dtype=i8)


def scale(*shape):
    return rand(*shape, lo=0.001, hi=0.01)


def empty(*shape, dtype):
    return torch.empty(*shape, device=DEV, dtype=dtype)


@case((8192, 3072, 256, None), (8192, 4096, 64, "gelu_tanh"), (4096, 12288, 256, "swiglu"), (4096, 9216, 16, None))
def rotate_quantize(m, k, group, activation):
    chunks, size = load("weights.convrot.int8._packing").fused_preparation_chunks(k)
    load("_triton.convrot_int8").rotate_quantize_rows_kernel[(m,)](
        randn(m, 2 * k if activation == "swiglu" else k), empty(m, k, dtype=i8), empty(m, dtype=f32), k, chunk_size=size, chunk_count=chunks,
        group_size=group, inverse_sqrt_group=group ** -0.5, activation_fn=activation, static_scale_ptr=None, accelerator_backend="cuda",
        gguf_quant_type=-1, num_warps=8)


@case((8192, 3072, 256), (8192, 4096, 64))
def rotate_then_quantize(m, k, group):
    x = empty(m, k, dtype=bf16)
    load("_triton.convrot").rotate_input(randn(m, k), x, group, num_warps=1)
    load("_triton.convrot_int8").quantize_rows_kernel[(m,)](
        x, empty(m, k, dtype=i8), empty(m, dtype=f32), k, block_size=triton.next_power_of_2(k), accelerator_backend="cuda", num_warps=8)


@case((8192, 3072, 3072, False, 8), (4096, 3072, 12288, False, 0), (4000, 3072, 3072, True, 8))
def matmul(m, k, n, paired, group_m):
    w, ws, b = int8(n, k), scale(n), randn(n)
    w2, ws2, b2 = (int8(n, k), scale(n), randn(n)) if paired else (w, ws, b)
    out = empty(m, 2 * n if paired else n, dtype=bf16)
    tiles = triton.cdiv(n, 128) * (2 if paired else 1)
    grid = (triton.cdiv(m, 128) * tiles,) if group_m else (triton.cdiv(m, 128), tiles)
    load("linear.convrot.int8._kernels.triton").int8_matmul_kernel[grid](
        int8(m, k), w, out, scale(m), ws, b, w2, ws2, b2, m, n, k, out.stride(0), block_m=128, block_n=128, block_k=64, has_bias=True, paired=paired,
        second_has_bias=paired, aligned_m=m % 128 == 0, aligned_nk=True, group_m=group_m, explicit_bias_fma=False, per_tile_tail=bool(group_m),
        num_stages=3, num_warps=8)


@case((3072, 12288, 2), (3072, 12288, 8), (3072, 12288, 10), (3072, 12288, 11), (3072, 12288, 12), (3072, 12288, 13), (3072, 12288, 14),
      (3072, 12288, 20), (3072, 12288, 23), (3072, 12288, 30))
def gguf(rows, width, kind):
    m = load("_triton.convrot_int8")
    types_ = load("gguf._types")
    block, size = types_.GGUF_QUANT_SIZES[types_.GGUFQuantizationType(kind)]
    data = randint(0, 60, rows, width // block * size, dtype=u8)
    q, s, tile = empty(rows, width, dtype=i8), empty(rows, dtype=f32), 2048
    tiles = width // tile
    maxima = empty(rows, tiles, dtype=f32)
    run = lambda write: m.convert_gguf_tiles_kernel[(rows, tiles)](
        data, q, s, maxima, width, tiles, block_size=tile, group_size=256, quant_type=kind, write_maxima=write, accelerator_backend="cuda", num_warps=4)
    run(True)
    m.gguf_row_scales_kernel[(rows,)](maxima, s, tiles, block_size=triton.next_power_of_2(tiles), reciprocal_scale=False, num_warps=1)
    run(False)


@case((3072, 4096, True), (12288, 3072, False))
def requantize(rows, width, stochastic):
    q, s, u = int8(rows, width), scale(rows, 1), randn(rows, width, scale=0.01)
    load("_triton.convrot_int8").requantize_update_rows_kernel[(rows,)](
        q, s, u, width, q.stride(0), q.stride(1), s.stride(0), u.stride(0), u.stride(1), 1.0, 0.5, 1234, block_size=triton.next_power_of_2(width),
        has_base=True, has_update=True, stochastic=stochastic, accelerator_backend="cuda", num_warps=8)


@case((2, 8192, 3072), (1, 32768, 3072))
def mean(b, n, k):
    x = load("linear.convrot.int8._generic.mean").dequantized_input_mean(int8(b, n, k), scale(b, n))
    load("fusions.convrot_int8_projection.triton").project_prepared_input_mean_kernel[(triton.cdiv(k, 16), b)](
        x, int8(k, k), scale(k), empty(b, k, dtype=f32), input_features=k, output_features=k, block_n=16, block_k=256, num_warps=4)


class Projection:
    """An int8 projection of b sequences of n rows to h heads, with what its epilogues need."""

    def __init__(self, b, n, k, h, d):
        self.x = (int8(b * n, k), scale(b * n), int8(h * d, k), scale(h * d))
        self.rope = (randn(d), rand(n, d, lo=-1.0), rand(n, d, lo=-1.0))
        self.out, self.scale = empty(b, h, n, d, dtype=i8), empty(b, h, n // 32, dtype=f32)
        self.mean, self.tiles = randn(b, h * d, dtype=f32), lambda: empty(b, h, n // 64, d, dtype=f32)


@case((1, 8192, 3072, 24, 128, 1), (1, 8192, 2048, 32, 64, 2))
def project_query(b, n, k, h, d, per):
    p = Projection(b, n, k, h, d)
    load("fusions.convrot_int8_piper._kernels")._project_query_kernel[(n // 64, h // per, b)](
        *p.x, *p.rope, p.out, p.scale, 0, 0, n, n, n, b, input_features=k, heads=h, head_dim=d, rotary_dim=d, norm_epsilon=1e-6,
        softmax_scale=d ** -0.5, heads_per_program=per, block_k=64, group_m=8, round_rsqrt_to_nearest=False, aligned_projection=True,
        mask_ragged_tail=False, num_warps=4, num_stages=3)


@case((1, 8192, 3072, 24, 128, 1), (1, 8192, 2048, 32, 64, 2))
def project_value(b, n, k, h, d, per):
    p = Projection(b, n, k, h, d)
    load("fusions.convrot_int8_piper._kernels")._project_value_kernel[(n // 64, h // per, b)](
        *p.x, p.mean, empty(b, h, d, n, dtype=i8), empty(b, h, n, dtype=f32), empty(b, h, n, dtype=f16), None, n, n, b, 0, input_features=k, heads=h,
        head_dim=d, heads_per_program=per, block_k=64, group_m=8, is_causal=False, packed_amd=False, aligned_projection=True, num_warps=4, num_stages=3)


@case((1, 8192, 3072, 24, 128, 1), (1, 8192, 2048, 32, 64, 2))
def project_key(b, n, k, h, d, per):
    p = Projection(b, n, k, h, d)
    sums = p.tiles()
    load("fusions.convrot_int8_sage_qk._key_kernels")._project_key_kernel[(n // 64, h // per, b)](
        *p.x, *p.rope, empty(b, h, n, d, dtype=bf16), sums, p.tiles(), p.tiles(), p.mean, b * n, n, n, 0, input_features=k, heads=h,
        heads_per_program=per, head_dim=d, rotary_dim=d, norm_epsilon=1e-6, mean_pool_summary=False, mask_block_lengths=False, aligned_projection=True,
        mask_ragged_tail=False, block_m=64, block_n=per * d, block_k=64, round_rsqrt_to_nearest=False, group_m=8, num_warps=4, num_stages=3)
    load("fusions.convrot_int8_centered_projection._kernels")._mean_finalize_kernel[(b * h, d // 64)](
        sums, empty(b, h, d, dtype=f32), n, n // 64, features=d, block_chunks=triton.next_power_of_2(n // 64), block_d=64, num_warps=4)


@case((1, 8192, 3072, 24, 128, 1, False), (1, 8192, 2048, 32, 64, 2, True))
def project_sparse(b, n, k, h, d, per, mean_pool):
    p = Projection(b, n, k, h, d)
    m = load("fusions.convrot_int8_sparse_piper._kernels")
    m._convrot_project_rmsnorm_rope_quantize_query_kernel[(n // 64, h // per, b)](
        *p.x, *p.rope, p.out, p.scale, p.tiles(), p.mean, b * n, 0, n, n, n, n, input_features=k, heads=h, heads_per_program=per, head_dim=d, rotary_dim=d,
        norm_epsilon=1e-6, softmax_scale=d ** -0.5, mean_pool_summary=mean_pool, mask_block_lengths=False, mask_ragged_tail=False,
        aligned_projection=True, block_m=64, block_n=per * d, block_k=64, group_m=8, num_warps=4, num_stages=3)
    m._convrot_project_quantize_sparse_value_kernel[(n // 64, h // per, b)](
        *p.x, p.mean, empty(b, h, d, n, dtype=i8), empty(b, h, n // 64, dtype=f32), p.tiles(), p.mean, b * n, n, n, 0, input_features=k, heads=h,
        heads_per_program=per, head_dim=d, aligned_projection=True, mask_block_lengths=False, emit_block_mean=True, block_m=64, block_n=per * d,
        block_k=64, group_m=8, num_warps=4, num_stages=3)


@case((16384, 3072, 1000))
def gated(n, d, rows):
    m = load("fusions.ffn.triton")
    base, out, g1, g2 = randn(n, d), randn(n, d), randn(rows, d), randn(rows, d)
    m.apply_indexed_gated_updates(randn(n, d), base, out, m.IndexedGatedUpdates(base, out, g1, g2, randint(0, rows, n), True),
                                  m.IndexedGatedUpdateLayout(d, d, rows, rows), 0)


def convolution():
    """The module, with the shape rule of its validation only."""
    name = "piper_kernels.conv3d.convrot.int8._validation"
    if name not in sys.modules:
        v = types.ModuleType(name)
        v._output_shape = lambda x, n, s, p: (x[0], n, (x[2] + p[4] + p[5] - 3) // s[0] + 1, (x[3] + p[2] + p[3] - 3) // s[1] + 1,
                                              (x[4] + p[0] + p[1] - 3) // s[2] + 1)
        sys.modules[name] = v
    return load("conv3d.convrot.int8.triton"), load("conv3d.convrot.int8._plan")


def conv_plan(p, descriptor):
    return p.ConvolutionExecutionPlan(p.PreparationSchedule(16, 4), p.ConvolutionSchedule(128, 128, 64, 8, 3), descriptor)


@case((256, 256, 5, 96, 96, False), (128, 256, 5, 128, 128, True))
def conv3d(ci, co, t, h, w, descriptor):
    m, p = convolution()
    m.conv3d(randn(1, ci, t, h, w, dtype=f16), int8(co, 27 * ci), scale(co), randn(co, dtype=f16), 64, scale(1), (1, 1, 1),
             execution_plan=conv_plan(p, descriptor), accelerator_backend="cuda", padding=(1, 1, 1, 1, 2, 0), spatial_reflection=descriptor, residual=None)


@case((256, 256, 5, 96, 96, 32))
def conv3d_norm(ci, co, t, h, w, groups):
    m, p = convolution()
    m.group_norm_silu_conv3d(randn(1, ci, t, h, w, dtype=f16), randn(ci, dtype=f16), randn(ci, dtype=f16), groups, 1e-6, int8(co, 27 * ci), scale(co),
                             randn(co, dtype=f16), 256, scale(1), (1, 1, 1), execution_plan=conv_plan(p, False), accelerator_backend="cuda",
                             padding=(1, 1, 1, 1, 2, 0), spatial_reflection=False, residual=randn(1, co, t, h, w, dtype=f16))


@case((8192, 3072), (4096, 12288))
def fp4_scale(m, k):
    load("_triton.nvfp4").dynamic_scale(randn(m, k))


@case((8192, 4096, 256, None), (4096, 12288, 64, "swiglu"))
def fp4_row_maxima(m, k, group, activation):
    f = load("_triton.convrot_nvfp4")
    sizes = f._rotation_chunk_sizes(k, group)
    f._rotated_row_amax_kernel[(m,)](
        randn(m, 2 * k if activation else k), empty(m, dtype=f32), k, chunk_count=sum(x > 0 for x in sizes), chunk_size0=sizes[0], chunk_size1=sizes[1],
        chunk_size2=sizes[2], group_size=group, inverse_sqrt_group=group ** -0.5, activation_fn=activation, accelerator_backend="cuda",
        gguf_quant_type=-1, num_warps=4)


@case((3072, 4096, 32, 256), (4096, 12288, 0, 64))
def fp4_update_maxima(rows, width, rank, group):
    """The pass that finds the new scale of an updated weight (the packing one needs Blackwell)."""
    a, b = (randn(rows, rank), randn(rank, width)) if rank else (randn(rows, width), None)
    bm, bn = (16, max(128, group)) if rank else (4, 256)
    grid = (triton.cdiv(rows, bm), triton.cdiv(width, bn))
    s = rand(rows, width // 16, lo=0.5, hi=2.0).to(torch.float8_e4m3fn)
    one = torch.ones((), device=DEV, dtype=f32)
    load("weights.nvfp4.triton")._update_kernel[grid](
        randint(0, 256, rows, width // 2, dtype=u8), s, one, one.clone(), a, b, empty(grid[0] * grid[1], dtype=f32), rows, width, rank, *a.stride(),
        *(b.stride() if rank else (0, 0)), 1.0, 0.5, 0, group_size=group, has_base=True, has_update=True, matmul=bool(rank), two_level=True,
        swizzled=False, high_first=False, stochastic=False, amax_only=True, block_m=bm, block_n=bn, block_k=32, num_warps=4, enable_fp_fusion=False)
