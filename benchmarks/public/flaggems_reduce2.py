"""flag-gems 5.0.2: reductions over several dims and layouts, scans along outer dims, order statistics, histogram, uniques."""
from _gems import *

drive(dict(
    all=lambda: fg.all(X(4096, 4096) > -9), all_dim=lambda: fg.all_dim(X(4096, 4096) > -3, 1), any_dims=lambda: fg.any_dims(X(64, 256, 512) > 3, [0, 2]), any_dim=lambda: fg.any_dim(X(4096, 4096) > 3, 0),
    amax=lambda: fg.amax(X(4096, 8192), [1]), amax_all=lambda: fg.amax(X(4096, 4096)), amax2=lambda: fg.amax(X(64, 256, 512), [0, 2]), argmin=lambda: fg.argmin(X(512, 65536), 1), argmin_mid=lambda: fg.argmin(X(64, 1024, 256), 1),
    prod=lambda: fg.prod(X(1 << 22)), prod_mid=lambda: fg.prod_dim(X(64, 512, 256), 1), mean_all=lambda: fg.mean(X(4096, 4096)), mean_outer=lambda: fg.mean_dim(X(4096, 4096, dt=bf16), [0]), mean_inner=lambda: fg.mean_dim(X(8192, 2048, dt=bf16), [1]),
    mean2=lambda: fg.mean_dim(X(64, 128, 32, 32), [2, 3]), sum_all=lambda: fg.sum(X(4096, 4096, dt=bf16)), sum_inner=lambda: fg.sum_dim(X(8192, 4096, dt=bf16), [1]), sum_two=lambda: fg.sum_dim(X(64, 256, 512), [0, 2]),
    std_all=lambda: fg.std(X(1 << 22)), var=lambda: mod("ops.var").var_dim(X(4096, 4096), [1], correction=1), var_all=lambda: mod("ops.var").var(X(4096, 4096)), var_mean_mid=lambda: fg.var_mean(X(64, 1024, 128), [1]),
    max_dim=lambda: fg.max_dim(X(4096, 8192), 1), max=lambda: fg.max(X(4096, 4096)), min_dim=lambda: fg.min_dim(X(64, 1024, 256), 1), amin=lambda: mod("experimental_ops.amin").amin(X(4096, 4096), 1),
    cumsum0=lambda: fg.cumsum(X(2048, 2048), 0), cumsum_long=lambda: fg.cumsum(X(1 << 22), 0), ncumsum=lambda: fg.normed_cumsum(rand(256, 32000), -1), cummax0=lambda: fg.cummax(X(512, 512, 16), 1), cummin0=lambda: fg.cummin(X(1024, 2048), 0),
    sort_desc=lambda: fg.sort(X(64, 65536, dt=f16), -1, True), sort_int=lambda: fg.sort_stable(randint(0, 1 << 30, 256, 8192), stable=True), topk_small=lambda: fg.topk(X(8192, 64), 8), topk_long=lambda: fg.topk(X(16, 131072), 64, largest=False),
    bincount=lambda: mod("fused.bincount").bincount(randint(0, 1000, 1 << 22)), bincount_w=lambda: mod("fused.bincount").bincount(randint(0, 1000, 1 << 20), rand(1 << 20)),
    unique_c=lambda: mod("ops.unique_consecutive").unique_consecutive(torch.sort(randint(0, 50000, 1 << 20))[0], True, True), quantile3=lambda: fg.quantile(X(1024, 1024), torch.tensor([0.1, 0.5, 0.9], device=DEV), 1),
    norm_inf=lambda: fg.vector_norm(X(4096, 4096), float("inf"), [1]), norm1=lambda: fg.vector_norm(X(4096, 4096), 1), norm3=lambda: fg.vector_norm(X(2048, 4096), 3, [1]),
))
