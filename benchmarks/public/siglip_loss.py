"""siglip-kernel 0.1.2: SigLIP losses (chunked, GEMM epilogue, fully fused, persistent, multi-positive, fp8), both ways."""
from _common import *
from siglip_kernel import (fused_chunked_bf16 as a, fused_chunked_epilogue as e, fused_linear_sigmoid_bce as l,
                           fused_siglip_kernel as k, fused_siglip_plus as p, fused_siglip_v2 as v, hopper_kernel as h)

F = dict(chunked=a.fused_chunked_bf16_siglip_loss, epilogue=e.fused_chunked_epilogue_siglip_loss, linear=l.fused_siglip_loss,
         full=k.fully_fused_siglip_loss, manual=lambda *x: k.fully_fused_siglip_loss(*x, autotune=False),
         plus=p.fused_siglip_plus_loss, v2=v.fused_siglip_v2_loss, hopper=h.hopper_fused_siglip_loss,
         fp8=lambda *x: e.fused_chunked_epilogue_siglip_loss(*x, use_fp8=True),
         hopper8=lambda *x: h.hopper_fused_siglip_loss(*x, use_fp8=True))


@case(*[(n, b, d) for n in F for b, d in ((4096, 512), (2048, 768))])
def loss(name, b, d):
    x, y = [torch.nn.functional.normalize(randn(b, d, dtype=f32), dim=-1).bfloat16().requires_grad_() for _ in range(2)]
    t, bias = torch.tensor(2.3, device=DEV, requires_grad=True), torch.tensor(-10.0, device=DEV, requires_grad=True)
    args = (x, y, t, bias)
    if name == "plus":
        args += (randint(0, b // 2, b), randint(0, b // 2, b))
    bwd(F[name](*args))
