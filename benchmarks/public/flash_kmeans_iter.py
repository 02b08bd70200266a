"""flash-kmeans 0.3.1: nearest-centroid assignment (Euclidean, cosine, split D) and centroid update kernels."""
from _common import *
from flash_kmeans import assign_euclid_triton as A, centroid_update_triton as U


@case((1, 1 << 17, 128, 1024, f16), (32, 4096, 64, 256, bf16), (1, 65536, 1024, 512, f16), (1, 1 << 16, 96, 300, f32))
def euclid(b, n, d, k, dt):
    x, c = randn(b, n, d, dtype=dt), randn(b, k, d, dtype=dt)
    A.euclid_assign_triton(x, c, (x.float() ** 2).sum(-1))
    ids = randint(0, k, b, n, dtype=i32)
    U.triton_centroid_update_euclid(x, ids, c)
    U.triton_centroid_update_sorted_euclid(x, ids, c)


@case((1, 1 << 17, 128, 1024, f16), (1, 32768, 1024, 512, bf16))
def cosine(b, n, d, k, dt):
    x = torch.nn.functional.normalize(randn(b, n, d, dtype=f32), dim=-1).to(dt)
    c = x[:, :k].contiguous()
    A.cosine_assign_triton(x, c)
    ids = randint(0, k, b, n, dtype=i32)
    U.triton_centroid_update_cosine(x, ids, c)
    U.triton_centroid_update_sorted_cosine(x, ids, c)
