"""triton-augment 0.3.0: colour, crop, flip, affine and fused augmentation kernels on image batches."""
from _common import *
from triton_augment import functional as F


@case((32, 224, 224, f32), (16, 512, 512, f16))
def color(n, h, w, dt):
    x = rand(n, 3, h, w, dtype=dt)
    F.adjust_brightness(x, 1.2)
    F.adjust_contrast(x, 0.8)
    F.adjust_contrast_fast(x, 0.8)
    F.adjust_saturation(x, 1.3)
    F.normalize(x, (0.485, 0.456, 0.406), (0.229, 0.224, 0.225))
    F.rgb_to_grayscale(x, 3)
    F.rgb_to_grayscale(x, 3, rand(n) > 0.5)


@case((32, 256, 256, f32), (16, 640, 640, f16))
def geometry(n, h, w, dt):
    x = rand(n, 3, h, w, dtype=dt)
    F.crop(x, randint(0, 16, n), randint(0, 16, n), h - 32, w - 32)
    F.horizontal_flip(x, rand(n) > 0.5)
    F.affine(x, rand(n, lo=-30, hi=30), [4.0, 3.0], 1.1, [5.0, 0.0], interpolation="bilinear")
    F.rotate(x, 20.0)


@case((32, 256, 256, f32), (16, 640, 640, f16))
def fused(n, h, w, dt):
    x = rand(n, 3, h, w, dtype=dt)
    kw = dict(brightness_factor=1.1, contrast_factor=rand(n, lo=0.8, hi=1.2), saturation_factor=0.9,
              mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225))
    F.fused_augment(x, 16, 16, h - 32, w - 32, flip_horizontal=rand(n) > 0.5, **kw)
    F.fused_augment(x, 16, 16, h - 32, w - 32, angle=rand(n, lo=-20, hi=20), scale=1.1, interpolation="bilinear",
                    grayscale=rand(n) > 0.7, **kw)
