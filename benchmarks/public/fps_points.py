"""torch-fps 0.6.0: farthest point sampling, with neighbours, with assignment, and segmented nearest assignment."""
from _common import *
import torch_fps.api as fps
import torch_fps._triton as tf


@case((16, 2048, 3, 256), (4, 16384, 3, 128), (8, 4096, 6, 128))
def sample(b, n, d, k):
    p, m = randn(b, n, d, dtype=f32), rand(b, n) > 0.1
    s = torch.zeros(b, dtype=i64, device=DEV)
    m[:, 0] = True
    tf.fps(p, m, s, k)
    tf.fps_knn(p, m, s, k, 16)
    if n <= 4096:
        tf.fps_assign(p, m, s, k)


@case((8, 16384, 3, 512))
def assign(b, n, d, k):
    counts = torch.full((b,), n, dtype=i64, device=DEV)
    starts = torch.arange(b, device=DEV) * n
    tf.nearest_assign(randn(b * n, d, dtype=f32), randn(b, k, d, dtype=f32), starts, counts, n, k)
