"""flashoptim 0.1: 8-bit and error-corrected Adam, AdamW, Lion and SGD steps, and their quantisers."""
from _common import *
from flashoptim import optimizers as fo


def step(cls, dt, n=(4096, 2048), **kw):
    p = torch.nn.Parameter(randn(*n, dtype=dt, scale=0.02))
    o = cls([p], **kw)
    for _ in range(2):
        p.grad = randn(*n, dtype=dt, scale=0.01)
        o.step()


@case((bf16, True, 24), (bf16, True, 32), (bf16, False, None), (f32, True, None))
def adamw(dt, q, bits):
    step(fo.FlashAdamW, dt, quantize=q, master_weight_bits=bits)


@case((bf16, 24), (f32, None))
def others(dt, bits):
    step(fo.FlashAdam, dt, weight_decay=0.1, master_weight_bits=bits)
    step(fo.FlashLion, dt, weight_decay=0.1, master_weight_bits=bits)
    step(fo.FlashSGD, dt, momentum=0.9, nesterov=True, master_weight_bits=bits)
    step(fo.FlashSGDW, dt, momentum=0.9, weight_decay=0.1, master_weight_bits=bits)


@case((True, False), (False, True))
def quant(signed, sqrt):
    x = randn(8192, 4096, dtype=f32)
    q, s = fo.quantize(x if signed else x.abs(), signed=signed, sqrt=sqrt)[:2]
    fo.dequantize(q, s, signed=signed, sqrt=sqrt)


@case(3, 4)
def ecc(width):
    x = randn(8192, 4096, dtype=f32)
    e = fo.compute_ecc_bits(x, x.bfloat16(), width)
    fo.reconstruct_fp32_param(x.bfloat16(), e)
