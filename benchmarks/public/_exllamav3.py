"""What the programs of exllamav3 share: its Triton modules without its extension, and the first candidate of each search."""
from _common import *
import importlib

for name in ("", ".modules", ".modules.attention_fn", ".modules.gated_delta_net_fn", ".modules.quant", ".modules.quant.exl3_lib", ".util"):
    package("exllamav3" + name)


class Cache:
    def get(self, device, shape, dtype, *_):
        return torch.empty(shape, dtype=dtype, device=device)

    def get_scratch(self, device, numel, dtype, *_):
        return torch.empty(numel, dtype=dtype, device=device)


def stub(name, **content):
    m = sys.modules["exllamav3." + name] = types.ModuleType("exllamav3." + name)
    m.__dict__.update(content)


stub("util.tensor", g_tensor_cache=Cache(), get_for_device=None, buffered_arange=None)
stub("ext", exllamav3_ext=None)
M = lambda name: importlib.import_module("exllamav3.modules." + name)
A = lambda name: M("attention_fn." + name)
A("smem").pick_config = lambda device, name, key, candidates, probe: list(candidates)[0]  # the largest tile, as on this GPU
PAGE = 256
