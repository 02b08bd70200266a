"""flashcart 0.1.0 and nequip-allegro 0.8.3: Cartesian tensor products, expansions of directions and equivariant linear layers (kernels that flashcart generates), sparse tensor products by path; both passes."""
from _common import *
import tempfile

os.environ["FLASHCART_CACHE_DIR"] = os.path.join(tempfile.gettempdir(), "flashcart-generated")


def weight_shape(tp, n):
    f = tp.n_total_paths * max(tp.in1_features, tp.in2_features)
    return (f,) if tp.shared_weights else (n, f)


@case((100000, 2), (400000, 3))
def irreps(n, l):
    from flashcart.o3.irreps import Irreps
    v = randn(n, 3, dtype=f32)
    v = torch.nn.functional.normalize(v, dim=1).requires_grad_()
    y = Irreps(l, use_triton=True).to(DEV).forward_normalized(v)
    g, = torch.autograd.grad(y.square().sum(), v, create_graph=True)
    g.square().sum().backward()


@case((20000, 2, 64, True), (20000, 3, 32, False), (5000, 2, 128, False))
def product(n, l, c, reduce):
    """Node features with node features."""
    from flashcart.o3.tensor_product import TensorProduct
    tp = TensorProduct(l, l, l, c, c, use_triton=True, shared_weights=True, reduce_paths=reduce).to(DEV)
    a, b = (randn(n, (l + 1) ** 2 * c, dtype=f32, grad=True) for _ in range(2))
    w = randn(*weight_shape(tp, n), dtype=f32, grad=True)
    y = tp(a, b, w)
    ga, gb, gw = torch.autograd.grad(y.square().sum(), (a, b, w), create_graph=True)
    (ga.square().sum() + gb.square().sum() + gw.square().sum()).backward()


@case((4000, 60000, 2, 64))
def edges(n, e, l, c):
    """Senders' features with edge features, summed at the receivers."""
    from flashcart.o3.tensor_product import TensorProduct
    tp = TensorProduct(l, l, l, c, 1, use_triton=True, shared_weights=False, reduce_paths=True).to(DEV)
    a, b = randn(n, (l + 1) ** 2 * c, dtype=f32, grad=True), randn(e, (l + 1) ** 2, dtype=f32, grad=True)
    i, j = randint(0, n, e).sort().values, randint(0, n, e)
    w = randn(*weight_shape(tp, e), dtype=f32, grad=True)
    tp(a, b, w, i, j).square().sum().backward()


@case((20000, 2, 128, 128), (5000, 3, 256, 64))
def linear(n, l, cin, cout):
    from flashcart.o3.linear import LinearLayer
    m = LinearLayer(l, l, cin, cout, use_triton=True).to(DEV)
    m(randn(n, (l + 1) ** 2 * cin, dtype=f32, grad=True)).square().sum().backward()


@case(("p", 20000, 64, 9, 40), ("up", 20000, 32, 9, 60), ("p", 5000, 128, 16, 120))
def allegro(mode, e, u, dim, nnz):
    """Environment sums (nodes) with edge features through a sparse table of coefficients, weights by path (and channel)."""
    from allegro.nn._strided import _flashallegro as k
    nodes, paths = e // 30, 12
    w3j = torch.zeros(paths, dim, dim, dim)
    g = torch.Generator().manual_seed(1)
    cells = torch.randperm(dim ** 3, generator=g)[:nnz]
    w3j.view(paths, -1)[torch.arange(nnz) % paths, cells] = torch.rand(nnz, generator=g) + 0.1
    (ip, l1, l2, ip1, ks1, l21, ip2, ks2, l12, v, v1, v2, p, p1, p2) = [t.to(DEV) for t in k._initialize_metadata(w3j)]
    a, b = randn(e, u, dim, dtype=f32, grad=True), randn(nodes, u, dim, dtype=f32, grad=True)
    w = randn(paths, dtype=f32) if mode == "p" else randn(u, paths, dtype=f32)
    bwd(torch.ops.triton.flashallegro_forward(a, b, randint(0, nodes, e), mode, ip, ip1, ip2, l1, l2, v, p, ks1, l21, v1, p1, ks2, l12, v2, p2, w, dim, dim, dim, nnz, f32))
