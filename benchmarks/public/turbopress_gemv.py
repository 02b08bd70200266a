"""turbopress 0.5.2: products with trellis-coded weights decoded inside (1 to 4 bits), and the block Walsh-Hadamard transform before them."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib, types

T = importlib.import_module("turbopress.triton_kernel")


@case((1, 14336, 4096, 3), (16, 4096, 14336, 3), (64, 4096, 4096, 3), (1, 14336, 4096, 2), (16, 4096, 4096, 4), (1, 8192, 8192, 1))
def gemv(b, n, d, bits):
    """Codes of bits + 1 bits a weight."""
    width = (d * (bits + 1) + 7) // 8
    layer = types.SimpleNamespace(in_features=d, out_features=n, bits=bits, scales=rand(n, lo=0.01, hi=0.02, dtype=f16),
                                  codebook=torch.linspace(-2.5, 2.5, 2 ** (bits + 1), device=DEV).to(f16),
                                  levels_packed=randint(0, 256, n, (width + 3) // 4 * 4, dtype=torch.uint8))
    T.packed_gemv(randn(b, d, dtype=f16), layer)


@case((8192, 4096, 4096), (4096, 14336, 2048), (4096, 11008, 256), (4096, 13696, 128), (4096, 5184, 64))
def rotation(b, d, block):
    T.fwht_scale(randn(b, d, dtype=f16), rand(d, lo=-1.0, dtype=f16), block)
