"""crossentropy-triton 0.1.2: the scaled backward (loss scaling, gradient accumulation), with ignored labels."""
import os, sys
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site"))
from _common import *
from crossentropy_triton import TritonCausalLMLoss


@case((4, 1024, 32000, bf16), (2, 512, 128256, bf16), (1, 1024, 50257, f32))
def scaled(b, t, v, dt):
    x, y = randn(b, t, v, dtype=dt, grad=True), randint(0, v, b, t)
    y[:, : t // 8] = -100
    (TritonCausalLMLoss(v)(x, y) * 0.125).backward()
