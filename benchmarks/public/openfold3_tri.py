"""openfold3 0.5.0: Evoformer attention with pair bias (fixed and run-time lengths, forward/backward), masked softmax rows, gated products and layer norm of the triangle update."""
from _common import *
import importlib
import sys

M = lambda n: importlib.import_module("openfold3.core." + n)


@case((128, 256, 4, 32, True), (1, 1024, 16, 64, True), (256, 384, 4, 32, True), (64, 512, 8, 32, False))
def evoformer(rows, n, h, d, bias):
    k = M("kernels.triton.evoformer")
    q, k_, v = (randn(1, rows, n, h, d, grad=True) for _ in range(3))
    mask = torch.where(rand(1, rows, 1, 1, n) > 0.1, 0.0, -1e9).to(bf16)
    pb = randn(1, 1, h, n, n, grad=bias) if bias else zeros(1, 1, h, n, n)
    bwd(k.TritonEvoformer(q, k_, v, mask, pb, bias))
    k.TritonEvoformerDynamic(q.detach(), k_.detach(), v.detach(), mask, pb.detach(), bias)


@case((1, 128, 4, 256, 256, bf16), (1, 64, 8, 512, 512, f32), (1, 16, 4, 1200, 1200, bf16))
def softmax(b, n, h, q, k, t):
    f = M("kernels.triton.fused_softmax").fused_softmax
    x = randn(b, n, h, q, k, dtype=t, grad=True)
    bwd(f(x, (rand(b, n, k) > 0.1).to(t), randn(b, 1, h, q, k, dtype=t, grad=True)))
    bwd(f(x))


@case((256, 128), (512, 64))
def triangle(n, c):
    m = M("model.layers.triangular_multiplicative_update")
    x, w = randn(1, n, n, c), randn(c, c, scale=0.1)
    m.triton_layernorm(x, randn(c), randn(c))
    m.triton_sigmoid_mul(x.float(), randn(1, n, n, c, dtype=f32))
    m.triton_linear(x, w, randn(c))
    m.triton_linear_fused(x, w, randn(c), other=randn(1, n, n, c), mask=rand(1, n, n, 1, dtype=bf16), apply_sigmoid=True)
    m.triton_linear_fused(x, w, add_tensor=randn(1, n, n, c))


@case((8192, 4096))
def swiglu(m, n):
    k = M("kernels.triton.swiglu")
    bwd(k.LigerSiLUMulFunction.apply(randn(m, n, grad=True), randn(m, n, grad=True)))
