import triton

__all__ = ["shifted", "_private"]


@triton.jit
def shifted(x):
    return x + 1


@triton.jit
def _private(x):
    return x - 1


@triton.jit
def hidden(x):
    return x
