"""freesolo-chalk 0.5.7: kernels of its tree by architecture (RMSNorm, gated norms, SwiGLU, rope, cross entropy with its own product, fp8 linear) and of serving."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
A = lambda n: importlib.import_module("chalk.ops.arch." + n).build()


@case(("sm89", 2 * 4096 * 32, 128), ("sm90", 2 * 4096 * 32, 128), ("sm100", 2 * 4096 * 32, 128), ("sm90", 2 * 4096 * 16, 256))
def gated_norm(arch, m, n):
    bwd(A(arch + ".gdn_gated_rmsnorm")(randn(m, n, grad=True), randn(n, grad=True), randn(m, n, grad=True), 1e-6))


@case((8192, 4096), (16384, 2560))
def rmsnorm(m, n):
    bwd(A("sm100.rmsnorm")(randn(m, n, grad=True), randn(n, grad=True), 1e-6))


@case(("sm80", 8192, 9216), ("sm100", 8192, 9216))
def swiglu(arch, m, n):
    bwd(A(arch + ".swiglu")(randn(m, n, grad=True), randn(m, n, grad=True)))


@case(("sm80", 1, 16, 4, 8192, 256, 64), ("sm90", 1, 16, 4, 8192, 256, 64), ("sm80", 2, 32, 8, 4096, 128, 128), ("sm90", 2, 32, 8, 4096, 128, 128))
def rope(arch, b, h, hk, n, d, rot):
    bwd(A(arch + ".rope")(randn(b, h, n, d, grad=True), randn(b, hk, n, d, grad=True), randn(b, n, rot), randn(b, n, rot)))


@case((2048, 2048, 32000))
def flce(n, d, vocab):
    y = randint(0, vocab, n)
    y[::7] = -100
    bwd(A("sm90.flce")(randn(n, d, grad=True), randn(vocab, d, scale=0.02, grad=True), y))


@case((4096, 4096, 4096), (2048, 2560, 9216))
def fp8_linear(m, k, n):
    bwd(A("sm89.fp8_base")(randn(m, k, grad=True), randn(n, k, scale=0.02)))


@case((8192, 4096, True), (16384, 2560, False))
def serving_norm(m, n, gemma):
    importlib.import_module("chalk.serving.decode")._build_rmsnorm(gemma)(randn(m, n), randn(n))


@case((4096 * 32, 128))
def serving_gated_norm(m, n):
    importlib.import_module("chalk.serving.decode")._build_gated_rmsnorm()(randn(m, n), randn(n), randn(m, n), 1e-6)


@case((16, 4, 8192, 128, 128), (16, 4, 8192, 256, 64))
def serving_rope(h, hk, n, d, rot):
    importlib.import_module("chalk.serving.decode")._build_rope()(randn(1, h, n, d), randn(1, hk, n, d), randn(1, n, rot), randn(1, n, rot))
