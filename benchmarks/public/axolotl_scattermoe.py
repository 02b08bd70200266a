"""axolotl 0.19.0: scatter mixture-of-experts with LoRA (forward, dX, weight gradients, grouped Gram), 4-bit expert dequantisation, mxfp8/nvfp4 quantisation."""
from _common import *
import importlib
M = lambda n: importlib.import_module("axolotl.integrations.kernels.libs.scattermoe_lora." + n)
E, K, N, R, T, TOP = 16, 2048, 2048, 16, 2048, 4


def route():
    e = randint(0, E, T * TOP)
    se, ss = torch.sort(e)
    return se, ss, torch.bincount(e, minlength=E).cumsum(0)


@case((False, True), (True, False))
def scatter(xg, yg):
    se, ss, off = route()
    o = M("kernels.ops")
    k = 1 if xg else TOP
    x = randn(T * TOP if xg else T, K, scale=0.1)
    o.scatter2scatter(x, randn(E, K, N, scale=0.02), se, ss, k, x_grouped=xg, y_grouped=yg)


@case()
def grads():
    se, ss, off = route()
    o = M("kernels.ops")
    o.group(randn(T, K), ss, fan_out=TOP)
    o.group(randn(T, K), ss, coeff=rand(T * TOP), fan_out=TOP)
    o.group_bwd_W(randn(T * TOP, N, scale=0.1), randn(T * TOP, K, scale=0.1), off, E, True)


@case()
def lora():
    se, ss, off = route()
    o = M("kernels.lora_ops")
    A, B = randn(E * R, K, scale=0.02), randn(N, E * R, scale=0.02)
    W = randn(E, K, N, scale=0.02)
    o.scatter2scatter_lora(randn(T, K, scale=0.1), W, se, ss, TOP, A, B, 2.0, y_grouped=True)
    o.scatter2scatter_lora_dX(randn(T * TOP, N, scale=0.1), W, se, ss, 1, A, B, 2.0, dy_grouped=True, dx_grouped=True)
    o.group_bwd_lora(randn(T * TOP, N, scale=0.1), randn(T * TOP, K, scale=0.1), A, B, off, E, 2.0)


@case()
def lora_fused():
    se, ss, off = route()
    o = M("kernels.lora_ops")
    A, B = randn(E * R, K, scale=0.02), randn(N, E * R, scale=0.02)
    o.group_bwd_lora_fused(randn(T * TOP, N, scale=0.1), randn(T, K, scale=0.1), A, B, off, ss, E, TOP, 2.0, dy_grouped=True)


@case()
def gram():
    se, ss, off = route()
    A, B = randn(E * R, K, scale=0.02), randn(N, E * R, scale=0.02)
    M("kernels.grouped_gram").grouped_lora_weight_grads(randn(T * TOP, N), randn(T * TOP, K), randn(T * TOP, R), randn(T * TOP, R), A, B, off, E, 2.0)


@case()
def single():
    M("kernels.single").single2scatter(randn(1, 4096), randn(E, 4096, 2048, scale=0.02), randint(0, E, 1, 4))


@case()
def dequant():
    d = M("dequant_grouped")
    q, s, p = randint(0, 256, 8, 2048, 1024, dtype=torch.uint8), rand(8, 2048, 128, lo=0.5, hi=2).to(torch.float8_e4m3fn), rand(8)
    d.nvfp4_dequant_bf16(q, s, p)
    w = d.nvfp4_dequant_fp8(q, s, p)
    d.fp8_e8m0_cast_128(randn(8192, 4096))
    d.grouped_dx_fp8(randn(4096, 2048), rand(8, 2048, 2048, lo=-1).to(torch.float8_e4m3fn), torch.arange(32, device=DEV).to(i32) // 4)


@case()
def nf4():
    M("selective_dequant_kernel").selective_dequant_nf4_triton(randint(0, 256, E * K * N // 2, dtype=torch.uint8), rand(E * K * N // 64), torch.arange(0, E, 2, device=DEV), (N, K), 64)


@case()
def quant():
    M("cutlass_fp4.quant_mxfp8").mxfp8_quant(randn(4096, 4096))
    M("cutlass_fp4.quant_nvfp4").nvfp4_quant(randn(4096, 4096))


@case("silu", "gelu_tanh")
def act(a):
    s = M("cutlass_fp4.swiglu")
    s.swiglu_fwd(randn(8192, 4096), 7.0, a)
    s.swiglu_bwd(randn(8192, 4096), randn(8192, 2048), 7.0, a)
