"""flash-attn 2.8.3.post2: Triton operators: layer norm (dropout, second branch), rotary, cross entropy, linear with activation."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
import types

import triton
ops = types.ModuleType("triton.ops")
perf = types.ModuleType("triton.ops.matmul_perf_model")   # was part of triton 2: the package needs it to import
perf.early_config_prune = lambda configs, *a, **k: configs
perf.estimate_matmul_time = lambda **k: 1.0
ops.matmul_perf_model = perf
sys.modules["triton.ops"], sys.modules["triton.ops.matmul_perf_model"] = ops, perf
from flash_attn.ops.triton.cross_entropy import cross_entropy_loss
from flash_attn.ops.triton.layer_norm import layer_norm_fn, rms_norm_fn
from flash_attn.ops.triton.rotary import apply_rotary


@case((8192, 4096), (4096, 8192))
def ln(M, D):
    x, r = randn(M, D, grad=True), randn(M, D, grad=True)
    bwd(layer_norm_fn(x, randn(D, grad=True), randn(D, grad=True), residual=r, prenorm=True, residual_in_fp32=True))


@case((8192, 2048))
def parallel_ln(M, D):
    bwd(rms_norm_fn(randn(M, D, grad=True), randn(D, grad=True), None, x1=randn(M, D, grad=True), weight1=randn(D, grad=True),
                    prenorm=True))


@case((8192, 4096))
def ln_dropout(M, D):
    bwd(layer_norm_fn(randn(M, D, grad=True), randn(D, grad=True), randn(D, grad=True), residual=randn(M, D, grad=True),
                      dropout_p=0.1))


@case((4, 4096, 32, 128, False), (4, 4096, 32, 64, True))
def rotary(B, T, H, D, inter):
    t = torch.outer(torch.arange(T, device=DEV).float(), 1e4 ** (-torch.arange(0, D, 2, device=DEV).float() / D))
    x = randn(B, T, H, D)
    apply_rotary(x, t.cos().to(bf16), t.sin().to(bf16), interleaved=inter)
    apply_rotary(x, t.cos().to(bf16), t.sin().to(bf16), interleaved=inter, inplace=True, conjugate=True)


@case((128, 1, 32, 128))
def rotary_decode(B, T, H, D):
    t = torch.outer(torch.arange(4096, device=DEV).float(), 1e4 ** (-torch.arange(0, D, 2, device=DEV).float() / D))
    apply_rotary(randn(B, T, H, D), t.cos().to(bf16), t.sin().to(bf16), seqlen_offsets=randint(0, 4095, B, dtype=i32), inplace=True)


@case((4096, 50304), (2048, 128256))
def ce(M, V):
    bwd(cross_entropy_loss(randn(M, V, grad=True), randint(0, V, M), label_smoothing=0.1, lse_square_scale=1e-4)[0])


@case((4096, 4096, 4096, "id"), (2048, 8192, 2048, "squared_relu"))
def linear(M, N, K, act):
    from flash_attn.ops.triton.linear import triton_dgrad_act, triton_linear_act
    x, w, b = randn(M, K, dtype=f16), randn(N, K, dtype=f16, scale=0.02), randn(N, dtype=f16)
    triton_linear_act(x, w, b, activation=act, save_act_input=True)
    triton_dgrad_act(randn(M, N, dtype=f16), randn(N, K, dtype=f16, scale=0.02), activation=act, act_input=randn(M, K, dtype=f16))
