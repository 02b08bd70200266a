"""miniworld-engine 2.3.12: AlphaFold3-style pair operations: triangle attention and multiplication, one and both directions, both passes."""
from _miniworld import *


@case((256, 128, 4, 32, True), (384, 128, 4, 32, False))
def tri_attention(n, d, h, dh, starting):
    k = M("triangle_attention.whole_op")
    bwd(k.triangle_attention(randn(1, n, n, d, grad=True), n_head=h, ln_pair_weight=w(d), ln_pair_bias=w(d), to_value_weight=w(h * dh, d), to_bias_weight=w(h, d), to_gate_weight=w(h * dh, d),
                             to_out_weight=w(d, h * dh), to_query_weight=w(h * dh, d), to_key_weight=w(h * dh, d), starting=starting))


@case((256, 128, 4, 32))
def bias_attention(n, d, h, dh):
    k = M("triangle_attention.whole_op")
    bwd(k.triangle_attention(randn(1, n, n, d, grad=True), n_head=h, ln_pair_weight=w(d), ln_pair_bias=w(d), to_value_weight=w(h * dh, d), to_bias_weight=w(h, d), to_gate_weight=w(h * dh, d), to_out_weight=w(d, h * dh)))


@case((256, 128, "outgoing"), (384, 128, "incoming"))
def tri_mul(n, d, direction):
    k = M("trimul_inproj.whole_op")
    bwd(k.triangle_multiplicative_update(randn(1, n, n, d, grad=True), direction, None, w(d), w(d), w(2 * d, d), w(2 * d, d), w(d), w(d), w(d, d), w(d, d)))


@case((256, 128))
def tri_mul_both(n, d):
    k = M("trimul_inproj.whole_op")
    bwd(k.bidirectional_triangle_multiplicative_update(randn(1, n, n, d, grad=True), norm_in_weight=w(d), norm_in_bias=w(d), to_left_weight=w(2 * d, d), to_left_gate_weight=w(2 * d, d), to_right_weight=w(2 * d, d),
        to_right_gate_weight=w(2 * d, d), norm_out_weight=w(2 * d), norm_out_bias=w(2 * d), to_out_weight=w(d, 2 * d), to_gate_weight=w(d, d)))
