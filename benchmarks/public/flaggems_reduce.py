"""flag-gems 5.0.2: reductions, norms, pooling, convolution, upsampling, padding and products (not registered in aten)."""
from _common import *
os.environ.setdefault("GEMS_VENDOR", "nvidia")
import flag_gems as fg

X = lambda *s, dt=f32: randn(*s, dtype=dt)
C = dict(
    var_mean=lambda: fg.var_mean(X(4096, 4096), [1]), var_all=lambda: fg.var_mean(X(1 << 23)), std=lambda: fg.std(X(4096, 2048), [1]),
    prod=lambda: fg.prod_dim(X(4096, 2048), 1), vnorm=lambda: fg.vector_norm(X(4096, 4096), 2, [1]), any=lambda: fg.any(X(4096, 4096) > 3),
    count=lambda: fg.count_nonzero(X(4096, 4096), 1), mean=lambda: fg.mean_dim(X(256, 64, 1024), [1]), sum=lambda: fg.sum_dim(X(4096, 4096), [0]),
    log_softmax=lambda: fg.log_softmax(X(4096, 8192), 1), softmax0=lambda: fg.softmax(X(2048, 4096), 0),
    nll=lambda: fg.nll_loss_forward(X(4096, 32000), randint(0, 32000, 4096)), mse=lambda: fg.mse_loss(X(4096, 4096), X(4096, 4096)),
    batch_norm=lambda: fg.batch_norm(X(32, 128, 56, 56), X(128), X(128), torch.zeros(128, device=DEV), torch.ones(128, device=DEV), True),
    weight_norm=lambda: fg.weight_norm_interface(X(4096, 4096), X(4096, 1), 0),
    maxpool=lambda: fg.max_pool2d_with_indices(X(16, 64, 112, 112), 3, 2, 1), avgpool=lambda: fg.avg_pool2d(X(16, 64, 112, 112), [3, 3], [2, 2], [1, 1]),
    conv2d=lambda: fg.conv2d(X(8, 64, 56, 56, dt=f16), X(128, 64, 3, 3, dt=f16), None, padding=1), conv1d=lambda: fg.conv1d(X(8, 64, 4096), X(64, 64, 3), None, padding=1),
    conv3d=lambda: fg.conv3d(X(2, 16, 16, 56, 56, dt=f16), X(32, 16, 3, 3, 3, dt=f16), None, padding=1),
    depthwise=lambda: fg._conv_depthwise2d(X(8, 64, 56, 56), X(64, 1, 3, 3), [3, 3], None, [1, 1], [1, 1], [1, 1]),
    bicubic=lambda: fg._upsample_bicubic2d_aa(X(4, 3, 512, 512), [224, 224], False), nearest=lambda: fg.upsample_nearest2d(X(8, 64, 64, 64), [128, 128]),
    nearest3=lambda: fg.upsample_nearest3d(X(2, 32, 16, 32, 32), [32, 64, 64]), reflect=lambda: fg.reflection_pad2d(X(8, 64, 128, 128), [3, 3, 3, 3]),
    pixel=lambda: fg.pixel_unshuffle(X(8, 16, 256, 256), 2), hadamard=lambda: fg.hadamard_transform(X(4096, 2048, dt=bf16)),
    mv=lambda: fg.mv(X(8192, 4096), X(4096)), dot=lambda: fg.dot(X(1 << 22), X(1 << 22)), addr=lambda: fg.addr(X(4096, 4096), X(4096), X(4096)),
    baddbmm=lambda: fg.baddbmm(X(16, 512, 512, dt=f16), X(16, 512, 512, dt=f16), X(16, 512, 512, dt=f16)), trace=lambda: fg.trace(X(4096, 4096)),
    digamma=lambda: fg.digamma_(rand(1 << 22, lo=0.1)), i0e=lambda: fg.special_i0e(X(1 << 22)))


@case(*C)
def op(name):
    C[name]()
