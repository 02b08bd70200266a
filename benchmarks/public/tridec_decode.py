"""tridec 0.2.2: min-sum belief propagation and Relay-BP decoders of a random LDPC code, split and fused kernels."""
from _common import *
import numpy as np
from tridec.backends.bp_triton import BpTriton
from tridec.backends.megakernel import BpMegaTriton, RelayBpMegaTriton
from tridec.backends.relay_triton import RelayBpTriton


def code(m, n, w, seed=0):
    g = np.random.default_rng(seed)
    H = np.zeros((m, n), dtype=np.uint8)
    for j in range(n):
        H[g.choice(m, w, replace=False), j] = 1
    return H, np.full(n, 0.02), g


def syndromes(H, g, shots):
    e = (g.random((shots, H.shape[1])) < 0.02).astype(np.int64)
    return (e @ H.T.astype(np.int64) % 2).astype(np.uint8)


def named(dec):
    """What from_dem sets: the observables' rows (one here)."""
    dec._Lo = np.ones((1, dec.H.shape[1]), dtype=np.uint8)
    dec._n_obs = 1
    dec._dem = dec.dem = None
    return dec


@case((144, 720, 4, 4096), (72, 360, 3, 256))
def bp(m, n, w, shots):
    H, p, g = code(m, n, w)
    named(BpTriton(H, p, max_iter=4, cuda_graph=False)).decode_batch(syndromes(H, g, shots), device=DEV)


@case((72, 360, 3, 4096))
def bp_mega(m, n, w, shots):
    H, p, g = code(m, n, w)
    named(BpMegaTriton(H, p, max_iter=10)).decode_batch(syndromes(H, g, shots), device=DEV)


@case((72, 360, 3, 1024, "float64"), (72, 360, 3, 4096, "float32"))
def relay(m, n, w, shots, dt):
    H, p, g = code(m, n, w)
    kw = dict(pre_iter=4, num_sets=2, set_max_iter=3, dtype=dt)
    named(RelayBpTriton(H, p, **kw)).decode_batch(syndromes(H, g, shots), device=DEV)
    named(RelayBpMegaTriton(H, p, **kw)).decode_batch(syndromes(H, g, shots), device=DEV)
