"""miniworld-engine 2.3.12: message passing over neighbour lists (ProteinMPNN), edge updates with dropout, relative positions, gated projections, 3D rotary embedding, window attention."""
from _miniworld import *


@case((8, 512, 48, 128))
def message(b, n, k_, d):
    k = M("mpnn_message.triton.main")
    bwd(k.triton_message_hidden_reduce(randn(b, n, k_, d, grad=True), w(d, d), w(d), (rand(b, n, k_) > 0.1).to(bf16), 30))


def edge_inputs(b, n, k_, d, split=False):
    idx = (randint(0, n, b, n, k_) + torch.arange(b, device=DEV)[:, None, None] * n).to(i64)
    return randn(b, n, k_, d, grad=True), randn(b, n, d, grad=True), randn(*((b, n) if split else (b * n,)), d, grad=True), idx.reshape(-1)


@case((8, 512, 48, 128))
def node_message(b, n, k_, d):
    k = M("mpnn_node_message.triton.main")
    bwd(k.triton_node_message_reduce(*edge_inputs(b, n, k_, d), w(d, d), w(d, d), w(d), (rand(b, n, k_) > 0.1).to(bf16), 30))


@case((8, 512, 48, 128))
def node_message_compute(b, n, k_, d):
    k = M("mpnn_node_message.triton.main")
    bwd(k.triton_node_message_reduce_compute(*edge_inputs(b, n, k_, d, True), w(d, d), w(d, d), w(d), (rand(b, n, k_) > 0.1).to(bf16), 30))


@case((4, 512, 48, 128, 0.1), (4, 512, 48, 128, 0.0))
def edge_tail(b, n, k_, d, p):
    k = M("mpnn_edge_tail.triton.main")
    bwd(k.triton_edge_tail_update(*edge_inputs(b, n, k_, d), w(d, d), w(d, d), w(d), w(d, d), w(d), w(d), w(d), torch.tensor(7, device=DEV), 1e-5, p))


@case((8, 512, 48, 128))
def edge_mlp(b, n, k_, d):
    k = M("mpnn_edge_mlp.triton.main")
    bwd(k.triton_edge_mlp_update(randn(b, n, k_, d, grad=True), w(d, d), w(d), w(d, d), w(d)))


@case((8 * 512 * 48, 128))
def dropout(m, d):
    bwd(M("mpnn_edge_dropout.triton.main").edge_dropout_bitpack(randn(m, d, grad=True), 0.1))


@case((8 * 512 * 48, 128, 66))
def relative(m, d, buckets):
    M("mpnn_relative_position.triton.main").triton_bucket_reduce(randn(m, d), randint(0, buckets, m), buckets)


@case((16384, 512))
def gated(m, d):
    bwd(M("gated_projection.whole_op").gated_linear(randn(1, m, d, grad=True), randn(1, m, d, grad=True), w(d, d)))
    g = M("gated_projection.triton.main")
    bwd(g.sigmoid_gate_fused(randn(1, m, d, grad=True), randn(1, m, d, grad=True)))
    bwd(M("gated_projection.triton.residual").gated_residual(randn(1, m, d, grad=True), randn(1, m, d, grad=True), randn(1, m, d, grad=True)))


@case((4, 4096, 8, 64))
def rope(b, n, h, d):
    c = [randn(b, n, d // 2, dtype=f32) for _ in range(2)]
    bwd(M("rope.triton.main").triton_rope_3d(randn(b, n, h, d, grad=True), *c))
    bwd(M("rope.triton.qk_norm").qk_norm_rope_3d(randn(b, n, h, d, grad=True), randn(b, n, h, d, grad=True), *c))
