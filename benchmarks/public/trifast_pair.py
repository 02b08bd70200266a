"""trifast 0.1.13: triangle attention with pair bias and mask, forward and its three backward kernels (keys and values, queries, bias)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from _cut import cut
import importlib.metadata as md
version = md.version
md.version = lambda n: "0.1.13" if n == "trifast" else version(n)


class Shaped:
    def __class_getitem__(cls, item):
        return item[0]


sys.modules["jaxtyping"] = types.ModuleType("jaxtyping")
sys.modules["jaxtyping"].Bool = sys.modules["jaxtyping"].Float = Shaped
sys.modules["platformdirs"] = types.ModuleType("platformdirs")
sys.modules["platformdirs"].user_config_dir = lambda **k: "/tmp/trifast-config"
package("trifast")
from trifast import autotune_helpers
autotune_helpers.config_dir = None
from trifast.torch import triangle_attention
import trifast.triton
cut("trifast.triton")


@case((1, 4, 256, 32, bf16), (1, 4, 384, 32, bf16), (1, 8, 128, 64, f32))
def attention(b, h, n, d, dtype):
    q, k, v = (randn(b, h, n, n, d, dtype=dtype, grad=True) for _ in range(3))
    bwd(triangle_attention(q, k, v, randn(b, h, n, n, dtype=dtype, grad=True), torch.rand(b, n, n, device=DEV) < 0.05))
