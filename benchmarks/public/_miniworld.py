"""What the programs of miniworld-engine share: its Triton kernels alone, few configurations, and weights."""
from _common import *
import importlib
from miniworld_engine import settings
from miniworld_engine.autotune import configs

settings.configure(force_portable_kernels=True)   # Triton also where the package would build CUDA
load = configs._load
configs._load = lambda op: load(op)[::6]   # every sixth of some thirty configurations
M = lambda n: importlib.import_module("miniworld_engine.kernels." + n)


def w(*shape, t=bf16):
    return randn(*shape, dtype=t, scale=shape[-1] ** -0.5, grad=True)
