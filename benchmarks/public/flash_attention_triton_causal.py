"""flash-attention-triton 0.1.1: causal attention forward and backward, with atomics and without."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import types
try:
    import packaging.version
except ImportError:
    v = sys.modules["packaging.version"] = types.ModuleType("packaging.version")
    v.parse = lambda text: tuple(int(x) for x in re.findall(r"\d+", text.split("+")[0])[:3])
    p = sys.modules["packaging"] = types.ModuleType("packaging")
    p.version, p.__path__ = v, []
from flash_attention_triton import flash_attention_v2


@case((2, 16, 2048, 64, False), (4, 16, 1024, 64, True), (1, 16, 2000, 128, False), (4, 32, 512, 80, True))
def causal(b, h, n, d, deterministic):
    bwd(flash_attention_v2(*(randn(b, h, n, d, dtype=f16, grad=True) for _ in range(3)), deterministic=deterministic))
