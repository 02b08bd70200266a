"""hackers-kernels 0.1.6: elementwise SwiGLU of three tensors."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *


@case((8192, 4096, f16), (16384, 8192, f16))
def swiglu(n, d, t):
    from hackers_kernels import run_fused_mlp
    run_fused_mlp(randn(n, d, dtype=t), randn(n, d, dtype=t), randn(n, d, dtype=t))
