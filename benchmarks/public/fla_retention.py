"""flash-linear-attention (fla-core) 0.6.0: retention parallel and chunk, simple GLA parallel, based, rebased."""
import os
import sys
sys.path[:0] = [os.path.dirname(os.path.abspath(__file__)), os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")]
from _common import *
import _fla
import torch.nn.functional as F
from fla.ops.based import fused_chunk_based, parallel_based
from fla.ops.rebased import parallel_rebased
from fla.ops.retention import chunk_retention, parallel_retention
from fla.ops.simple_gla import chunk_simple_gla, fused_chunk_simple_gla


@case((4, 2048, 8, 128))
def ret_parallel(B, T, H, D):
    bwd(parallel_retention(*(randn(B, T, H, D, grad=True) for _ in range(3)))[0])


@case((2, 2048, 8, 256, 512))
def ret_chunk(B, T, H, K, V):
    bwd(chunk_retention(randn(B, T, H, K, grad=True), randn(B, T, H, K, grad=True), randn(B, T, H, V, grad=True))[0])


@case((1, 4096, 32, 128))
def sgla_fused(B, T, H, D):
    g = F.logsigmoid(torch.randn(B, T, H, device=DEV)).requires_grad_(True)
    bwd(fused_chunk_simple_gla(*(randn(B, T, H, D, grad=True) for _ in range(3)), g=g)[0])


@case((4, 2048, 16, 16, 64))
def based(B, T, H, K, V):
    a = [randn(B, T, H, K, grad=True), randn(B, T, H, K, grad=True), randn(B, T, H, V, grad=True)]
    bwd(parallel_based(*a))


@case((4, 2048, 16, 16, 64))
def based_chunk(B, T, H, K, V):
    a = [randn(B, T, H, K, grad=True), randn(B, T, H, K, grad=True), randn(B, T, H, V, grad=True)]
    bwd(fused_chunk_based(*a))


@case((4, 2048, 16, 16, 64))
def rebased(B, T, H, K, V):
    bwd(parallel_rebased(randn(B, T, H, K, grad=True), randn(B, T, H, K, grad=True), randn(B, T, H, V, grad=True)))
