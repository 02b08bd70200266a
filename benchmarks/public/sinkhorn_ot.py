"""flash-sinkhorn 0.4.1: streaming Sinkhorn steps, plan application, split and fused reductions, c-transform."""
from _common import *
import flash_sinkhorn as fs
from flash_sinkhorn.kernels import sinkhorn_splitn_sqeuclid as sn


@case(("symmetric", 8192, 8192, 64), ("alternating", 8192, 4096, 3), ("symmetric", 4096, 4096, 256))
def loss(backend, n, m, d):
    x, y = rand(n, d, grad=True), rand(m, d)
    fs.SamplesLoss(blur=0.3, eps=0.1, n_iters=2, backend=backend, use_epsilon_scaling=False)(x, y).backward()


@case((4096, 4096, 3))
def unbalanced(n, m, d):
    fs.SamplesLoss(blur=0.3, eps=0.1, n_iters=2, reach=1.0, debias=True, use_epsilon_scaling=False)(rand(n, d), rand(m, d))


@case((4096, 4096, 32))
def labels(n, m, d):
    W = rand(10, 10)
    L = fs.SamplesLoss(blur=0.3, eps=0.1, n_iters=2, half_cost=True, label_cost_matrix=W + W.T, lambda_x=1.0, lambda_y=1.0,
                       use_epsilon_scaling=False)
    L(rand(n, d), rand(m, d), label_x=randint(0, 10, n), label_y=randint(0, 10, m))


@case((8192, 8192, 64))
def ctrans(n, m, d):
    fs.c_transform_fwd(rand(n, d), rand(m, d), rand(m))


@case((4096, 4096, 64))
def hvp(n, m, d):
    x, y = rand(n, d), rand(m, d)
    a, b = torch.full((n,), 1 / n, device=DEV), torch.full((m,), 1 / m, device=DEV)
    f, g = rand(n, hi=0.1), rand(m, hi=0.1)
    fs.hvp_x_sqeuclid_from_potentials(x, y, f, g, randn(n, d, dtype=f32), eps=0.1, max_cg_iter=2)


@case((20000, 20000, 3))
def multiscale(n, m, d):
    fs.SamplesLoss(blur=0.1, backend="multiscale")(rand(n, d), rand(m, d))
