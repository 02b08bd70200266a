"""rwkv-ops 0.11.3: mHC pre/post operators, RWKV-7 by chunks of 16 with stored states, recurrent gated delta net and SANE delta net."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import torch.nn.functional as F
from rwkv_ops.delta_net_recurrent_sane.torch_triton_kernel import delta_net_recurrent_sane
from rwkv_ops.gdn_recurrent.torch_triton_kernel import gated_delta_net_recurrent
from rwkv_ops.mhc_kernel.torch_triton_op.mhc_post_op import mhc_post_op
from rwkv_ops.mhc_kernel.torch_triton_op.mhc_pre_op import mhc_pre_op_fused
from rwkv_ops.rwkv7_kernel.torch_triton_kernel import generalized_delta_rule


@case((2, 4096, 4, 2048), (1, 4096, 4, 4096))
def mhc(B, T, n, C):
    out, res = mhc_pre_op_fused(randn(B, T, n, C, grad=True), randn(B, T, n, n, dtype=f32, grad=True), randn(B, T, n, dtype=f32, grad=True))
    bwd((out, res))
    H = torch.softmax(torch.randn(B, T, n, n, device=DEV), -1).requires_grad_(True)
    bwd(mhc_post_op(randn(B, T, C, grad=True), randn(B, T, n, C, grad=True), randn(B, T, n, dtype=f32, grad=True), H))


@case((8, 1024, 32, 64))
def rwkv7(B, T, H, D):
    r, k, v = (randn(B, T, H, D, scale=0.5, grad=True) for _ in range(3))
    w = rand(B, T, H, D, lo=-5.0, hi=-1.0, dtype=bf16, grad=True)
    kk = F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1)
    a = (-kk).to(bf16).requires_grad_(True)
    b = (kk * torch.rand(B, T, H, D, device=DEV)).to(bf16).requires_grad_(True)
    bwd(generalized_delta_rule(r, w, k, v, a, b))


@case((8, 1024, 16, 64))
def gdn(B, T, H, D):
    q, k = (F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1).to(bf16).requires_grad_(True) for _ in range(2))
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV) + 2).requires_grad_(True)
    bwd(gated_delta_net_recurrent(q, k, randn(B, T, H, D, grad=True), g, rand(B, T, H, grad=True),
                                  initial_state=zeros(B, H, D, D, dtype=f32).requires_grad_(True)))


@case((8, 1024, 16, 64))
def sane(B, T, H, D):
    q, k = (F.normalize(torch.randn(B, T, H, D, device=DEV), dim=-1).to(bf16).requires_grad_(True) for _ in range(2))
    tau = rand(B, T // 16, H, lo=1.0, hi=10.0, grad=True)
    bwd(delta_net_recurrent_sane(q, k, randn(B, T, H, D, grad=True), rand(B, T, H, grad=True), tau,
                                 initial_state=zeros(B, H, D, D, dtype=f32).requires_grad_(True)))
