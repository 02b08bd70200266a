import triton
import triton.language as tl


@triton.jit
def helper(v):
    return v * 2


@triton.jit
def scale(x, out, n, BLOCK: tl.constexpr = 64):
    i = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(out + i, helper(tl.load(x + i, i < n)), i < n)


@triton.jit
def typed(x: "*fp32", BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)


@triton.jit
def both(x, BLOCK: tl.constexpr):
    tl.store(x + tl.arange(0, BLOCK), 1.0)
