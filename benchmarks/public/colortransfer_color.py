"""colortransfer-triton 0.1.0: AdaIN, wavelet pyramid, sliced OT, Sinkhorn plan, LUT and Lab kernels on photographs."""
from _common import *
import colortransfer_triton as ct


def img(n, h, w, dtype=f32):
    return rand(n, 3, h, w, dtype=dtype)


@case((4, 1080, 1920, f32), (8, 768, 768, f16))
def adain(n, h, w, dt):
    ct.adain(img(n, h, w, dt), img(n, h // 2, w // 2, dt))


@case((2, 1080, 1920, f32), (8, 512, 512, f16))
def wavelet(n, h, w, dt):
    ct.wavelet(img(n, h, w, dt), img(n, h, w, dt), levels=4)


@case((4096, 2048), (1024, 1024))
def sliced(m, q):
    ct.sliced_transport(rand(m, 3), rand(m, 3), queries=rand(q, 3), iterations=3)


@case((2048, 1.0), (1024, 0.8))
def plan(m, mass):
    ct.sinkhorn_plan(rand(m, 3), rand(m, 3), iterations=2, mass=mass)


@case((1, 1080, 1920, "sliced_ot"), (4, 512, 512, "sinkhorn"))
def lut(n, h, w, method):
    a, b = img(n, h, w), img(n, h, w)
    table = ct.fit_lut(a, b, method=method, samples=1024, iterations=2)
    ct.apply_lut(a, table)
    ct.apply_lut(a.half(), table, strength=0.7)


@case((4, 1080, 1920))
def lab(n, h, w):
    ct.srgb_to_lab(img(n, h, w))


@case((1, 256, 256))
def flow(n, h, w):
    m = ct.fit_colorfm_model(img(n, h, w), img(n, h, w), samples=512, steps=2, hidden=64, batch_size=256)
    m.transform_points(rand(1 << 20, 3))
    m.to_lut(lut_size=33)
