"""fairchem-core 2.24.0: UMA's edge kernels (gather, block-diagonal Wigner rotation, radial scale, gates, scatter) at lmax 2, forward and backward."""
from _common import *
import importlib
M = lambda n: importlib.import_module("fairchem.core.models.uma.triton." + n)


def graph(nodes, edges):
    return torch.stack([randint(0, nodes, edges), randint(0, nodes, edges).sort().values])


@case((2000, 40000, 128), (500, 20000, 256))
def permute(n, e, c):
    x, w = randn(n, 9, c, dtype=f32, grad=True), randn(e, 9, 9, dtype=f32, scale=0.3, grad=True)
    bwd(M("node_to_edge_wigner_permute").NodeToEdgeWignerPermuteFunction.apply(x, graph(n, e), w))


@case((40000, 128), (10000, 256))
def permute_back(e, c):
    w = randn(e, 9, 9, dtype=f32, scale=0.3, grad=True)
    bwd(M("permute_wigner_inv_edge_to_node").PermuteWignerInvEdgeToNodeFunction.apply(randn(e, 9, c, dtype=f32, grad=True), w))


@case((2000, 30000, 128))
def conv1(n, e, c):
    f = M("fused_wigner")
    bwd(f.wigner_conv1_fused_op(randn(n, 9, c, dtype=f32, grad=True), graph(n, e), randn(e, 35, dtype=f32, grad=True), randn(e, 12 * c, dtype=f32, grad=True), c))


@case((2000, 30000, 128))
def conv2(n, e, c):
    f = M("fused_wigner")
    a = [randn(e, k * c, dtype=f32, grad=True) for k in (3, 4, 2)]
    w = randn(e, 35, dtype=f32, grad=True)
    bwd(f.wigner_inv_conv2_fused_op(*a, w, c))
    bwd(f.wigner_inv_conv2_scatter_op(*a, w, graph(n, e)[1].contiguous(), n, c))


@case((40000, 128), (100000, 64))
def gate(e, c):
    bwd(M("packed_gate").packed_gate_op(*[randn(e, k * c, dtype=f32, grad=True) for k in (5, 4, 2)], c))
