import triton
import triton.language as tl


@triton.jit
def variance(x, y, n, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    v = tl.load(x + i, mask=i < n, other=0.0)
    d = v - tl.sum(v, axis=0) / n
    tl.store(y, tl.sum(d * d, axis=0) / n)


@triton.jit
def shifted(x, y, out, BLOCK: tl.constexpr):
    i = tl.arange(0, BLOCK)
    tl.store(out + i, tl.load(x + i) >> tl.load(y + i))


@triton.jit
def counted(counter, out):
    tl.store(out, tl.atomic_add(counter, 1))
