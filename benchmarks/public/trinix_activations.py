"""trinix 0.1.4: gated activations (geglu, reglu, swiglu), mish, quick gelu, squared relu, layer and RMS norms with locks, rope, each with its backward."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("trinix")
K = importlib.import_module("trinix.kernels")


@case(("TritonGeGLUKernel", 8192, 4096), ("TritonReGLUKernel", 8192, 4096), ("TritonSwiGLUKernel", 4096, 11008), ("TritonGeGLUKernel", 4096, 11008))
def gated(name, rows, d):
    bwd(getattr(K, name).apply(randn(2, rows // 2, 2 * d, grad=True)))


@case("TritonMishKernel", "TritonQuickGELUKernel", "TritonSquaredReLUKernel")
def plain(name):
    bwd(getattr(K, name).apply(randn(4, 2048, 4096, grad=True)))


@case((4, 2048, 4096), (2, 2048, 8192), (8, 4096, 1024))
def norms(b, n, d):
    bwd(K.TritonLayerNormKernel.apply(randn(b, n, d, grad=True), randn(d, grad=True), randn(d, grad=True), 1e-5))
    bwd(K.TritonRMSNormKernel.apply(randn(b, n, d, grad=True), randn(d, grad=True), 1e-6))


@case((2, 4096, 32, 128), (4, 2048, 16, 64))
def rope(b, n, h, d):
    bwd(K.TritonRoPEKernel.apply(randn(b, n, h, d, grad=True), randn(b, n, h, d, grad=True), rand(n, d // 2, lo=-1.0, dtype=bf16), rand(n, d // 2, lo=-1.0, dtype=bf16)))
