"""accelerated-scan 0.3.1: first-order recurrences by associative scan, real and complex, forward and backward."""
from _common import *
from accelerated_scan import complex as cx, scalar as sr


@case((8, 1536, 2048, f32), (2, 1024, 16384, f32), (8, 768, 4096, bf16))
def real(b, c, t, dt):
    f, x = rand(b, c, t, lo=0.9, dtype=dt, grad=True), randn(b, c, t, dtype=dt, grad=True)
    bwd(sr.scan(f, x))


@case((4, 512, 2048), (1, 512, 8192))
def cplx(b, c, t):
    f = torch.polar(rand(b, c, t, lo=0.9), rand(b, c, t, hi=3.0)).requires_grad_()
    x = torch.complex(randn(b, c, t, dtype=f32), randn(b, c, t, dtype=f32)).requires_grad_()
    o = cx.scan(f, x)
    o.backward(torch.ones_like(o))
