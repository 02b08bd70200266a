"""flag-gems 5.0.2: fp8 and int8 quantisation and scaled matrix products (block, token and tensor scales)."""
from _gems import *
f8 = torch.float8_e4m3fn
q8 = lambda *s: rand(*s, lo=-4, hi=4).to(f8)
i8 = lambda *s: randint(-100, 100, *s, dtype=torch.int8)
S = lambda *s: rand(*s, lo=0.01, hi=0.02)
aq = mod("ops.act_quant")
fm = mod("ops.fp8_matmul")

drive(dict(
    act_quant=lambda: aq.act_quant_triton(X(4096, 4096, dt=bf16)), act_quant_pow2=lambda: aq.act_quant_triton(X(4096, 4096, dt=bf16), scale_fmt="ue8m0"),
    group_quant=lambda: fg.per_token_group_quant_fp8(X(4096, 4096, dt=bf16), 128), group_quant_col=lambda: fg.per_token_group_quant_fp8(X(4096, 4096, dt=bf16), 128, column_major_scales=True),
    fp8_matmul=lambda: fm.fp8_matmul(q8(2048, 4096), S(2048, 32), q8(2048, 4096), S(16, 32)),
    w8a8=lambda: fg.w8a8_block_fp8_matmul(q8(1024, 4096), q8(2048, 4096), S(1024, 32), S(16, 32), [128, 128]),
    w8a8_small=lambda: fg.w8a8_block_fp8_matmul(q8(16, 4096), q8(4096, 4096), S(16, 32), S(32, 32), [128, 128]),
    scaled_tensor=lambda: fg.cutlass_scaled_mm(zeros(1024, 4096), q8(1024, 4096), q8(4096, 4096).t(), S(1), S(1)),
    scaled_token=lambda: fg.cutlass_scaled_mm(zeros(1024, 4096), q8(1024, 4096), q8(4096, 4096).t(), S(1024, 1), S(1, 4096), X(4096, dt=bf16)),
    scaled_block=lambda: fg.cutlass_scaled_mm(zeros(1024, 4096), q8(1024, 4096), q8(4096, 4096).t(), S(1024, 32), S(32, 32).t().contiguous().t()),
    scaled_int8=lambda: fg.cutlass_scaled_mm(zeros(1024, 4096), i8(1024, 4096), i8(4096, 4096).t(), S(1024, 1), S(1, 4096)),
))
