"""flag-gems 5.0.2: softmax family and losses (cross entropy in its three forms, nll in 1d/2d/nd, huber, margin), both passes."""
from _gems import *
ss = mod("ops.scaled_softmax")


def soft(shape, dim, log=False, dt=f32):
    f, b = (fg.log_softmax, fg.log_softmax_backward) if log else (fg.softmax, fg.softmax_backward)
    y = f(X(*shape, dt=dt), dim)
    b(X(*shape, dt=dt), y, dim, dt)


def ce(M=4096, V=32000, smooth=0.0, prob=False, dt=bf16):
    x = X(M, V, dt=dt).requires_grad_()
    t = torch.softmax(X(M, V), 1).to(dt) if prob else randint(0, V, M)
    bwd(fg.cross_entropy_loss(x, t, label_smoothing=smooth))


def ce2d():
    x = X(8, 21, 256, 256).requires_grad_()
    bwd(fg.cross_entropy_loss(x, randint(0, 21, 8, 256, 256)))


def nll(M=8192, V=8192):
    x, t = X(M, V), randint(0, V, M)
    l, w = fg.nll_loss_forward(x, t)
    fg.nll_loss_backward(ones(1, dtype=f32).reshape(()), x, t, None, 1, -100, w)


def nll2d():
    x, t = X(8, 21, 256, 256), randint(0, 21, 8, 256, 256)
    l, w = fg.nll_loss2d_forward(x, t)
    fg.nll_loss2d_backward(ones(1, dtype=f32).reshape(()), x, t, None, 1, -100, w)


def nllnd():
    m = mod("ops.nll_loss_nd")
    x, t = X(8, 32, 16, 32, 32), randint(0, 32, 8, 16, 32, 32)
    l, w = m.nll_loss_nd_forward(x, t)
    m.nll_loss_nd_backward(ones(1, dtype=f32).reshape(()), x, t, None, 1, -100, w)


def scaled():
    x = X(4, 16, 1024, 1024, dt=f16)
    y = ss.scaled_softmax_forward(x, 0.125)
    ss.scaled_softmax_backward(X(4, 16, 1024, 1024, dt=f16), torch.softmax(x, -1), 0.125)


drive(dict(
    soft_inner=lambda: soft((4096, 4096), 1), soft_long=lambda: soft((256, 65536), 1, dt=f16), soft_outer=lambda: soft((64, 1024, 128), 1), log_inner=lambda: soft((4096, 8192), 1, True, bf16),
    log_mid=lambda: soft((16, 256, 1024), 1, True), scaled=scaled, safe=lambda: mod("ops._safe_softmax")._safe_softmax(X(32, 512, 1024), -1),
    log_bwd_exp=lambda: mod("experimental_ops._log_softmax_backward_data")._log_softmax_backward_data(X(4096, 4096), -X(4096, 4096).abs(), 1, f32),
    ce=ce, ce_smooth=lambda: ce(smooth=0.1), ce_prob=lambda: ce(2048, 8192, prob=True, dt=f32), ce2d=ce2d, nll=nll, nll2d=nll2d, nllnd=nllnd,
    huber=lambda: mod("experimental_ops.huber_loss").huber_loss(X(4096, 4096), X(4096, 4096)), smooth_l1=lambda: mod("experimental_ops.smooth_l1_loss").smooth_l1_loss(X(4096, 4096), X(4096, 4096)),
    margin=lambda: mod("ops.margin_ranking_loss").margin_ranking_loss(X(1 << 22), X(1 << 22), torch.sign(X(1 << 22))), soft_margin=lambda: mod("ops.soft_margin_loss").soft_margin_loss(X(4096, 2048), torch.sign(X(4096, 2048))),
))
