"""eigentune 0.2.0: adapters in singular subspaces: skinny products down and up with fused scale and residual, and their gradients."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib

package("eigentune")
package("eigentune.kernels")
B = importlib.import_module("eigentune.kernels.triton_backend").TritonBackend()


@case((8192, 4096, 4096, 64, "diag", bf16), (8192, 4096, 11008, 16, "diag", bf16), (4096, 2048, 2048, 256, "diag", f16), (8192, 4096, 4096, 32, "core", bf16),
      (4096, 4096, 4096, 64, "core", f16), (4096, 2048, 2048, 32, "diag", f32))
def update(n, k, m, r, kind, dtype):
    x, base, vh, u = randn(n, k, dtype=dtype), randn(n, m, dtype=dtype), randn(r, k, dtype=dtype, scale=0.02), randn(m, r, dtype=dtype, scale=0.02)
    w = randn(r, dtype=f32) if kind == "diag" else randn(r, r, dtype=f32)
    y, q = B.forward(x, vh, u, w, kind, base)
    B.backward(randn(n, m, dtype=dtype), q, vh, u, w, kind, True)
