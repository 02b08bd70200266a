"""gru-qat 0.5.0: whole-sequence GRU scans with dense, block-diagonal, Monarch, butterfly and diagonal weights."""
from _common import *
from gru_qat.triton_kernels import scan, scan_blockdiag, scan_butterfly, scan_diagonal, scan_monarch

Q = (0.05, -128, 127)


def base(t, b, h):
    return randn(t, b, 3 * h, dtype=f32, grad=True), randn(b, h, dtype=f32, grad=True), randn(3 * h, dtype=f32, scale=0.1, grad=True)


def wt(*s, k):
    return randn(*s, dtype=f32, scale=k ** -0.5, grad=True)


@case((64, 128, 256), (128, 32, 128))
def dense(t, b, h):
    gi, h0, bh = base(t, b, h)
    bwd(scan.gru_scan(gi, h0, wt(3 * h, h, k=h), bh))
    gi, h0, bh = base(t, b, h)
    bwd(scan.gru_scan_persistent(gi, h0, wt(3 * h, h, k=h), bh, h_in_quant=Q, h_out_quant=Q))


@case((128, 256, 256, 8), (64, 64, 512, 16))
def structured(t, b, h, nb):
    s = h // nb
    def one(fn):
        gi, h0, bh = base(t, b, h)
        try:
            bwd(fn(gi, h0, bh))
        except Exception:
            traceback.print_exc()
    one(lambda gi, h0, bh: scan_blockdiag.gru_scan_blockdiag(gi, h0, wt(3, nb, s, s, k=s), bh))
    one(lambda gi, h0, bh: scan_diagonal.gru_scan_diagonal(gi, h0, wt(3, h, k=1), bh, h_in_quant=Q))
    one(lambda gi, h0, bh: scan_monarch.gru_scan_monarch(gi, h0, wt(nb, s, s, k=s), wt(3, s, nb, nb, k=nb) if False else wt(3, nb, s, s, k=s), bh))
    n = h.bit_length() - 1
    one(lambda gi, h0, bh: scan_butterfly.gru_scan_butterfly_triton(gi, h0, wt(3, 1, n, h // 2, 2, 2, k=2), bh))
