"""flag-gems 5.0.2: convolution forward/backward in 1d/2d/3d and grouped, pooling backward, resampling, padding, im2col, pixel shuffle."""
from _gems import *
ex = lambda n: mod("experimental_ops." + n)


def conv2d(n, ci, h, co, k, groups=1, stride=1, dt=f16):
    x, w, b = X(n, ci, h, h, dt=dt).requires_grad_(), X(co, ci // groups, k, k, dt=dt).requires_grad_(), X(co, dt=dt).requires_grad_()
    bwd(fg.conv2d(x, w, b, stride=stride, padding=k // 2, groups=groups))


def conv1d():
    x, w = X(8, 128, 4096, dt=f16).requires_grad_(), X(128, 128, 5, dt=f16).requires_grad_()
    bwd(fg.conv1d(x, w, None, padding=2))


def maxpool():
    x = X(16, 64, 112, 112)
    y, i = fg.max_pool2d_with_indices(x, 3, 2, 1)
    i = torch.nn.functional.max_pool2d(x, 3, 2, 1, return_indices=True)[1]
    fg.max_pool2d_backward(torch.ones_like(y), x, i, [3, 3], [2, 2], [1, 1], [1, 1], False)


drive(dict(
    conv3x3=lambda: conv2d(8, 64, 56, 128, 3), conv1x1=lambda: conv2d(16, 256, 28, 256, 1), conv_group=lambda: conv2d(8, 64, 56, 64, 3, groups=8), conv7=lambda: conv2d(8, 3, 224, 64, 7, stride=2), conv1d=conv1d,
    conv3d=lambda: fg.conv3d(X(1, 32, 16, 56, 56, dt=f16), X(64, 32, 3, 3, 3, dt=f16), None, padding=1), maxpool=maxpool,
    avgpool_bwd=lambda: fg.avg_pool2d_backward(X(16, 64, 56, 56), X(16, 64, 112, 112), [3, 3], [2, 2], [1, 1], False, True, None), adaptive3=lambda: ex("_adaptive_avg_pool3d")._adaptive_avg_pool3d(X(4, 32, 16, 64, 64), [8, 16, 16]),
    bicubic=lambda: mod("ops.upsample_bicubic2d").upsample_bicubic2d(X(4, 16, 128, 128), [256, 256], False), bicubic_bwd=lambda: mod("ops.upsample_bicubic2d_aa_backward")._upsample_bicubic2d_aa_backward(X(4, 16, 112, 112), [112, 112], [4, 16, 256, 256], False),
    bicubic_bwd_up=lambda: mod("ops.upsample_bicubic2d_aa_backward")._upsample_bicubic2d_aa_backward(X(4, 16, 256, 256), [256, 256], [4, 16, 128, 128], False), linear1=lambda: mod("ops.upsample_linear1d").upsample_linear1d(X(16, 128, 2048), [4096], False), nearest1=lambda: fg.upsample_nearest1d(X(16, 128, 2048), [4096]), exact1=lambda: mod("ops._upsample_nearest_exact1d")._upsample_nearest_exact1d(X(16, 128, 2048), [3000]),
    nearest3=lambda: ex("upsample_nearest3d").upsample_nearest3d(X(2, 32, 16, 32, 32), [32, 64, 64]), refl1=lambda: fg.reflection_pad1d(X(16, 128, 4096), [8, 8]), rep1=lambda: mod("ops.replication_pad1d").replication_pad1d(X(16, 128, 4096), [8, 8]), rep2=lambda: ex("replication_pad2d").replication_pad2d(X(16, 64, 112, 112), [2, 2, 2, 2]),
    rep3=lambda: mod("ops.replication_pad3d").replication_pad3d(X(2, 32, 16, 64, 64), [1, 1, 2, 2, 1, 1]), im2col=lambda: ex("im2col").im2col(X(8, 32, 64, 64), 3, 1, 1, 1), pixel=lambda: ex("pixel_shuffle").pixel_shuffle(X(8, 64, 128, 128), 2), ifftshift=lambda: ex("fft_ifftshift").fft_ifftshift(X(16, 512, 512)),
))
