"""bm3d-triton 0.1.1: block matching, 3D transform shrinkage (hard and Wiener) and normalisation of an image."""
from _common import *
import bm3d_triton as bm


@case((1, 1, 256, 256), (1, 3, 128, 192))
def denoise(n, c, h, w):
    y = torch.linspace(0, 6, h, device=DEV)[:, None] + torch.linspace(0, 4, w, device=DEV)
    x = (0.5 + 0.3 * torch.sin(y) + 0.05 * torch.randn(n, c, h, w, device=DEV)).clamp(0, 1)
    bm.denoise_variance(x, 0.0025)


@case((1, 1, 512, 512))
def one_step(n, c, h, w):
    from bm3d_triton import _backend
    x = (0.5 + 0.05 * torch.randn(n, c, h, w, device=DEV)).clamp(0, 1)
    _backend.denoise(x, 0.0025, two_step=False)
