"""flag-gems 5.0.2: dense, batched, stream-k, grouped and fp8 matrix products, outer/vdot/addmv."""
from _gems import *
f8 = torch.float8_e4m3fn
sk = mod("ops.mm_streamk")
gm = mod("ops.mm")
gg = mod("ops.group_gemm")
q8 = lambda *s: (rand(*s, lo=-4, hi=4)).to(f8)


def streamk(dt, M=1024, N=1536, K=8192):
    a, b = X(M, K, dt=dt), X(K, N, dt=dt)
    sk.streamk_mm(a, b, zeros(M, N, dtype=dt), M, N, K, sm_count=132)


def grouped():
    off = tensor([300, 1100, 1700, 2048, 2500, 3300, 3900, 4096])
    fg.group_mm(X(4096, 2048, dt=bf16), X(8, 2048, 1408, dt=bf16), off)


def grouped_plain():
    a, b, off = X(4096, 2048, dt=bf16), X(8, 2048, 1408, dt=bf16), tensor([300, 1100, 1700, 2048, 2500, 3300, 3900, 4096])
    c = zeros(4096, 1408)
    gg.grouped_mm_kernel[(132,)](a, b, c, off, 8, 4096, 1408, 2048, a.stride(0), a.stride(1), b.stride(1), b.stride(2),
                                 c.stride(0), c.stride(1))


def general():
    a, b, c = X(2048, 2048, dt=f16), X(2048, 4096, dt=f16), zeros(2048, 4096, dtype=f16)
    gm.general_mm(a, b, c, 2048, 4096, 2048)


def syrk():
    a = X(4096, 1024, dt=bf16)
    gm.mm(a, a.t())


drive(dict(
    mm=lambda: fg.mm(X(4096, 4096, dt=bf16), X(4096, 2048, dt=bf16)), mm_t=lambda: fg.mm(X(2048, 2048, dt=f16), X(4096, 2048, dt=f16).t()),
    mm_odd=lambda: fg.mm(X(1000, 1023, dt=f16), X(1023, 777, dt=f16)), general=general, syrk=syrk, gemv=lambda: fg.mm(X(8192, 4096, dt=bf16), X(4096, 1, dt=bf16)),
    streamk_bf16=lambda: streamk(bf16), streamk_f16=lambda: streamk(f16),
    addmm=lambda: fg.addmm(X(4096, dt=f16), X(2048, 2048, dt=f16), X(2048, 4096, dt=f16)),
    bmm=lambda: fg.bmm(X(32, 1024, 128, dt=bf16), X(32, 128, 1024, dt=bf16)), addmv=lambda: fg.addmv(X(8192), X(8192, 4096), X(4096)),
    outer=lambda: fg.outer(X(4096), X(4096)), vdot=lambda: fg.vdot(X(1 << 22), X(1 << 22)),
    vdot_c=lambda: fg.vdot(torch.complex(X(1 << 20), X(1 << 20)), torch.complex(X(1 << 20), X(1 << 20))), grouped=grouped, grouped_plain=grouped_plain,
))
