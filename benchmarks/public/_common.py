"""What the programs of this folder share: seeds, inputs, and cases that fail one by one."""
import gc
import os
import re
import sys
import time
import traceback
import types

os.environ["TORCHDYNAMO_DISABLE"] = "1"  # kernels of the packages only, none that PyTorch generates

import torch

DEV = "cuda"
bf16, f16, f32, i32, i64 = torch.bfloat16, torch.float16, torch.float32, torch.int32, torch.int64
torch.manual_seed(0)
SITE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site")


def package(name):
    """An empty package of that name, so that its modules load without what its __init__ wants."""
    m = sys.modules[name] = types.ModuleType(name)
    m.__path__ = [os.path.join(SITE, *name.split("."))]
    if "." in name:
        setattr(sys.modules[name.rpartition(".")[0]], name.rpartition(".")[2], m)
    return m


def randn(*shape, dtype=bf16, scale=1.0, grad=False):
    x = torch.randn(*shape, device=DEV, dtype=dtype)
    return (x if scale == 1.0 else x * scale).detach().requires_grad_(grad)


def rand(*shape, dtype=f32, lo=0.0, hi=1.0, grad=False):
    return (torch.rand(*shape, device=DEV, dtype=f32) * (hi - lo) + lo).to(dtype).requires_grad_(grad)


def randint(lo, hi, *shape, dtype=i64):
    return torch.randint(lo, hi, shape, device=DEV, dtype=dtype)


def tensor(values, dtype=i32):
    return torch.tensor(values, device=DEV, dtype=dtype)


def zeros(*shape, dtype=bf16):
    return torch.zeros(*shape, device=DEV, dtype=dtype)


def ones(*shape, dtype=bf16):
    return torch.ones(*shape, device=DEV, dtype=dtype)


def bwd(out):
    """Backward, with random gradients of every output that has one."""
    outs = out if isinstance(out, (tuple, list)) else (out,)
    outs = [o for o in outs if isinstance(o, torch.Tensor) and o.requires_grad]
    torch.autograd.backward(outs, [torch.randn_like(o) for o in outs])


def case(*params):
    """Runs the function at once for each tuple of parameters; one that fails says so, and the others go on.

    With a regular expression in the environment's CALLS only those whose name and parameters match, as they are printed."""

    def run(function):
        for p in params or ((),):
            p = p if isinstance(p, tuple) else (p,)
            if not re.search(os.environ.get("CALLS", ""), f"{function.__name__}{p}"):
                continue
            start = time.time()
            print(f"== {function.__name__}{p}", flush=True)
            try:
                function(*p)
                torch.cuda.synchronize()
                print(f"== done {time.time() - start:.1f}s", flush=True)
            except Exception:
                traceback.print_exc()
                print(f"== FAILED {function.__name__}{p}", flush=True)
            gc.collect()
            torch.cuda.empty_cache()
        return function

    return run
