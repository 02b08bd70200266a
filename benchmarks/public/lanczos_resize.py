"""lanczos-triton 0.1.0: separable antialiased Lanczos resize, up and down, NCHW and NHWC."""
from _common import *
import lanczos_triton as lz


@case((4, 3, 1080, 1920, (512, 910), f32), (8, 3, 512, 512, (1024, 1024), f16), (2, 3, 2160, 3840, (224, 224), bf16),
      (1, 16, 256, 256, (2048, 2048), f32))
def resize(n, c, h, w, size, dt):
    lz.resize(rand(n, c, h, w, dtype=dt), size)


@case((4, 3, 1024, 1024, (256, 256)))
def resize2(n, c, h, w, size):
    lz.resize(rand(n, c, h, w), size, a=2)
    lz.resize(rand(n, c, h, w).contiguous(memory_format=torch.channels_last), size, antialias=False)
