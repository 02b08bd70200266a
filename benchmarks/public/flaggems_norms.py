"""flag-gems 5.0.2: layer, rms, group, batch, instance and weight norm, forward and backward, and the fused skip norms."""
from _gems import *
rn = mod("ops.rms_norm")


def layer(M, N, dt=bf16):
    x, w, b = X(M, N, dt=dt), X(N, dt=dt), X(N, dt=dt)
    y, mean, rstd = fg.layer_norm(x, [N], w, b)
    fg.layer_norm_backward(X(M, N, dt=dt), x, [N], mean, rstd, w, b, [True, True, True])


def rms(M, N, dt=bf16):
    x, w = X(M, N, dt=dt), X(N, dt=dt)
    y, inv = rn.rms_norm_forward(x, [N], w)
    rn.rms_norm_backward(X(M, N, dt=dt), x, inv, [N], w)


def group(N, C, H, G, dt=f32):
    x, w, b = X(N, C, H, H, dt=dt), X(C, dt=dt), X(C, dt=dt)
    y, mean, rstd = fg.group_norm(x, w, b, N, C, H * H, G)
    fg.group_norm_backward(X(N, C, H, H, dt=dt), x, mean, rstd, w, N, C, H * H, G, [True, True, True])


def batch():
    x, w = X(32, 128, 56, 56), X(128)
    m, v = zeros(128, dtype=f32), ones(128, dtype=f32)
    fg.batch_norm_backward(X(32, 128, 56, 56), x, w, m, v, X(128), rand(128, lo=0.5), True, 1e-5, [True, True, True])


def weight(dim, M=4096, N=4096):
    v, g = X(M, N), X(M, 1) if dim == 0 else X(1, N)
    w, n = fg.weight_norm_interface(v, g, dim)
    fg.weight_norm_interface_backward(X(M, N), v, g, n, dim)


def weight3():
    v, g = X(64, 256, 128).requires_grad_(), X(1, 256, 1).requires_grad_()
    bwd(mod("fused.weight_norm").weight_norm(v, g, 1))


def instance(N, C, H):
    x, w, b = X(N, C, H, H).requires_grad_(), X(C).requires_grad_(), X(C).requires_grad_()
    bwd(fg.instance_norm(x, w, b))


def instance_run():
    fg.instance_norm(X(16, 64, 64, 64), X(64), X(64), zeros(64, dtype=f32), ones(64, dtype=f32), use_input_stats=False)


drive(dict(
    layer_4k=lambda: layer(4096, 4096), layer_small=lambda: layer(65536, 128), layer_big=lambda: layer(1024, 16384), rms=lambda: rms(4096, 4096),
    rms_big=lambda: rms(1024, 65536), group=lambda: group(16, 256, 32, 32), group_big=lambda: group(4, 128, 64, 8, f16), batch=batch, weight0=lambda: weight(0),
    weight1=lambda: weight(1), weight3=weight3, instance=lambda: instance(16, 64, 64), instance_small=lambda: instance(64, 256, 8), instance_big=lambda: instance(2, 16, 256), instance_run=instance_run,
    fused_add_rms=lambda: fg.fused_add_rms_norm(X(4096, 4096, dt=bf16), X(4096, 4096, dt=bf16), [4096], X(4096, dt=bf16)),
    skip_layer=lambda: fg.skip_layer_norm(X(4096, 4096, dt=bf16), X(4096, 4096, dt=bf16), [4096], X(4096, dt=bf16), X(4096, dt=bf16)),
    rms_exp=lambda: mod("experimental_ops.rmsnorm").rmsnorm(X(4096, 4096, dt=bf16), X(4096, dt=bf16)),
))
