"""conch-triton-kernels 1.3: non-maximum suppression, BEV pooling (both ways) and voxelization of points."""
from _common import *


@case(2000, 8000)
def nms(n):
    from conch.ops.vision.nms import nms as f
    xy = rand(n, 2, hi=800.0)
    f(torch.cat([xy, xy + rand(n, 2, lo=4, hi=90)], 1), rand(n), 0.5)


@case((200000, 80, 1, 128, 128), (60000, 64, 2, 200, 200))
def bev(n, c, b, x, y):
    from conch.ops.vision import bev_pool as bp
    g = torch.stack([randint(0, x, n), randint(0, y, n), torch.zeros(n, dtype=i64, device=DEV), randint(0, b, n)], 1)
    key = (g[:, 3] * x + g[:, 0]) * y + g[:, 1]
    o = key.argsort()
    g, key = g[o].to(i32), key[o]
    first = torch.cat([torch.ones(1, dtype=torch.bool, device=DEV), key[1:] != key[:-1]])
    st = first.nonzero()[:, 0].to(i32)
    ln = torch.diff(st, append=torch.tensor([n], device=DEV, dtype=i32)).to(i32)
    bp.bev_pool(randn(n, c, dtype=f32), g, st, ln, b, 1, x, y)
    bp.bev_pool_backward(randn(b, 1, x, y, c, dtype=f32), g, st, ln)


@case(100000)
def voxel(n):
    from conch.ops.vision import voxelization as vx
    p = vx.VoxelizationParameter(min_range=(-50.0, -50.0, -3.0), max_range=(50.0, 50.0, 1.0), voxel_dim=(0.25, 0.25, 4.0),
                                 max_num_points_per_voxel=32)
    pts = rand(n, 4, lo=-50, hi=50)
    pts[:, 2] = rand(n, lo=-3, hi=1)
    vx.generate_voxels(pts, p)
