"""localcorr 0.1.1 and local-corr-lumi 0.1.0: local correlation of optical flow (pyramid levels, fused, spatial), backward."""
from _common import *
from localcorr.triton import pyramid_corr as pc, spatial_corr as sc
from localcorr.blocks import LocalCorrTritonBlock, LocalCorrTritonFusedBlock
from local_corr import kernel as lumi


def coords(b, h, w):
    y, x = torch.meshgrid(torch.arange(h, device=DEV, dtype=f32), torch.arange(w, device=DEV, dtype=f32), indexing="ij")
    return torch.stack([x, y])[None].repeat(b, 1, 1, 1) + rand(b, 2, h, w, lo=-3, hi=3)


@case((2, 256, 55, 128, f32), (2, 128, 60, 80, f16))
def raft(b, c, h, w, dt):
    for cls in (LocalCorrTritonBlock, LocalCorrTritonFusedBlock):
        f1, f2 = randn(b, c, h, w, dtype=dt, grad=True), randn(b, c, h, w, dtype=dt, grad=True)
        try:
            bwd(cls(f1, f2)(coords(b, h, w).to(dt)))
        except Exception:
            traceback.print_exc()


@case((2, 64, 112, 128, 4), (4, 128, 56, 64, 4))
def spatial(b, c, h, w, md):
    f1, f2 = randn(b, c, h, w, dtype=f32, grad=True), randn(b, c, h, w, dtype=f32, grad=True)
    bwd(sc.TritonSpatialCorrelationFunction.apply(f1, f2, md, 1))


@case((2, 4096, 256, 64, 64, 49, f16), (1, 16384, 64, 128, 128, 25, f32))
def romatch(b, n, c, h, w, k, dt):
    lumi.local_corr(randn(b, n, c, dtype=dt), randn(b, h, w, c, dtype=dt), rand(b, n, k, 2, lo=-1, hi=1, dtype=dt))
