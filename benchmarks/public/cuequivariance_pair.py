"""cuequivariance-ops-cu12 and -torch-cu12 0.13.0: gated pairs of products, layer norm with transposition, projections of pairs to attention biases, attention with pair bias; forward and gradients."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

for p in ("cuequivariance_ops", "cuequivariance_ops.triton", "cuequivariance_ops_torch"):
    package(p)
C = lambda n: importlib.import_module("cuequivariance_ops.triton." + n)
cdiv = lambda a, b: -(-a // b)


@case((512 * 512, 128, 128, bf16, 0, False, True), (384 * 384, 128, 128, f32, 1, False, False), (384 * 384, 256, 256, bf16, 0, True, True), (256 * 256, 128, 128, f32, 2, True, False))
def gated_gemm(m, n, k, dtype, precision, two, extras):
    f = C("gated_gemm_triton")
    x1, x2 = randn(m, k, dtype=dtype), randn(m, k, dtype=dtype) if two else None
    w1, w2 = randn(n, k, dtype=dtype, scale=0.08), randn(n, k, dtype=dtype, scale=0.08)
    b1, b2 = (randn(n, dtype=dtype), randn(n, dtype=dtype)) if extras else (None, None)
    mask = rand(m, dtype=dtype) if extras else None
    tm, tn, tk = (128, 64, 32) if dtype == bf16 else (64, 32, 32)
    o = dict(TILE_M=tm, TILE_N=tn, TILE_K=tk, PRECISION=precision, APPLY_MASK=extras, TRANSPOSE_OUT=extras, TWO_INPUTS=two, HAS_B1=extras, HAS_B2=extras, NEEDS_INT64=False,
             num_stages=4 if dtype == bf16 else 3, num_warps=4)
    grid = (cdiv(m, tm), n // tn, 1)
    out = zeros(n, m, dtype=dtype) if extras else zeros(m, n, dtype=dtype)
    f.fused_sigmoid_gated_dual_gemm_forward_kernel[grid](x1, x2, w1, w2, b1, b2, mask, m, n, k, out, **o)
    f.fused_sigmoid_gated_dual_gemm_backward_pregemm_kernel[grid](
        torch.randn_like(out), x1, x2, w1, w2, b1, b2, mask, m, n, k, zeros(m, n, dtype=dtype), zeros(m, n, dtype=dtype),
        torch.zeros(n // tn, m, device=DEV) if extras else None, **o)


@case((1, 512 * 512, 128, 0, bf16), (512, 512, 128, 1, bf16), (512, 512, 128, 2, f32), (384, 384, 128, 3, bf16), (384, 384, 128, 4, f32))
def layer_norm_transpose(b, n, d, layout, dtype):
    f = C("fused_layer_norm_triton")
    bnd, bdn, dbn = (b, n, d), (b, d, n), (d, b, n)
    xs, os_ = [(bnd, bnd), (bdn, bnd), (bnd, bdn), (dbn, bnd), (bnd, dbn)][layout]
    x, out = randn(*xs, dtype=dtype), zeros(*os_, dtype=dtype)
    w, bb, mean, rstd = randn(d, dtype=f32), randn(d, dtype=f32), zeros(b, n, dtype=f32), zeros(b, n, dtype=f32)
    o = dict(ELEMENTWISE_AFFINE=True, LAYOUT=layout, NEEDS_INT64=False)
    single = 64 if layout in (1, 3) else 32
    f.layer_norm_transpose_forward_single_pass_kernel[(cdiv(n, single), b, 1)](x, w, bb, out, mean, rstd, b, n, D=d, EPS=1e-5, TILE_N=single, TILE_D=d, num_warps=2, **o)
    tn = 64 if dtype == bf16 else 32
    f.layer_norm_transpose_forward_kernel[(cdiv(n, tn), b, 1)](x, w, bb, out, mean, rstd, b, n, D=d, EPS=1e-5, TILE_N=tn, TILE_D=64, num_warps=8, **o)
    go, parts = torch.randn_like(out), (b, cdiv(n, tn), d)
    f.layer_norm_transpose_backward_kernel[(cdiv(n, tn), b, 1)](go, x, w, mean, rstd, torch.empty_like(x), zeros(*parts, dtype=f32), zeros(*parts, dtype=f32), b, n, D=d,
                                                                TILE_N=tn, TILE_D=64, num_warps=8, **o)
    f.layer_norm_transpose_backward_single_pass_kernel[(cdiv(n, tn), b, 1)](go, x, w, mean, rstd, torch.empty_like(x), zeros(*parts, dtype=f32), zeros(*parts, dtype=f32), b, n,
                                                                            D=d, TILE_N=tn, TILE_D=d, num_warps=8, **o)


@case((512 * 512, 384, True, False), (384 * 384, 384, False, True))
def row_norm_gradient(rows, n, second, stats):
    k = C("trimul_ln1_vjp_triton").trimul_ln1_vjp_kernel
    x = randn(rows, n, dtype=f32)
    programs = cdiv(rows, 64)
    mean, rstd = x.mean(1), torch.rsqrt(x.var(1, unbiased=False) + 1e-5)
    k[(programs,)](x, randn(n, dtype=f32), randn(rows, n), randn(rows, n), torch.empty_like(x), zeros(programs, n, dtype=f32), zeros(programs, n, dtype=f32), mean, rstd, rows, 1e-5,
                   N=n, N_PAD=512, ROWS_PER_PROGRAM=64, XBLOCK=4, HAS_B=second, USE_STATS=stats, NUM_STAGES=2, num_warps=1)


@case((512 * 512, 128), (384 * 384, 256))
def join_norm_gate(rows, d):
    k = C("pairformer_triangle_multiplication").pairformer_join_norm_gate_kernel
    k[(cdiv(rows, 32),)](randn(d, rows), randn(d, rows), randn(rows, d), randn(d), randn(d), zeros(rows, d), rows, D=d, EPS=1e-5, BLOCK_ROWS=32, TILE_D=64, num_warps=4, num_stages=2)


@case((1, 512, 384))
def projection_gradient(b, s, c):
    f = importlib.import_module("cuequivariance_ops_torch.trimul_a1_projection_vjp")
    m, h = b * s * s, 256
    feature = lambda: randn(h, m)
    turned = (m, s * s, 1, s)
    for a_tr, b_tr in ((False, False), (True, False), (False, True)):
        sa, sb = (turned if t else (m, s * s, s, 1) for t in (a_tr, b_tr))
        f._gate_vjp_producer_kernel[(512 // 2, b * (s // 8) * (s // 128))](
            randn(2 * h, m), randn(2 * h), rand(m, dtype=bf16), feature(), feature(), feature(), feature(), *sa, *sb, zeros(4 * h, m), zeros(m // 128, 4 * h, dtype=f32), m, s, 2, 8, 128,
            a_tr, b_tr, False, num_warps=4)


@case((512 * 512, 512), (384 * 384, 384))
def projection(rows, c):
    f = importlib.import_module("cuequivariance_ops_torch.trimul_sm120_projection_triton")
    grid = lambda meta: (cdiv(rows, meta["BM"]) * (512 // meta["BN"]),)
    f._sm120_projection_kernel[grid](randn(rows, c), randn(512, c, scale=0.05), randn(512, c, scale=0.05), randn(512), randn(512), rand(rows, dtype=bf16), zeros(512, rows), rows, c)


@case((1, 512, 16, 128, bf16, "tf32"), (1, 384, 8, 128, f32, "tf32"), (2, 256, 4, 64, bf16, "tf32x3"))
def pair_bias(b, n, h, d, dtype, prec):
    f, r = C("pair_repr_to_attention_bias"), C("pair_repr_to_attention_bias_backward")
    z, w, pb = randn(b, n, n, d, dtype=dtype), randn(h, d, dtype=dtype, scale=0.08), randn(h, dtype=dtype)
    lw, lb, mask = randn(d, dtype=dtype), randn(d, dtype=dtype), (rand(b, n) < 0.9).to(dtype)
    out, proj = zeros(b, h, n, n, dtype=dtype), zeros(b, h, n, n, dtype=dtype)
    hb = min(16, h)
    heads = dict(NUM_HEADS=h, NUM_HEADS_PER_BLK=hb, NEEDS_INT64=False)
    grid = (cdiv(n, 64), n, cdiv(h, hb) * b)
    prepared, gs, bs = zeros(d, hb, dtype=f32), zeros(hb, dtype=f32), zeros(hb, dtype=f32)
    f._pair_repr_to_attention_bias_prepare_affine_weights_kernel[(1,)](w, lw, lb, prepared, gs, bs, NUM_HEADS=h, PREPARED_HEADS=hb, DIM_Z=d, BLOCK_Z=d, num_warps=4, num_stages=1)
    for ready in (False, True):
        f.pair_repr_to_attention_bias_fused_forward_kernel[grid](
            z, mask, prepared if ready else w, pb, lw, lb, gs, bs, n, n, 1, out, proj, TILE_V=64, TILE_K=32, PREPARED_HEADS=hb, DIM_Z=d, INF=1e6, EPS=1e-5, HAS_LN_WEIGHT=True, HAS_LN_BIAS=True,
            HAS_PROJ_BIAS=True, MASK_WITH_MULTIPLICITY=False, CACHE_Z_PROJ=not ready, INPUT_PRECISION=prec, USE_PREPARED_WEIGHTS=ready, num_warps=4, num_stages=3, **heads)
    mean, rstd = zeros(b, n, n, dtype=f32), zeros(b, n, n, dtype=f32)
    f.pair_repr_to_attention_bias_general_forward_kernel[grid](
        z, mask, w, pb, lw, lb, n, n, 1, out, torch.empty_like(z), proj, mean, rstd, TILE_V=64, TILE_K=32, DIM_Z=d, INF=1e6, EPS=1e-5, ELEMENTWISE_AFFINE=True, IS_TRAINING=True, HAS_BIAS=True,
        MASK_WITH_MULTIPLICITY=False, INPUT_PRECISION=prec, CACHE_Z_PROJ=True, num_warps=4, num_stages=3, **heads)
    f.pair_repr_to_attention_bias_from_normalized_forward_kernel[(cdiv(n, 64), n, cdiv(h, 16) * b)](
        z, rand(b, n, n) < 0.9, w, pb, n, n, out, TILE_V=64, TILE_K=32, NUM_HEADS=h, NUM_HEADS_PER_BLK=16, DIM_Z=d, PAIRWISE_FILL_VALUE=-1e6, NATIVE_LOW_PRECISION_DOT=dtype != f32,
        NEEDS_INT64=False, num_warps=4, num_stages=3)
    f.pair_repr_to_attention_bias_cached_forward_kernel[(cdiv(n, 128), n, cdiv(h, hb) * b)](proj, mask, n, n, 1, out, TILE_V=128, INF=1e6, MASK_WITH_MULTIPLICITY=False,
                                                                                            num_warps=8, num_stages=2, **heads)
    rows = b * n * n
    per = cdiv(rows, 256 * 16) * 16
    programs = cdiv(rows, per)
    go = randn(b, h, n, n, dtype=dtype)
    pw, plw, plb, ppb = zeros(programs, h, d, dtype=f32), zeros(programs, d, dtype=f32), zeros(programs, d, dtype=f32), zeros(programs, h, dtype=f32)
    r.pair_repr_to_attention_bias_recompute_backward_partial_kernel[(programs,)](
        go, z, w, lw, lb, torch.empty_like(z), pw, plw, plb, ppb, TOTAL_ROWS=rows, ROW_PLANE=n * n, NUM_HEADS=h, BLOCK_HEADS=16, DIM_Z=d, BLOCK_Z=d, ROWS_PER_PROGRAM=per, BLOCK_ROWS=16,
        EPS=1e-5, HAS_PROJ_BIAS=True, INPUT_PRECISION=prec, num_warps=8 if d >= 128 else 4, num_stages=1)
    r.pair_repr_to_attention_bias_recompute_backward_reduce_kernel[(h,)](pw, plw, plb, ppb, torch.empty_like(w), torch.empty_like(lw), torch.empty_like(lb), torch.empty_like(pb),
                                                                         NUM_PROGRAMS=programs, NUM_HEADS=h, DIM_Z=d, BLOCK_Z=d, HAS_PROJ_BIAS=True, num_warps=8 if d >= 128 else 4, num_stages=1)
    r.pair_repr_to_attention_bias_layer_norm_projection_backward_fused_kernel[(264,)](
        z, randn(rows, h, dtype=dtype), mean, rstd, lw, lb, w, torch.empty_like(z), zeros(264, h, d, dtype=f32), zeros(264, h, dtype=f32), zeros(264, d, dtype=f32), zeros(264, d, dtype=f32), rows, h, d,
        HAS_PROJECTION_BIAS=True, BLOCK_ROWS=32, BLOCK_PAIR_DIM=d, BLOCK_HEADS=16, INPUT_PRECISION=prec, num_warps=8, num_stages=2)


@case((1, 16, 512, 24, 256, "layer_norm", bf16), (1, 16, 768, 48, 128, "layer_norm", f32), (1, 16, 512, 48, 384, "rms_norm", bf16), (2, 8, 384, 32, 128, "layer_norm", f32))
def attention_pair_bias(b, h, n, dh, dz, norm, params):
    f = importlib.import_module("cuequivariance_ops_torch._apb_flash_launch")
    c, layer = h * dh, norm == "layer_norm"
    s, z, mask = randn(b, n, c), randn(b, n, n, dz), (rand(b, n) < 0.9).to(bf16)
    q, k, v = (randn(b, h, n, dh) for _ in range(3))
    wz, wg, wo = (randn(*shape, dtype=params, scale=0.05) for shape in ((h, dz), (c, c), (c, c)))
    lw, lb = randn(dz, dtype=params), randn(dz, dtype=params) if layer else None
    bz, bg, bo = randn(h, dtype=params), randn(c, dtype=params), randn(c, dtype=params)
    o = dict(b_proj_z=bz, b_proj_g=bg, b_proj_o=bo, norm_kind=norm)
    out, *saved = f.run_fwd_narrow(s, q, k, v, z, mask, wz, wg, wo, lw, lb, **o)
    f.run_bwd_narrow(*saved, s, q, k, v, z, mask, wz, wg, wo, lw, lb, torch.randn_like(out), **o)


@case((1, 512, 16, 128), (1, 384, 8, 256))
def attention_pair_bias_rest(b, n, h, dz):
    f = importlib.import_module("cuequivariance_ops_torch._apb_flash_launch")
    f._pair_update_finalize_masked_bias_kernel[(cdiv(b * n * n, 32),)](
        randn(b * n * n, dz), randn(b * n * n, dz), (rand(b, n) < 0.9).to(bf16), randn(dz), randn(h, dz, scale=0.08), randn(h), zeros(b * n * n, dz), zeros(b, h, n, n), b * n * n, n, BLOCK_R=32,
        TILE_K=32, BLOCK_H=16, H=h, DZ=dz, EPS=1e-5, INF=1e6, HAS_BZ=True, num_warps=4, num_stages=3)
    m, dh = 4096, 32
    c = h * dh
    f._dout_gate_bwd_delta_kernel[(cdiv(m, 32), h)](randn(m, c), randn(c, c, scale=0.05), randn(m, c, dtype=f32), randn(m, c, dtype=f32), zeros(m, c, dtype=f32), zeros(m, c), zeros(h, m, dtype=f32),
                                                    m, BLOCK_M=32, BLOCK_K=64, BLOCK_D=32, H=h, DH=dh, C=c, ROUND_FP16=False, num_warps=4, num_stages=3)
