"""flashlib 0.4.0: nearest neighbours (insertion and sort-merge), inverted-file and product-quantised search, graph search, k-means, spanning trees, components."""
from _common import *
import importlib
M = lambda n: importlib.import_module("flashlib." + n)


@case((1, 8192, 8192, 64, 10), (1, 4096, 100000, 128, 32), (2, 2048, 20000, 32, 5))
def knn(b, n, m, d, k):
    x, c = randn(b, n, d, dtype=f32), randn(b, m, d, dtype=f32)
    d_ = M("primitives.knn.triton.dispatch")
    d_.flash_knn_triton(x, c, k)
    d_.flash_knn_triton_small_n(x, c, k)
    d_.flash_knn_triton_large_n(x, c, k)


@case()
def knn_bf16():
    M("primitives.knn.triton.dispatch").flash_knn_triton(randn(1, 8192, 128), randn(1, 65536, 128), 16)


def lists(nlist, mean):
    """Offsets of lists of uneven length, and the longest."""
    n = torch.randint(mean // 2, mean + mean // 2, (nlist,), generator=torch.Generator().manual_seed(1))
    o = torch.zeros(nlist + 1, dtype=torch.int32)
    o[1:] = n.cumsum(0)
    return o.to(DEV), int(o[-1]), int(n.max())


def probes(q, nlist, nprobe):
    return torch.stack([torch.randperm(nlist)[:nprobe] for _ in range(q)]).to(torch.int32).to(DEV)


@case((512, 64, 8), (256, 128, 16))
def ivf_flat(nq, d, nprobe):
    off, n, longest = lists(1024, 100)
    q, data, p = randn(nq, d), randn(n, d), probes(nq, 1024, nprobe)
    M("primitives.ivf_flat.triton.fine_scan").ivf_fine_scan(q, data, p, off, 10, max_list_len=longest)
    M("primitives.ivf_flat.triton.fine_scan_gemm").ivf_fine_scan_gemm(q, data, p, off, 10)


@case((512, 64, 8, True), (512, 128, 16, False))
def ivf_pq(nq, d, m, res):
    off, n, longest = lists(1024, 128)
    q, cent, p = randn(nq, d, dtype=f32), randn(1024, d, dtype=f32), probes(nq, 1024, 16)
    books, codes = randn(m, 256, d // m, dtype=f32), randint(0, 256, n, m, dtype=torch.uint8)
    lut = M("primitives.ivf_pq.triton.lut").pq_build_lut(q, cent, p, books, by_residual=res)
    M("primitives.ivf_pq.triton.fine_scan").ivf_pq_fine_scan(codes, p, off, lut, 10, by_residual=res, max_list_len=longest)
    M("primitives.ivf_pq.triton.fine_scan_batch").ivf_pq_fine_scan_batch(codes, p, off, lut, 10, by_residual=res, max_list_len=longest)


@case((512, 64, 8, True), (1024, 128, 32, False))
def ivf_pq_products(nq, d, m, res):
    off, n, longest = lists(1024, 128)
    q, cent, p = randn(nq, d), randn(1024, d), probes(nq, 1024, 16)
    books, codes = randn(m, 256, d // m), randint(0, 256, n, m, dtype=torch.uint8)
    M("primitives.ivf_pq.triton.fine_scan_gemm").ivf_pq_fine_scan_gemm(q, cent, books, codes, p, off, 10, by_residual=res)
    M("primitives.ivf_pq.triton.fine_scan_ws").ivf_pq_fine_scan_ws(q, cent, books, codes, p, off, 10, by_residual=res, max_list_len=longest)


@case((1024, 64, 1), (512, 128, 2))
def cagra(nq, d, width):
    n = 50000
    M("primitives.cagra.triton.search").cagra_traverse(randn(nq, d), randn(n, d), randint(0, n, n, 32, dtype=i32), randint(0, n, nq, 32, dtype=i32), 10, itopk=64, search_width=width, max_iters=24)


@case((1, 100000, 64, 256), (4, 20000, 128, 1000))
def kmeans(b, n, d, k):
    x, c = randn(b, n, d, dtype=f32), randn(b, k, d, dtype=f32)
    a, u = M("primitives.kmeans.triton.assign"), M("primitives.kmeans.triton.update")
    ids = randint(0, k, b, n, dtype=i32)
    a.euclid_assign_triton(x.to(bf16), c.to(bf16))
    a.cosine_assign_triton(x.to(bf16), c.to(bf16))
    u.triton_centroid_update_euclid(x, ids, c)
    u.triton_centroid_update_sorted_euclid(x, ids, c)
    u.triton_centroid_update_sorted_cosine(x, ids, c)
    u.triton_lloyd_centroid_step_euclid(x, ids, c)


@case(2048, 6000)
def mst(n):
    x = randn(n, 16, dtype=f32)
    core = rand(n)
    m = M("kernels.distance.triton.mrd").triton_pairwise_mrd(x, core)
    M("kernels.flash_mst.triton.flash_mst").flash_mst(m.float().fill_diagonal_(float("inf")))


@case((100000, 300000))
def components(n, e):
    M("kernels.flash_mst.triton.flash_mst").flash_cc_from_edges(randint(0, n, e, dtype=i32), randint(0, n, e, dtype=i32), n)


@case((50000, 15))
def sparse_mst(n, k):
    r = torch.arange(n, device=DEV, dtype=i32).repeat_interleave(k)
    c = torch.randint(0, n, (n * k,), device=DEV, dtype=i32)
    c[::k] = (torch.arange(n, device=DEV, dtype=i32) + 1) % n
    M("primitives.hdbscan.triton.sparse_mst").sparse_boruvka_mst(r, c, rand(n * k), n)


@case()
def distances():
    x = randn(8192, 64, dtype=f32)
    p = M("kernels.distance.triton.pairwise")
    p.pairwise_l2sq(x)
    p.triton_rbf_kernel(x, 0.01)
    M("kernels.distance.triton.affinity").triton_affinity_with_degree(x, 0.01)
    M("kernels.distance.triton.knn_gather_l2sq").triton_knn_gather_sqdist(randn(1, 8192, 128), randn(1, 50000, 128), randint(0, 50000, 1, 8192, 32))
    M("kernels.distance.triton.mrd").triton_fused_mrd_edges(rand(50000, 16), randint(0, 50000, 50000, 16, dtype=i32), rand(50000))


@case()
def dbscan():
    M("primitives.dbscan.triton.dbscan").flash_dbscan(randn(20000, 2, dtype=f32), 0.05)


@case("seq", "insert")
def lru(strategy):
    total, cached, k = 65536, 4096, 256
    slot = torch.full((total,), -1, device=DEV, dtype=i32)
    ids = torch.randperm(total)[:cached].to(torch.int32).to(DEV)
    slot[ids.long()] = torch.arange(cached, device=DEV, dtype=i32)
    out = [zeros(k, dtype=i32) for _ in range(3)]
    M("kernels.slot_cache.triton.lru_ensure").lru_ensure(randint(0, total, k, dtype=i32), slot, ids, randint(0, 99, cached, dtype=i32), torch.tensor(100, device=DEV, dtype=i32), *out, torch.zeros((), device=DEV, dtype=i64), strategy=strategy)
