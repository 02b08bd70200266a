"""triton-csprng 0.1.5: ChaCha20 blocks and bounded integers, discrete Gaussians and stochastic rounding from them."""
from _common import *
import triton_csprng as cs
from triton_csprng import sampling


def rng(i=0):
    return cs.ChaCha20Rng(key=list(range(1, 9)), nonce=[i, 1], device=DEV)


def odd(i):   # bytes left over: the samplers then read words from memory
    r = rng(i)
    r.bytes((5,))
    return r


@case(1 << 16, 1 << 20)
def blocks(n):
    rng(0).blocks(n)


@case(1 << 20, 1 << 22)
def bounded(n):
    q = [(1 << 50) - 27, (1 << 40) - 87]
    cs.bounded_uint64(rng(1), q, (2, n // 2))
    cs.bounded_uint64(odd(2), q, (2, n // 2))
    sampling.bounded_uint64_two_streams(rng(3), rng(4), q * 2, (4, n // 4), first_channels=2)


@case(1 << 20, 1 << 22)
def gaussian(n):
    cs.discrete_gaussian(rng(5), (n,))
    cs.discrete_gaussian(odd(6), (n,))
    sampling.discrete_gaussian_two_streams(rng(7), rng(8), (4, n // 4), first_channels=2)


@case(1 << 22)
def rounding(n):
    x = torch.randn(n, device=DEV, dtype=torch.float64) * 100
    cs.stochastic_round(rng(9), x)
    cs.stochastic_round(odd(10), x)
