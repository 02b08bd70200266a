"""sparsevideo 0.1.0: attention between clusters of video tokens (masked and top-k), cluster assignment and means, error estimates of dropped blocks, head placement, token permutation, block maps, modulation and rotary."""
from _common import *
import importlib

os.environ["SPARSEVIDEO_FUSED_KERNEL_BACKEND"] = "triton"
M = lambda n: importlib.import_module("sparsevideo." + n)


def sizes(b, h, k, n):
    """Sizes of k clusters that sum to n."""
    c = torch.full((b, h, k), n // k, dtype=i32)
    d = torch.randint(0, n // k // 2, (b, h, k // 2), generator=torch.Generator().manual_seed(0)).to(i32)
    c[..., :k // 2] += d
    c[..., k // 2:k // 2 * 2] -= d
    c[..., -1] += n - c[0, 0].sum()
    return c.to(DEV)


@case((1, 12, 8192, 128, 64, 128), (2, 8, 4096, 64, 32, 64))
def clusters(b, h, n, d, nq, nk):
    q, k, v = (randn(b, h, n, d) for _ in range(3))
    cq, ck = sizes(b, h, nq, n), sizes(b, h, nk, n)
    M("kernels.native.adacluster.triton_cluster_sparse_attn").triton_cluster_sparse_attn(q, k, v, rand(b, h, nq, nk) > 0.7, cq, ck, d ** -0.5)
    top = torch.argsort(rand(b, h, nq, nk), dim=-1)[..., :nk // 4].contiguous()
    M("kernels.native.adacluster.triton_cluster_sparse_attn_topk").triton_cluster_sparse_attn_topk(q, k, v, top, cq, ck, d ** -0.5)


@case((1, 12, 16384, 128, 256))
def assign(b, h, n, d, k):
    f = M("kernels.native.adacluster.fast_kmeans_single")
    x, c = randn(b, h, n, d), randn(b, h, k, d)
    f.compute_cluster_indices(c, x)
    f.compute_new_kernel(randint(0, k, b, h, n, 1, dtype=i32), c, x)


@case((12, 16384, 128, 256, 64))
def co_cluster(b, n, d, k, j):
    f = M("kernels.co_cluster")
    x, c = randn(b, n, d), randn(b, k, d)
    norm = f.profile_norm(x, c)
    f.co_cluster_assign(x, c, randn(b, j, k), rand(*norm.shape, lo=5.0, hi=20.0))
    f.centroid_update_sorted_euclid(x, randint(0, k, b, n, dtype=i32), c)


@case((1, 12, 16384, 128, 64, 256))
def estimate(b, h, n, d, nq, nk):
    f = M("kernels.dynamic_map")
    f.error_estimation_triton(randn(b, h, nq, d), randn(b, h, nk, d), randn(b, h, nk, d), randn(b, h, n, d), randn(b, h, n, d), sizes(b, h, nq, n), sizes(b, h, nk, n), randn(b, h, nq, nk, dtype=f32), 1.0, 1e-6)
    M("kernels.scatter_mean").scatter_mean_fused(randn(b, h, n, d), sizes(b, h, nk, n).long())


@case((2, 12, 226, 13, 1350, 64))
def placement(b, h, text, frames, size, d):
    n = text + frames * size
    f = M("methods.svg1.placement")
    best = randint(0, 2, b, h)
    f.sparse_head_placement(*[randn(b, h, n, d) for _ in range(3)], best, text, frames, size)
    f.hidden_states_placement(randn(b, h, n, d), best, text, frames, size)


@case((1, 12, 16384, 128))
def permute(b, h, n, d):
    f = M("kernels.permute")
    idx = torch.argsort(rand(b * h, n), dim=-1).to(i32)
    f.permute_tensor_by_labels_triton(randn(b, h, n, d), None, 2, sorted_indices=idx)
    f.apply_inverse_permutation_triton(randn(b, h, n, d), idx, 2)


@case((1, 16, 8192, 128))
def block_maps(b, h, n, d):
    u = M("kernels.native.spargeattn.spas_sage_attn.utils")
    x = randn(b, h, n, d)
    th = rand(h, hi=0.3)
    u.get_pool_sim_triton_simmean(x, 128, th)
    u.get_pool_sim_triton_simmean_fuse_quant(x, randn(b, h, 1, d), 64, th)
    u.get_vanilla_qk_quant(x, x, randn(b, h, 1, d))
    nq, nk = n // 128, n // 64
    u.block_map_lut_triton((rand(b, h, nq, nk) > 0.6))
    u.fill_block_map_triton(torch.zeros(b, h, nq, nk, device=DEV, dtype=torch.bool), randint(1, nk // 2, b, h, nq), torch.argsort(rand(b, h, nq, nk), dim=-1))
    u.fill_causal_mask_triton(torch.ones(nq, nk, device=DEV, dtype=torch.bool), 2.0)


@case((65536, 1024))
def counts(m, n):
    w = torch.softmax(randn(m, n, dtype=f32) * 2, -1).sort(-1, descending=True).values
    M("kernels.sparsity").counts_from_sorted_probabilities_triton(w, 0.9)


@case((2, 16384, 3072))
def modulate(b, n, d):
    f = M("kernels.modulate")
    f.triton_modulate_shift_batched_forward(randn(b, n, d), randn(b, d), randn(b, d))
    f.triton_modulate_gate_residual_batched_forward(randn(b, n, d), randn(b, n, d), randn(b, d))
    f.triton_modulate_shift_forward(randn(b * n, d), randn(d), randn(d))
    f.triton_modulate_gate_residual_forward(randn(b * n, d), randn(b * n, d), randn(d))


@case((1, 16384, 24, 128))
def rope(b, n, h, d):
    f = M("kernels.fused_norm_rope")
    f.triton_rope_wan_inplace(randn(b, n, h, d), randn(b, n, h, d), randn(n, d, dtype=f32), randn(n, d, dtype=f32))
    f.triton_rope_hyvideo_inplace(randn(b, n, h, d), randn(b, n, h, d), randn(n - 256, d, dtype=f32), randn(n - 256, d, dtype=f32), 256)
    f.triton_rmsnorm_inplace(randn(b * n, h * d), randn(h * d), 1e-6)
