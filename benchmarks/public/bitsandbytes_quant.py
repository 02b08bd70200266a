"""bitsandbytes 0.50.2 (its Triton backend's files): 8-bit and 4-bit quantisation, and 8-bit/32-bit optimizer steps."""
from _common import *
from bitsandbytes_triton import kernels_4bit as k4, kernels_8bit_quant as k8, kernels_optim as ko


def qmap(signed=True):   # dynamic map's likeness: 256 sorted levels
    x = torch.linspace(-1 if signed else 0, 1, 256, device=DEV)
    return x.sign() * x.abs() ** 3


@case((4096, 4096, 256, f16), (8192, 2048, 4096, f32))
def eight(m, n, bs, dt):
    q, s = k8.quantize_blockwise_triton(randn(m, n, dtype=dt), qmap(), bs)
    k8.dequant_8bit_blockwise(q, s, qmap(), bs, dtype=dt)


@case((4096, 4096, 64, "nf4", bf16), (8192, 2048, 128, "fp4", f16))
def four(m, n, bs, kind, dt):
    blocks = m * n // bs
    q = torch.zeros(m * n // 2, 1, dtype=torch.uint8, device=DEV)
    s = torch.zeros(blocks, 1, dtype=dt, device=DEV)
    k4.quantize_4bit_blockwise_triton(randn(m, n, dtype=dt), bs, kind, blocks, s, m * n, q)
    q = randint(0, 256, m * n // 2, 1, dtype=torch.uint8)
    k4.dequantize_4bit_impl(q, rand(blocks, lo=0.5).to(dt), bs, kind, dt, torch.zeros(m, n, dtype=dt, device=DEV))


@case(*[(n, 1 << 24, bf16) for n in ("adam", "lion", "momentum", "rmsprop", "ademamix")])
def optim8(name, n, dt):
    two = name in ("adam", "ademamix")
    shape = (2, n) if name == "ademamix" else (n,)
    ko.optimizer_update_8bit_blockwise_impl(
        name, randn(n, dtype=dt), randn(n, dtype=dt, scale=0.02), randint(0, 256, *shape, dtype=torch.uint8),
        randint(0, 256, n, dtype=torch.uint8) if two else None, 0.9, 0.999, 0.9999, 5.0, 1e-8, 3, 1e-3, qmap(),
        qmap(False) if two else None, rand(*shape[:-1], n // 256, lo=0.01), rand(n // 256, lo=0.01) if two else None, 0.01, 1.0, False)


@case(*[(n, 1 << 24, f32) for n in ("adam", "lion", "momentum", "ademamix")])
def optim32(name, n, dt):
    two = name in ("adam", "ademamix")
    s1 = randn(2, n, dtype=f32) if name == "ademamix" else randn(n, dtype=f32)
    ko.optimizer_update_32bit_impl(name, randn(n, dtype=dt), randn(n, dtype=dt), s1, rand(n) if two else None,
                                   torch.zeros(1, device=DEV), 1.0, 2.0, 0.9, 0.999, 0.9999, 5.0, 1e-8, 0.01, 3, 1e-3, 1.0)
