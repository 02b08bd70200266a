"""fastaf 0.1.1: fused LoRA linear, forward into the base output and the three backward products."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import importlib
import types
from typing import NamedTuple


class LoRAShapeKey(NamedTuple):
    S: int
    H: int
    R: int


def fake(name, **kw):
    m = sys.modules[name] = types.ModuleType(name)
    m.__dict__.update(kw)


root = os.path.join(sys.path[0], "fastaf")
fake("fastaf", __path__=[root])  # the package's own __init__ wants safetensors
# Used for tuning only, and its annotations need Python 3.14.
fake("fastaf.kernels.fused_lora_linear._shared_lora_utils", INPUT_SHAPES=[], LoRAShapeKey=LoRAShapeKey, LoRATileSpec=None,
     **{x: None for x in ("check_occupancy", "check_register_pressure", "check_shape_bounds", "check_shared_memory", "check_thread_limit")})
M = lambda n: importlib.import_module("fastaf." + n)


@case((2048, 2048, 16), (1024, 2048, 64))
def layer(n, d, r):
    m = M("peft_methods.lora")
    lin = m.LoraLinear(torch.nn.Parameter(randn(d, d, dtype=f16, scale=0.02)), None)
    lin._add_new_adapter("a", m.LoRAConfig(r=r, alpha=2.0 * r, targets=[]))
    lin._set_active_adapter("a")
    lin.train()
    bwd(lin(randn(n, d, dtype=f16, grad=True)))


@case((4096, 4096, 4096, 32))
def pieces(n, k, d, r):
    p = "kernels.fused_lora_linear."
    x, a, b = randn(n, k, dtype=f16), randn(r, k, dtype=f32, scale=0.02), randn(d, r, dtype=f32, scale=0.02)
    g = randn(n, d, dtype=f16)
    f = M(p + "fwd")
    f.fused_lora_forward(x, a, b, randn(n, d, dtype=f16), 2.0, **f.DEFAULT_CFG)
    f = M(p + "bwd_a")
    f.fused_lora_backward_a(g, b, x, 2.0, **f.DEFAULT_CFG)
    f = M(p + "bwd_x")
    f.fused_lora_backward_x(g, b, a, 2.0, **f.DEFAULT_CFG)
    f = M(p + "bwd_b")
    f.fused_lora_backward_b(g[:1024], x[:1024], a, 2.0, **f.DEFAULT_CFG)
