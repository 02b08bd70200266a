"""flash-linear-attention (fla-core) 0.6.0: norms (gated, group, quantising), l2norm, rotary, short convolution, token shift, activations."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.modules.activations import logsigmoid, powglu, swiglu
from fla.modules.causal_conv1d import causal_conv1d, causal_conv1d_update
from fla.modules.norm.fused_norm_gate import rms_norm_gated
from fla.modules.norm.l2norm import l2norm
from fla.modules.norm.layernorm import group_norm, layer_norm
from fla.modules.norm.layernorm_gated import rmsnorm_fn
from fla.modules.norm.layernorm_quant import layer_norm_quant_fwd
from fla.modules.rotary import rotary_embedding
from fla.modules.token_shift import token_shift


@case((8192, 4096))
def ln(M, D):
    bwd(layer_norm(randn(M, D, grad=True), randn(D, grad=True), randn(D, grad=True), residual=randn(M, D, grad=True)))


@case((8192, 4096, 16))
def gn(M, D, G):
    bwd(group_norm(randn(M, D, grad=True), randn(D, grad=True), randn(D, grad=True), is_rms_norm=True, num_groups=G))


@case((8192 * 16, 128), (8192, 2048))
def gated(M, D):
    bwd(rms_norm_gated(randn(M, D, grad=True), randn(M, D, grad=True), randn(D, grad=True), None))


@case((8192, 4096))
def mamba_norm(M, D):
    bwd(rmsnorm_fn(randn(M, D, grad=True), randn(D, grad=True), None, z=randn(M, D, grad=True), group_size=512,
                   norm_before_gate=False))


@case((8192, 4096))
def quant(M, D):
    layer_norm_quant_fwd(randn(M, D), randn(D), None, 1e-6, is_rms_norm=True)


@case((2, 8192, 16, 128))
def l2(B, T, H, D):
    bwd(l2norm(randn(B, T, H, D, grad=True)))


@case((2, 4096, 32, 128))
def rope(B, T, H, D):
    t = torch.outer(torch.arange(T, device=DEV).float(), 1e4 ** (-torch.arange(0, D, 2, device=DEV).float() / D))
    bwd(rotary_embedding(randn(B, T, H, D, grad=True), t.cos().to(bf16), t.sin().to(bf16)))


@case((2, 4096, 4096))
def conv(B, T, D):
    y, _ = causal_conv1d(randn(B, T, D, grad=True), weight=randn(D, 4, grad=True), bias=randn(D, grad=True), activation="silu")
    bwd(y)


@case((256, 4096))
def conv_step(B, D):
    causal_conv1d_update(randn(B, 1, D), randn(B, D, 4), weight=randn(D, 4), activation="silu")


@case((4, 4096, 2048))
def shift(B, T, D):
    bwd(token_shift(randn(B, T, D, grad=True)))


@case((8192, 11008))
def glu(M, D):
    bwd(swiglu(randn(M, D, grad=True), randn(M, D, grad=True)))
    bwd(powglu(randn(M, D, grad=True), randn(M, D, grad=True)))


@case((8192, 4096))
def lsig(M, D):
    bwd(logsigmoid(randn(M, D, grad=True), 16.0))
