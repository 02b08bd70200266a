"""torch-optimi 0.3.3: optimizer steps with Kahan summation: Adam, Adan, Lion, RAdam, Ranger, SGD, StableAdamW (with its root mean squares)."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
import optimi


@case(*((n, d) for n in ("Adam", "AdamW", "Adan", "Lion", "RAdam", "Ranger", "SGD", "StableAdamW") for d in (bf16, f32)))
def step(name, dtype):
    ps = [torch.nn.Parameter(randn(4096, 4096, dtype=dtype)), torch.nn.Parameter(randn(11008, 4096, dtype=dtype)), torch.nn.Parameter(randn(4096, dtype=dtype))]
    o = getattr(optimi, name)(ps, lr=1e-3, weight_decay=0.1, triton=True, **({"momentum": 0.9} if name == "SGD" else {}))
    for _ in range(2):
        for p in ps:
            p.grad = torch.randn_like(p)
        o.step()
