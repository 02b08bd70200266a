"""flag-gems 5.0.2: elementwise operators through the package's pointwise code generator: ranks 1 to 5, broadcasting, strides, scalars."""
from _gems import *
import math
R = lambda *s: rand(*s, lo=0.1, hi=1.0)
I = lambda *s: randint(0, 1 << 20, *s, dtype=i32)
B = lambda *s: rand(*s) > 0.5
ex = lambda n: getattr(mod("experimental_ops." + n), n)
op = lambda n, f=None: getattr(mod("ops." + n), f or n)

drive(dict(
    add_bcast=lambda: fg.add(X(64, 512, 256), X(512, 1)), add_5d=lambda: fg.add(X(8, 16, 32, 32, 16).permute(0, 2, 1, 4, 3), X(8, 32, 16, 16, 32)), mul_t=lambda: fg.mul(X(4096, 4096, dt=bf16).t(), X(4096, 4096, dt=bf16)), div_f=lambda: fg.floor_divide(X(4096, 2048), R(4096, 2048)),
    rem=lambda: fg.remainder(I(4096, 2048), I(4096, 2048) + 1), div=lambda: fg.true_divide(X(1 << 24), 3.0), pow_=lambda: fg.pow_tensor_tensor(R(4096, 2048), X(4096, 2048)), where=lambda: fg.where_self(B(4096, 1), X(4096, 2048), X(1, 2048)),
    gelu=lambda: fg.gelu(X(4096, 4096, dt=bf16)), gelu_t=lambda: fg.gelu(X(4096, 4096, dt=bf16), approximate="tanh"), gelu_b=lambda: fg.gelu_backward(X(4096, 4096, dt=bf16), X(4096, 4096, dt=bf16)), silu_b=lambda: fg.silu_backward(X(4096, 4096, dt=bf16), X(4096, 4096, dt=bf16)),
    tanh_b=lambda: fg.tanh_backward(X(4096, 4096), X(4096, 4096)), sig=lambda: fg.sigmoid(X(64, 512, 512)[:, ::2]), glu=lambda: fg.glu(X(4096, 4096), -1), glu_b=lambda: fg.glu_backward(X(4096, 2048), X(4096, 4096), -1), prelu=lambda: op("prelu")(X(16, 64, 64, 64), X(64)),
    lerp=lambda: fg.lerp_tensor(X(4096, 2048), X(4096, 2048), R(4096, 2048)), addcdiv=lambda: fg.addcdiv(X(4096, 2048), X(4096, 2048), R(4096, 2048), value=0.5), clamp=lambda: fg.clamp_tensor(X(4096, 2048), X(4096, 2048), X(4096, 2048)), polar=lambda: fg.polar(R(4096, 1024), X(4096, 1024)),
    angle=lambda: fg.angle(torch.complex(X(2048, 1024), X(2048, 1024))), atan2=lambda: op("atan2")(X(4096, 2048), X(4096, 2048)), erfinv=lambda: ex("erfinv")(rand(4096, 2048, lo=-0.9, hi=0.9)), isclose=lambda: fg.isclose(X(4096, 2048), X(4096, 2048)), nan=lambda: fg.nan_to_num(X(4096, 2048)), logaddexp=lambda: op("logaddexp")(X(4096, 2048), X(4096, 2048)),
    hypot=lambda: op("hypot")(X(4096, 2048), X(4096, 2048)), copysign=lambda: op("copysign")(X(4096, 2048), X(4096, 2048)), shl=lambda: fg.bitwise_left_shift(I(4096, 2048), I(4096, 2048) % 8), xor=lambda: fg.logical_xor(B(4096, 4096), B(4096, 4096)), sin=lambda: fg.sin(X(1 << 23) * 100), cosh=lambda: op("cosh")(X(4096, 2048)), i0=lambda: op("i0")(X(4096, 2048)), i1=lambda: op("special_i1")(X(4096, 2048)),
    tan=lambda: fg.tan(X(4096, 2048)), acos=lambda: fg.acos(rand(4096, 2048, lo=-0.9, hi=0.9)), asinh=lambda: op("arcsinh")(X(4096, 2048)), softplus=lambda: fg.softplus(X(4096, 2048)), celu=lambda: fg.celu(X(4096, 2048)), elu_b=lambda: fg.elu_backward(X(4096, 2048), 1.0, 1.0, 1.0, False, X(4096, 2048)), rrelu=lambda: op("rrelu_with_noise_backward")(X(4096, 2048), X(4096, 2048), R(4096, 2048), 0.1, 0.3, True),
    xlogy=lambda: mod("experimental_ops.xlogy").xlogy_Tensor(X(4096, 2048), R(4096, 2048)), sinc=lambda: ex("sinc")(X(4096, 2048)), round_=lambda: op("round")(X(4096, 2048)), conj=lambda: fg.conj_physical(torch.complex(X(2048, 1024), X(2048, 1024))), logit=lambda: op("logit")(R(4096, 2048), 1e-6), log_sig=lambda: fg.log_sigmoid(X(4096, 2048)), softshrink=lambda: op("softshrink")(X(4096, 2048)), heav=lambda: ex("heaviside")(X(4096, 2048), X(4096, 2048)),
))
