"""transformer-engine 2.20.2: expert permutation (row maps, permute, unpermute, chunks) with gradients, cross entropy, grouped bias gradients, manifold hyper-connections."""
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
for p in ("transformer_engine", "transformer_engine.common", "transformer_engine.pytorch"):
    package(p)
gemm = types.ModuleType("transformer_engine.pytorch.cpp_extensions.gemm")
gemm.general_gemm = lambda a, b, out_dtype=f32, layout="NT": ((b.t() @ a).to(out_dtype),)
package("transformer_engine.pytorch.cpp_extensions")
sys.modules[gemm.__name__] = gemm
T = lambda n: importlib.import_module("transformer_engine.pytorch.triton." + n)


@case((8192, 64, 8, 2048, False), (4096, 128, 4, 4096, True), (8192, 8, 2, 4096, False))
def permutation(n, e, k, h, pad):
    f = T("permutation")
    ids = torch.rand(n, e, device=DEV).topk(k).indices
    routing = torch.zeros(n, e, device=DEV, dtype=i32).scatter_(1, ids, 1)
    probs = torch.rand(n, e, device=DEV) * routing
    rows = f.make_row_id_map(routing, n, e)
    counts = routing.sum(0)
    out, offs = n * k, None
    if pad:  # each expert's rows begin at a multiple of 16
        padded = (counts + 15) // 16 * 16
        offs, out = ((torch.cumsum(padded, 0) - padded) - (torch.cumsum(counts, 0) - counts)).to(i32), int(padded.sum())
    x = randn(n, h)
    y, _, pp = f.permute_with_mask_map(x, rows, probs, None, offs, n, e, out, h, 0)
    f.permute_with_mask_map(x, rows, None, None if pad else rand(n, h // 128), offs, n, e, out, h, h // 128)
    f.unpermute_with_mask_map(y, rows, None, pp, offs, n, e, h)
    f.unpermute_with_mask_map(y, rows, probs, None, offs, n, e, h)
    f.unpermute_with_mask_map_bwd_with_merging_probs(randn(n, h), rows, y, probs, offs, n, e, out, h)


@case((32768, 64, 2048), (16384, 256, 4096))
def chunks(n, splits, h):
    f = T("permutation")
    sizes = torch.full((splits,), n // splits, device=DEV, dtype=i32)
    order = torch.randperm(splits, device=DEV).to(i32)
    m = f.make_chunk_sort_map(sizes, order, n, splits)
    y, p = f.sort_chunks_by_map(randn(n, h), m, rand(n), n, h, True)
    f.sort_chunks_by_map(y, m, p, n, h, False)


@case((2, 2048, 50304, 0.0, True, True), (1, 2048, 129280, 0.1, False, False))
def cross_entropy(b, s, v, smooth, reduce, overwrite):
    f = T("cross_entropy")
    y = randint(0, v, b, s)
    y[:, ::100] = -100
    loss, saved, stats, target, n, rank, world = f.cross_entropy_forward(randn(b, s, v), y, smooth, reduce, None, -100, overwrite)
    f.cross_entropy_backward(saved, stats, target, n, torch.ones((), device=DEV) if reduce else rand(b, s), smooth, reduce, rank, world, -100)


@case((4096, 32064, 4, 0.1))
def cross_entropy_parts(n, v, world, smooth):
    k = importlib.import_module("transformer_engine.common.triton.cross_entropy")
    x, y = randn(1, n, v), randint(0, v * world, n)
    parts, count, stats = torch.empty(world, n, 4, device=DEV), torch.zeros(1, device=DEV, dtype=i64), torch.empty(n, 2, device=DEV)
    for rank in (0, 1):
        k.cross_entropy_tp_pre_kernel[(n,)](
            X_ptr=x, X_stride_0=x.stride(0), X_stride_1=x.stride(1), X_stride_2=1, saved_input_ptr=torch.empty_like(x), Y_ptr=y, local_data_ptr=parts[rank], n_non_ignore=count,
            rank=rank, n_cols=v, n_rows_1=n, ignore_idx=-100, COUNT_NON_IGNORE=True, COMPUTE_X_SUM=True, COPY_INPUT=True, BLOCK_SIZE=32768, num_warps=32)
    parts[2:] = parts[:2]
    k.cross_entropy_tp_post_kernel[(n,)](gathered_data_ptr=parts, Y_ptr=y, loss_ptr=torch.empty(n, device=DEV), stats_ptr=stats, world_size=world, n_rows=n, n_cols=v,
                                         ignore_idx=-100, label_smoothing=smooth, num_warps=1)


@case((16384, 4096, 16), (32768, 2048, 64))
def grouped_bias(n, h, groups):
    f = T("grouped_dbias_dscales")
    cuts = torch.randperm(n, device=DEV)[:groups - 1].sort().values
    offs = torch.cat([cuts.new_zeros(1), cuts, cuts.new_full((1,), n)]).to(i64)
    dy = randn(n, h)
    f.compute_grouped_dbias(dy, offs, groups)
    f.compute_grouped_dbias_dscales(dy, rand(n), randn(groups, h), offs)


@case((12300, 1001))
def pad(a, b):
    T("pad").pad_columnwise_scale_inv(randint(0, 256, a, b, dtype=torch.uint8))


@case((4096, 1, 2048, True, False), (2048, 2, 4096, False, True), (4096, 1, 1792, True, True))
def mhc(s, b, c, norm, split):
    f = T("mhc")
    n = 4
    x, phi = randn(s, b, c, n, grad=True), randn(24, n * c, dtype=f32, scale=0.01, grad=True)
    alpha, beta = rand(3, lo=0.5, grad=True), randn(1, 24, dtype=f32, scale=0.1, grad=True)
    w = randn(n * c, dtype=f32, grad=True) if norm else None
    bwd(f.mhc_fused_projection(x.view(s * b, n * c), phi, norm_weight=w, use_split_k=split))
    h, ms = randn(s * b, 32, dtype=f32, grad=True), rand(s * b, lo=0.5, grad=True)
    bwd(f.mhc_fused_scale(h, alpha, beta, ms, n))
    res = randn(s, b, n, n, dtype=f32, grad=True)
    bwd(f.mhc_fused_sinkhorn(res, n, recompute_hist=True))
    bwd(f.mhc_fused_sinkhorn(res, n, recompute_hist=False))
    bwd(f.mhc_fused_aggregate(x, rand(s, b, n, grad=True), n))
    bwd(f.mhc_fused_expand_combine(randn(s, b, c, grad=True), randn(c, grad=True) if norm else None, rand(s, b, n, grad=True), x, rand(s, b, n, n, grad=True), n))
