"""jvp-flash-attention 0.14.0: attention and its forward-mode derivative under boolean and additive masks, causal without descriptors, both ways."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from jvp_flash_attention.jvp_attention import MASK_CONST, JVPAttn


@case((2, 8, 2048, 64, "bool", False, f16), (2, 8, 2048, 64, "float", False, bf16), (2, 8, 1024, 64, "bool", True, bf16), (1, 8, 2048, 128, "causal", False, bf16))
def masked(B, H, T, D, kind, tma, dt):
    m = torch.rand(B, H, T, T, device=DEV) < 0.7
    m |= torch.eye(T, device=DEV, dtype=torch.bool)
    mask = {"bool": m, "float": torch.where(m, randn(B, H, T, T, dtype=dt), torch.tensor(MASK_CONST, device=DEV, dtype=dt)), "causal": None}[kind]
    kw = dict(attn_mask=mask, causal=kind == "causal", USE_TMA=tma, warp_specialize=False)
    bwd(JVPAttn.fwd(*(randn(B, H, T, D, dtype=dt, grad=True) for _ in range(3)), **kw))
    JVPAttn.forward(*(randn(B, H, T, D, dtype=dt) for _ in range(6)), **kw)
