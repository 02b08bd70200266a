import torch
import triton
import triton.language as tl

DEVICE = triton.runtime.driver.active.get_active_torch_device()


def is_cuda():
    return triton.runtime.driver.active.get_current_target().backend == "cuda"


def get_autotune_config():
    if is_cuda():
        return [triton.Config({"BLOCK": 64}, num_warps=2), triton.Config({"BLOCK": 128})]
    return [triton.Config({"BLOCK": 32, "waves_per_eu": 2})]


@triton.autotune(configs=get_autotune_config(), key=["n"])
@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr, ACTIVATION: tl.constexpr):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + i, i < n)
    if ACTIVATION == "leaky_relu":
        value = leaky_relu(value)
    tl.store(out + i, value, i < n)


@triton.jit
def leaky_relu(x):
    return tl.where(x >= 0, x, 0.01 * x)


def scaled(x, activation=""):
    out = torch.empty_like(x)
    grid = lambda META: (triton.cdiv(x.numel(), META["BLOCK"]), )
    scale[grid](x, out, x.numel(), ACTIVATION=activation)
    return out


print(scaled(torch.rand(98432, device=DEVICE)))
