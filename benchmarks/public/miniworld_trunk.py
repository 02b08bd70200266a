"""miniworld-engine 2.3.12: outer product mean, pair weighted averaging, transitions, conditioned transition, attention with pair bias, adaptive and transposing norms, both passes."""
from _miniworld import *


@case((128, 256, 64, 32, 128))
def outer_mean(s, n, d, dh, dp):
    k = M("outer_product_mean.triton.main")
    bwd(k.triton_outer_product_mean(randn(1, s, n, d, grad=True), None, w(d), w(d), w(dh, d), w(dh, d), w(dp, dh * dh), w(dp)))


@case((128, 256, 64, 128, 8, 32))
def pair_average(s, n, d, dp, h, dh):
    k = M("pair_weighted_averaging.triton.main")
    bwd(k.triton_pair_weighted_averaging(randn(1, s, n, d, grad=True), randn(1, n, n, dp, grad=True), None, w(d), w(d), w(h * dh, d), w(h * dh, d), w(dp), w(h, dp), w(d, h * dh)))


@case((256, 128, 4), (48, 384, 4))
def transition(m, d, n):
    k = M("transition.whole_op")
    bwd(k.transition(randn(1, m, m, d, grad=True), ln_in_weight=w(d), ln_in_bias=w(d), expand_a_weight=w(n * d, d), expand_b_weight=w(n * d, d), squeeze_weight=w(d, n * d), n=n))


@case((8192, 768, 384, 2))
def conditioned(m, d, dc, n):
    k = M("conditioned_transition.whole_op")
    bwd(k.conditioned_transition(randn(1, m, d, grad=True), randn(1, m, dc, grad=True), expand_a_weight=w(n * d, d), expand_b_weight=w(n * d, d), squeeze_weight=w(d, n * d), to_scale_weight=w(d, dc), to_scale_bias=w(d), n=n))


@case((8, 16, 768, 48, "compute_efficient"), (4, 8, 512, 64, "memory_efficient"))
def augmented(b, h, n, d, kind):
    k = M("augmented_attention.whole_op")
    bwd(k.augmented_attention_pair_bias(*[randn(b, 1, h, n, d, grad=True) for _ in range(3)], randn(1, h, n, n, grad=True), None, kernel_type=kind))


@case((65536, 128, 16))
def norm_linear(m, d, h):
    bwd(M("layernorm_linear.triton.pair_bias").triton_layer_norm_linear(randn(1, 256, m // 256, d, grad=True), w(d), w(h, d)))


@case((16384, 768, 384))
def adaln(m, d, dc):
    bwd(M("adaln.triton.training").adaln_train(randn(1, m, d, grad=True), randn(1, m, dc, grad=True), w(dc), w(d, dc), w(d), w(d, dc), 1e-5, 1e-5))


@case((65536, 128))
def norms(m, d):
    k = M("layernorm.triton.main")
    bwd(k.triton_layernorm(randn(1, 256, m // 256, d, grad=True), w(d), w(d), 1e-5))
    M("layernorm.triton.transpose").layer_norm_transpose(randn(1, 256, 256, d), w(d), w(d))
