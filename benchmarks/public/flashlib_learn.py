"""flashlib 0.4.0: t-SNE gradients, UMAP graph and layout steps, random forest histograms and splits, logistic regression, naive Bayes, scaling, PCA, norms."""
from _common import *
import importlib
M = lambda n: importlib.import_module("flashlib." + n)


@case(4096, 10000)
def tsne(n):
    k = M("primitives.tsne.triton.grad")
    y, p = randn(n, 2, dtype=f32), rand(n, n) / n / n
    q = k.triton_tsne_qsum(y)
    k.triton_tsne_grad(y, p, q)
    b = M("primitives.tsne.triton.grad_blocked")
    b.math = __import__("math")   # the module forgets to import it
    b.triton_tsne_grad_blocked(y, b.block_p_matrix(p), q, n)


@case()
def tsne_steps():
    M("primitives.tsne.triton.train").triton_tsne(randn(2048, 32, dtype=f32), n_iter=2)


@case((50000, 15), (20000, 30))
def umap(n, k):
    d = rand(n, k).sort(1).values + 0.1
    idx = randint(0, n, n, k)
    M("primitives.umap.triton.smooth_knn_dist").triton_smooth_knn_dist(d)
    M("primitives.umap.triton.fuzzy_simplicial_set").triton_umap_fuzzy_simplicial_set(idx, d)
    emb = randn(n, 2, dtype=f32)
    head = torch.arange(n, device=DEV, dtype=i32).repeat_interleave(k)
    tail = idx.reshape(-1).to(i32)
    eps = rand(n * k, lo=1.0, hi=5.0)
    M("primitives.umap.triton.sgd_step").triton_flash_umap_sgd_step(emb, head.long(), tail.long(), eps, eps / 5, eps.clone(), eps / 5, 3, 0.5)
    M("primitives.umap.triton.sgd_legacy").triton_umap_sgd_step(emb, head, tail, randint(0, n, n * k, dtype=i32), eps, 3, 0.5)


@case((100000, 32, 256, 2, 3), (300000, 16, 128, 8, 2))
def forest(n, d, active, bins, classes):
    k = M("primitives.random_forest.triton.rf_kernels")
    xb, y = randint(0, 64, n, d, dtype=torch.uint8), randint(0, classes, n, dtype=i32)
    node = randint(0, active, n, dtype=i32)
    k._build_node_histograms(xb, y, node, active, 64, classes)
    k._build_node_histograms_hybrid(xb, y, randint(0, 64, n, dtype=i32), 64, 64, classes)


@case((8, 50000, 32, 512))
def forest_split(trees, n, d, active):
    k = M("primitives.random_forest.triton.rf_kernels")
    off = torch.arange(trees, device=DEV) * active
    t = trees * active
    k._partition_samples_fused(randint(0, active, trees, n, dtype=i32), randint(0, d, t, dtype=i32), randint(0, 64, t, dtype=i32), randint(0, 2, t, dtype=i32), randint(0, active // 2, t, dtype=i32), off, randint(0, 64, trees * n, d, dtype=torch.uint8))


@case()
def forest_hist():
    M("primitives.random_forest.triton.histogram").triton_rf_histogram(randint(0, 256, 100000, 16, dtype=torch.uint8), randn(100000, dtype=f32), 16)


@case((200000, 64), (50000, 512))
def logreg(n, d):
    x, y = randn(n, d, dtype=f32), randint(0, 2, n).float()
    M("primitives.logistic_regression.triton.logistic_regression").triton_logreg_fwd_bwd(x, randn(d, dtype=f32), torch.tensor(0.1, device=DEV), y)


@case((200000, 64), (50000, 512))
def linreg(n, d):
    k = M("primitives.linear_regression.triton.fused_kernels")
    x, y = randn(n, d, dtype=f32), randn(n, dtype=f32)
    k.cast_and_xty(x, y)
    k.fused_refine_from_bf16(x.to(bf16), y, randn(d, dtype=f32))


@case((100000, 256, 10), (20000, 2000, 20))
def bayes(n, d, classes):
    k = M("primitives.multinomial_nb.triton.nb_core")
    k.nb_count_features(randint(0, 8, n, d).float(), randint(0, classes, n, dtype=i64), classes)


@case((500000, 64), (100000, 512))
def scaler(n, d):
    k = M("primitives.standard_scaler.triton.scaler")
    x = randn(n, d, dtype=f32)
    k.flash_standard_scaler_fit(x)
    k.flash_standard_scaler_fit(x, fused=False)
    k.flash_standard_scaler_transform(x, rand(d), rand(d))


@case((100000, 256), (4096, 1024))
def pca(n, d):
    k = M("primitives.pca.triton.fused_kernels")
    x = randn(n, d, dtype=f32)
    k.triton_cov_gemm_fused(x, 1.0 / n)
    k.triton_gram_gemm_fused(x[:4096].contiguous(), 1.0 / n)


@case()
def svd():
    M("primitives.truncated_svd.triton.fused_kernels").fused_vproj_norm_to_vh(randn(2048, 8192, dtype=f32), randn(2048, 32, dtype=f32), rand(32, lo=1.0, hi=2.0))


@case((8192, 4096), (65536, 512))
def norms(m, n):
    k = M("kernels.norm.triton.norm")
    k.flash_rmsnorm(randn(m, n), randn(n))
    k.flash_layernorm(randn(m, n), randn(n), randn(n))
