import triton
import triton.language as tl


@triton.jit
def helper(x):
    return x * 2


@triton.jit
def typed(x: "*fp32", y: "*fp32"):
    i = tl.arange(0, 64)
    tl.store(y + i, helper(tl.load(x + i)))


@triton.jit
def untyped(x, y, B: tl.constexpr):
    i = tl.arange(0, B)
    tl.store(y + i, tl.load(x + i))
