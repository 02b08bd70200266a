"""auto-round 0.16.1: searches of scales and zero points, GPTQ products and their transposes, dequantisation, Hadamard transform with mxfp4."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

for name in ("auto_round_extension", "auto_round", "auto_round.algorithms", "auto_round.algorithms.transforms", "auto_round.algorithms.transforms.hadamard",
             "auto_round.algorithms.transforms.hadamard.utils"):
    package(name)
for name in ("custom_fwd", "custom_bwd"):
    if not hasattr(torch.cuda.amp, name):
        setattr(torch.cuda.amp, name, lambda f=None, **kw: f or (lambda g: g))
M = lambda name: importlib.import_module("auto_round_extension.triton." + name)


@case((16384, 128, 32, 15, False), (32768, 64, 32, 15, True), (4096, 96, 16, 255, True))
def zero_points(c, g, k, maxq, weighted):
    m = M("neuqi_sweep")
    w, qw = randn(c, g, dtype=f32), rand(c, g, lo=0.1) if weighted else None
    m.neuqi_sweep_triton(w, qw, rand(c, k, lo=0.1, hi=0.5), maxq)
    f = torch.linspace(0.5, 1.0, k, device=DEV)
    m.neuqi_shared_sweep_triton(w, qw, f, 1 / f, maxq)


@case((65536, 128, 64, 8, False), (131072, 64, 64, 8, True), (16384, 96, 64, 128, True))
def scales(c, g, k, nmax, weighted):
    m = M("neuqi_sweep")
    w, qw = randn(c, g, dtype=f32), rand(c, g, lo=0.1) if weighted else None
    m.sym_search_triton(w, qw, rand(c, k, lo=0.1, hi=0.5), nmax)
    f = torch.linspace(0.5, 1.0, k, device=DEV)
    m.sym_search_shared_triton(w, qw, f, 1 / f, nmax)


def gptq(k, n, bits, group):
    words = lambda *s: randint(-(1 << 31), 1 << 31, *s).to(i32)
    return (words(k * bits // 32, n), rand(k // group, n, lo=0.005, hi=0.02, dtype=f16), words(k // group, n * bits // 32),
            (torch.arange(k, device=DEV) // group).to(i32))


@case((1024, 4096, 4096, 4, 128), (256, 4096, 11008, 8, 128), (512, 4096, 4096, 2, 64))
def product(m, k, n, bits, group):
    f = M("triton_utils.kernels")
    for kern in (f.quant_matmul_248_kernel, f.transpose_quant_matmul_248_kernel):
        kern.configs = kern.configs[1:2]  # its own tuner would time them all
    w = gptq(k, n, bits, group)
    f.quant_matmul_248(randn(m, k, dtype=f16), *w, bits, 2**bits - 1)
    f.transpose_quant_matmul_248(randn(m, n, dtype=f16), *w, bits, 2**bits - 1)


@case((8192, 8192, 4, 128), (4096, 11008, 8, 128), (8192, 8192, 2, 64))
def dequantise(k, n, bits, group):
    M("triton_utils.dequant").dequant248(*gptq(k, n, bits, group), bits)


@case((8192, 4096, 32, False), (8192, 4096, 32, True), (4096, 4096, 64, False))
def hadamard(n, d, h, quest):
    f = importlib.import_module("auto_round.algorithms.transforms.hadamard.utils.triton.mxfp4").mxfp4_forward_kernel_wrapper
    m = torch.ones(1, 1)
    while len(m) < h:
        m = torch.cat([torch.cat([m, m], 1), torch.cat([m, -m], 1)])
    f(randn(n, d), (m / h**0.5).to(DEV, bf16), return_clip_mask=quest, quest=quest)
