"""flash-maxsim 0.3.0: MaxSim scores (padded, packed, split, int8, reused queries, wide embeddings), their backwards, Chamfer distances."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
import flash_maxsim as fm

M = lambda name: importlib.import_module("flash_maxsim." + name)


def unit(*s, dt=f16, grad=False):
    return torch.nn.functional.normalize(randn(*s, dtype=f32), dim=-1).to(dt).requires_grad_(grad)


def lens(n, hi):
    return randint(hi // 2, hi + 1, n, dtype=i32)


def cu(lengths):
    return torch.nn.functional.pad(lengths.cumsum(0), (1, 0)).to(i32)


@case((480, 32, 2048, 128, f16), (240, 128, 4096, 96, bf16))
def small(b, lq, ld, d, dt):
    fm.flash_maxsim(unit(lq, d, dt=dt), unit(b, ld, d, dt=dt), lens(b, ld))


@case((4096, 32, 180, 128, f16), (512, 1030, 1030, 128, bf16), (4096, 32, 300, 96, f16))
def scores(b, lq, ld, d, dt):
    fm.flash_maxsim(unit(lq, d, dt=dt), unit(b, ld, d, dt=dt), lens(b, ld))


@case((16, 100, 32, 300, 128),)
def batched(nq, b, lq, ld, d):
    fm.flash_maxsim_batched(unit(nq, lq, d), unit(nq, b, ld, d), lens(nq * b, ld), shared_docs=False, query_lengths=lens(nq, lq))


@case((512, 32, 300, 768), (128, 128, 1030, 1024))
def wide(b, lq, ld, d):
    fm.flash_maxsim(unit(lq, d), unit(b, ld, d), lens(b, ld))


@case((32, 64, 32, 180, 768),)
def wide_train(nq, b, lq, ld, d):
    bwd(fm.flash_maxsim_batched_train(unit(nq, lq, d, grad=True), unit(b, ld, d, grad=True)))


@case((4096, 32, 300, 128), (256, 1024, 1030, 128))
def persistent(b, lq, ld, d):
    fm.flash_maxsim_persistent(unit(lq, d), unit(b, ld, d), lens(b, ld))


@case((4096, 32, 300, 128), (256, 1024, 1030, 128))
def heuristic(b, lq, ld, d):
    M("flash_maxsim_exp").flash_maxsim_heuristic(unit(lq, d), unit(b, ld, d), lens(b, ld))


@case((4096, 128, 64, 180, 128), (256, 1024, 128, 1030, 128))
def sparse(b, lq, k, ld, d):
    idx = torch.rand(b, lq, device=DEV).topk(k, dim=1).indices.sort(dim=1).values
    M("flash_maxsim_sparse").flash_maxsim_sparse(unit(lq, d), unit(b, ld, d), idx, lens(b, ld))


@case((256, 1024, 1030, 128), (4096, 32, 300, 128))
def qreuse(b, lq, ld, d):
    fm.flash_maxsim_qreuse(unit(lq, d), unit(b, ld, d), lens(b, ld))


@case((32, 256, 8192, 128, 16), (64, 512, 2050, 128, 8))
def splitk(b, lq, ld, d, splits):
    fm.flash_maxsim_splitk(unit(lq, d), unit(b, ld, d), lens(b, ld), num_splits=splits)


@case((1024, 32, 300, 128), (512, 120, 1030, 128))
def pairs_varlen(n, lq, ld, d):
    a, b = lens(n, lq), lens(n, ld)
    fm.flash_maxsim_varlen(unit(int(a.sum()), d), unit(int(b.sum()), d), cu(a), cu(b), lq, ld)


@case((2048, 32, 300, 128), (256, 700, 1030, 128))
def pairs_dense(n, lq, ld, d):
    fm.flash_maxsim_pairs_dense(unit(n, lq, d), unit(n, ld, d), lens(n, lq), lens(n, ld))


@case((4096, 32, 300, 128), (512, 700, 1030, 96))
def packed(b, lq, ld, d):
    n = lens(b, ld)
    x = unit(int(n.sum()), d)
    fm.flash_maxsim_packed(unit(lq, d), x, cu(n))
    fm.flash_maxsim_rerank(unit(min(lq, 128), d), x, cu(n), ld)


@case((4096, 32, 300, 128), (256, 1000, 1030, 128))
def int8(b, lq, ld, d):
    q, n = unit(lq, d), lens(b, ld)
    s = rand(b, ld, 1, lo=0.001, hi=0.002, dtype=f16)
    fm.flash_maxsim_int8(q, randint(0, 256, b, ld, d, dtype=torch.uint8), s, -128 * s, n)
    x = randint(-127, 128, b, ld, d, dtype=torch.int8)
    fm.flash_maxsim_int8_symmetric(q, x, s, n)
    fm.flash_maxsim_int8x8(q, x, s, doc_lengths=n)


@case((1000, 32, 180, 128),)
def train_one(b, lq, ld, d):
    bwd(fm.flash_maxsim_train(unit(lq, d, grad=True), unit(b, ld, d, grad=True)))


def forced(path, function, *a, **k):
    os.environ["FLASH_BWD_PATH"] = path
    try:
        bwd(function(*a, **k))
    finally:
        os.environ.pop("FLASH_BWD_PATH", None)


@case(("atomic_unified", 128, 128, 32, 180, 128, bf16), ("invgrid", 128, 128, 32, 180, 128, f16), ("atomic", 32, 128, 32, 180, 128, f16),
      ("sparse_dd", 128, 128, 32, 180, 128, f16), ("atomic_unified", 16, 64, 128, 1030, 128, f16))
def train(path, nq, b, lq, ld, d, dt):
    forced(path, fm.flash_maxsim_batched_train, unit(nq, lq, d, dt=dt, grad=True), unit(b, ld, d, dt=dt, grad=True),
           doc_lengths=lens(b, ld), query_lengths=lens(nq, lq))


@case(("atomic", 16, 64, 32, 180, 128), ("sparse_dd", 32, 32, 32, 300, 128))
def train_own_docs(path, nq, b, lq, ld, d):
    forced(path, fm.flash_maxsim_batched_train, unit(nq, lq, d, grad=True), unit(nq, b, ld, d, grad=True), shared_docs=False)


@case(("atomic_unified", 128, 128, 32, 180, 128), ("invgrid", 64, 64, 32, 300, 96))
def train_int8(path, nq, b, lq, ld, d):
    forced(path, fm.flash_maxsim_int8_batched_train, unit(nq, lq, d, grad=True), unit(b, ld, d, grad=True))


@case((16, 64, 32, 180, 128),)
def train_inverse_grid(nq, b, lq, ld, d):
    bwd(M("flash_maxsim_invgrid_proposal").flash_maxsim_invgrid_train(unit(nq, lq, d, grad=True), unit(nq, b, ld, d, grad=True), shared_docs=False))


@case((32, 128, 32, 180, 128),)
def train_fused(nq, b, lq, ld, d):
    bwd(M("flash_maxsim_fusedbwd_proposal").flash_maxsim_batched_train_fused(unit(nq, lq, d, grad=True), unit(b, ld, d, grad=True)))


@case((128, 128, 32, 180, 128, None), (64, 64, 32, 300, 256, 64))
def train_sorted(nq, b, lq, ld, d, block):
    # the wrapper's other launch lacks arguments, so only its own kernel, and winners from torch (the same whichever compiler ran the forward)
    q, x = unit(nq, lq, d), unit(b, ld, d)
    best = torch.stack([(q.reshape(-1, d) @ y.T).argmax(-1) for y in x]).reshape(b * nq, lq).to(i32)
    M("flash_maxsim_sortbwd_proposal")._launch_bwd_dD_sorted(q, best, randn(nq, b, dtype=f32), nq, b, lq, ld, d, True, block_d=block)


@case((64, 128, 32, 180, 128),)
def contrastive(nq, nd, lq, ld, d):
    M("flash_maxsim_contrastive").colbert_contrastive_step(unit(nq, lq, d, grad=True), unit(nd, ld, d, grad=True))


@case((32768, 30000, 3), (16384, 8192, 64))
def chamfer(n, m, d):
    fm.flash_chamfer_invgrid_train(randn(n, d, dtype=f32, grad=True), randn(m, d, dtype=f32, grad=True)).backward()
    fm.flash_chamfer(randn(n, d, dtype=f32), randn(m, d, dtype=f32))


@case((16384, 2048, 3), (8192, 1000, 6))
def chamfer_l1(n, m, d):
    M("flash_chamfer").flash_chamfer_one_direction(randn(n, d, dtype=f32), randn(m, d, dtype=f32), metric="l1")
