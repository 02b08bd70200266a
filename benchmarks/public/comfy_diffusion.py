"""comfy-kitchen 0.2.40 and turboadam 0.2.0: 3D neighborhood attention, AdaLN, RMS norm with rotary, int8 and 4-bit products with rotated activations, nvfp4/mxfp8 quantisation; AdamW on packed states."""
from _common import *
import importlib
M = lambda n: importlib.import_module("comfy_kitchen.backends.triton." + n)


@case((1, 16, 32, 48, 12, 128, (3, 7, 7)), (2, 8, 24, 24, 16, 64, (5, 5, 5)))
def neighborhood(b, t, h, w, heads, d, window):
    M("na").na3d(*[randn(b, t, h, w, heads, d) for _ in range(3)], list(window))


@case((2, 4096, 3072), (1, 8192, 5120))
def adaln(b, n, d):
    k = M("adaln")
    k.adaln(randn(b, n, d), randn(b, 1, d), randn(b, 1, d))
    k.rms_adaln(randn(b, n, d), randn(b, 1, d), randn(b, 1, d))


@case((1, 24, 4096, 128), (2, 16, 2048, 64))
def rope(b, h, n, d):
    k, r = M("rope"), M("rms_rope")
    f = randn(1, 1, n, d // 2, 2, 2, dtype=f32)
    q, kk = randn(b, h, n, d), randn(b, h, n, d)
    k.apply_rope(q, kk, f)
    k.apply_rope_split_half(q, kk, f)
    r.rms_rope(q, kk, f, randn(d), randn(d))
    r.rms_rope_split_half(q, kk, f, randn(d), randn(d))


@case((4096, 3072, 12288), (512, 4096, 4096))
def int8(m, k_, n):
    k = M("quantization")
    w, s = randint(-127, 128, n, k_, dtype=torch.int8), rand(n, 1, lo=0.001, hi=0.01)
    k.int8_linear(randn(m, k_), w, s, randn(n))
    k.int8_linear(randn(m, k_), w, s, randn(n), convrot=True)
    k.triton_quantize_rowwise(randn(m, k_))


@case((2048, 4096, 4096, True), (512, 3072, 3072, False))
def w4a8(m, k_, n, table):
    k = M("w4a8_int8")
    k.w4a8_int8_linear(randn(m, k_), randint(-128, 128, n, k_ // 2, dtype=torch.int8), rand(n, k_ // 16), rand(n, lo=0.001, hi=0.01), torch.linspace(-127, 127, 16, device=DEV) if table else None)


@case((4096, 8192))
def formats(m, n):
    k = M("quantization")
    x, one = randn(m, n), torch.tensor(0.5, device=DEV)
    q = k.quantize_per_tensor_fp8(x, one)
    k.dequantize_per_tensor_fp8(x.to(torch.float8_e4m3fn), one)
    k.quantize_mxfp8(x)
    q, s = k.quantize_nvfp4(x, torch.tensor(0.01, device=DEV))
    k.dequantize_nvfp4(randint(0, 256, *q.shape, dtype=torch.uint8), torch.tensor(0.01, device=DEV), rand(*s.shape).to(torch.float8_e4m3fn))


@case((16 << 20, 4, 128, bf16), ((4 << 20) + 77, 3, 256, f32))
def turboadam(n, bits, block, t):
    from turboadam import triton_kernels as k
    from turboadam.quantize import packed_index_numel as size
    blocks = (n + block - 1) // block
    mb = 128
    sc = lambda v: torch.tensor([v], device=DEV)
    bytes_ = lambda c: randint(0, 256, c, dtype=torch.uint8)
    k.triton_fused_ustate_adamw_step(randn(n, dtype=t), randn(n, dtype=t), bytes_(size(blocks * block, 2)), randn((n + mb - 1) // mb), sc(0.01), sc(0.01), sc(0.0), bytes_(size(blocks * block, bits)),
                                     rand(blocks, 2, lo=0.001, hi=1.0, dtype=f16), previous_step=3, step=4, beta1=0.9, beta2=0.999, lr=1e-3, eps=1e-8, weight_decay=0.1, n_bits=bits, block_size=block, original_numel=n, m_block_size=mb, m_step_factor=1.0, m_seed=0x12345678, v_seed=0x23456789)
