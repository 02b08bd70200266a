"""spconv-triton 1.0.0: sparse 3D convolutions (submanifold, strided, inverse) and pools, forward and backward."""
from _common import *
import spconv_triton.pytorch as sp


def cloud(n, c, side, b, dt):
    m = torch.randperm(side ** 3)[:n]
    idx = torch.stack([torch.randint(0, b, (n,)), m // side ** 2, m // side % side, m % side], 1).to(DEV, i32)
    return sp.SparseConvTensor(randn(n, c, dtype=dt, grad=True), idx, [side] * 3, b)


@case((80000, 16, 32, f16), (30000, 64, 64, f16), (20000, 32, 64, f32))
def conv(n, c, k, dt):
    x = cloud(n, c, 96, 2, dt)
    net = sp.SparseSequential(sp.SubMConv3d(c, k, 3, bias=True, indice_key="s"),
                              sp.SparseConv3d(k, k, 3, stride=2, padding=1, indice_key="d")).to(DEV, dt)
    y = net(x)
    bwd(y.features)


@case((60000, 64, f16))
def pool(n, c, dt):
    bwd(sp.SparseMaxPool3d(2, 2)(cloud(n, c, 96, 2, dt)).features)
    bwd(sp.SparseAvgPool3d(2, 2)(cloud(n, c, 96, 2, dt)).features)
