"""The rows of run.py: what each function is given, and the same in PyTorch.

A row is one of function_rows.py with some more: `updates` are the arguments that it writes, and `same` says whether
results can be compared (random numbers cannot); `unread` is how many bytes of its arguments nobody needs;
`whole` the share of whole numbers that may differ (places of equal numbers may). `make` gives (arguments, bytes), where bytes None are those of all
arguments and results, counted once."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.append(os.path.join(HERE, ".."))

import torch

import function_rows
import theirs
import theirs_of_fields
from function_rows import randn, size

bf16, f32, i32, i64 = torch.bfloat16, torch.float32, torch.int32, torch.int64


class Row(function_rows.Row):
    def __init__(self, name, file, function, make, types="bf16", tolerance=2e-2, updates=(), same=True, numbers=(), unread=0,
                 whole=0.02):
        of = theirs if hasattr(theirs, function) else theirs_of_fields
        super().__init__(name, file, function, make, getattr(of, function), types, tolerance)
        self.updates, self.same, self.numbers, self.unread, self.whole = updates, same, numbers, unread, whole
        self.gradients = of.GRADIENTS.get(function, ())
        self.with_value = function in of.WITH_VALUE


def f(*shape, scale=1.0):
    return randn(*shape, dtype=f32, scale=scale)


def r(*shape, scale=1.0):
    return randn(*shape, scale=scale)


def w(outputs, inputs):
    """A weight of a linear layer, rows of outputs."""
    return randn(outputs, inputs, scale=inputs ** -0.5)


def near1(*shape):
    return (1 + 0.1 * torch.randn(*shape, device="cuda")).to(bf16)


def rand(*shape, low=0.0, high=1.0):
    return torch.rand(*shape, device="cuda") * (high - low) + low


def ints(low, high, *shape, dtype=i64):
    return torch.randint(low, high, shape, device="cuda").to(dtype)


def mask(*shape, share=0.8):
    return (torch.rand(*shape, device="cuda") < share).float()


def turns(t, d, dtype=bf16):
    a = torch.arange(t, device="cuda").float()[:, None] * 10000.0 ** (-torch.arange(d // 2, device="cuda") * 2 / d)
    a = torch.cat([a, a], -1)
    return a.cos().to(dtype), a.sin().to(dtype)


def near_codes(codes):
    """Pictures near one code each: which is the nearest does not depend on rounding."""
    near = codes[ints(0, len(codes), 32, 32, 32)] + 0.3 * f(32, 32, 32, codes.shape[1])
    return near.permute(0, 3, 1, 2).contiguous(), codes


def boxes(n):
    corner, extent = rand(n, 2, high=500), rand(n, 2, low=5, high=100)
    return torch.cat([corner, corner + extent], 1)


def rows():
    made = []

    def row(name, file, function, make, **more):
        def full():
            got = make()
            return got if isinstance(got, tuple) and len(got) == 2 and isinstance(got[0], list) else (list(got), None)
        made.append(Row(name, file + ".tile", function, full, **more))

    # What is most telling first: torch.compile has a limit of time.
    row("swiglu packed 512 x 2048 x 2x5632", "projections", "swiglu_packed",
        lambda: (r(512, 2048), w(11264, 2048), w(2048, 5632)))
    row("group norm silu NCHW 8x512x128x128", "norms", "group_norm_silu",
        lambda: (r(8, 512, 128, 128), near1(512), r(512)))
    row("QK norm, rope (halves) 4x2048, 16 heads of 128", "norms", "qk_norm_rope",
        lambda: [*(lambda t: (r(4, 2048, 3, 16, 128), near1(128), near1(128), *t))(turns(2048, 128))], unread=4 * 2048 * 16 * 128 * 2)
    row("add, RMS norm to int8 8192 x 4096", "norms", "add_rms_norm_int8",
        lambda: (r(8192, 4096), r(8192, 4096), near1(4096)))
    row("label-smoothed CE, z-loss 4096 x 50257", "losses", "cross_entropy_z",
        lambda: (r(4096, 50257, scale=3), torch.where(rand(4096) < 0.1, -100, ints(0, 50257, 4096))))
    row("decode GQA, 16 sequences of 4096", "attention", "decode_gqa",
        lambda: (r(16, 32, 128), r(16, 4096, 8, 128), r(16, 4096, 8, 128), ints(3500, 4096, 16, dtype=i32)))
    row("window, soft cap, GQA 4096, 8/2 heads of 256", "attention", "window_softcap_gqa",
        lambda: (r(1, 4096, 8, 256), r(1, 4096, 2, 256), r(1, 4096, 2, 256)))
    row("DiT modulation 32x1024x1152", "norms", "dit_modulate",
        lambda: (r(32, 1024, 1152), r(32, 1024, 1152), r(32, 6 * 1152)))
    row("MoE router 8192 x 2048, 8 of 64", "projections", "moe_router", lambda: (r(8192, 2048), w(64, 2048)), whole=0.15)
    row("AdamW with master weights 4096 x 4096", "optimizers", "adamw_master",
        lambda: (r(4096, 4096), r(4096, 4096), f(4096, 4096), f(4096, 4096, scale=0.1), rand(4096, 4096), rand(1, low=1, high=2)),
        updates=(0, 2, 3, 4), unread=2 * 4096 * 4096)
    row("distillation backward 2048 x 50257", "gradients", "distillation_backward",
        lambda: (r(2048, 50257, scale=3), r(2048, 50257, scale=3)))
    row("group norm silu backward 8x512x64x64", "gradients", "group_norm_silu_backward",
        lambda: (r(8, 512, 64, 64), near1(512), r(512), r(8, 512, 64, 64)))
    row("causal conv silu 8x2048x2048", "vision", "causal_conv_silu", lambda: (r(8, 2048, 2048), r(2048, 1, 4), r(2048)))
    row("swin window attention 32x56x56x96", "attention", "swin_attention",
        lambda: (r(32, 56, 56, 96), w(288, 96), r(288), r(3, 49, 49), w(96, 96), r(96)))
    row("batch norm train 64x256x56x56", "norms", "batch_norm_relu_train",
        lambda: (r(64, 256, 56, 56), f(256), f(256), f(256), rand(256)), updates=(3, 4))
    row("CLIP loss 4096 x 768", "losses", "clip_loss", lambda: (r(4096, 768), r(4096, 768), torch.full((1,), 3.0, device="cuda")))
    row("k-means step 65536 x 64, 256 centres", "science", "kmeans_step", lambda: (f(65536, 64), f(256, 64)), types="fp32")
    row("lattice Boltzmann 9x2048x2048", "science", "lattice_boltzmann", lambda: (rand(9, 2048, 2048, low=0.05, high=0.15),),
        types="fp32", tolerance=1e-4)
    row("ALiBi 2x16x2048x64", "attention", "alibi", lambda: [r(2, 16, 2048, 64) for _ in range(3)])
    row("min-p sampling 64 x 128256", "sampling", "min_p_sample",
        lambda: (r(64, 128256, scale=3), rand(64, 128256, low=1e-6, high=1 - 1e-6), rand(64, low=0.5, high=1.5)))
    row("ConvNeXt entry 32x192x56x56", "vision", "convnext_entry",
        lambda: (r(32, 192, 56, 56), r(192, 1, 7, 7, scale=1 / 7), r(192), near1(192), r(192)))
    row("MLA decode 16 sequences of 4096, 128 heads", "attention", "mla_decode",
        lambda: (r(16, 128, 512, scale=0.3), r(16, 128, 64, scale=0.3), r(16, 4096, 512), r(16, 4096, 64)))
    row("grouped router 8192 x 256", "projections", "grouped_router", lambda: (f(8192, 256), f(256, scale=0.1)), types="fp32")
    row("Muon step 2048 x 2048", "optimizers", "muon_step", lambda: (f(2048, 2048), f(2048, 2048), f(2048, 2048)),
        types="fp32", updates=(0, 2))
    row("n-body 8192", "science", "nbody", lambda: (f(8192, 3), rand(8192)), types="fp32")
    row("int8 linear 4 x 4096 x 14336", "projections", "int8_linear",
        lambda: (r(4, 4096), ints(-128, 128, 14336, 4096, dtype=torch.int8), rand(14336, low=1e-4, high=2e-4), ints(-8, 8, 14336, dtype=torch.int8)))
    row("linear, cross-entropy 2048 x 2048 x 32000", "losses", "linear_cross_entropy",
        lambda: (r(2048, 2048), w(32000, 2048), ints(0, 32000, 2048)))
    row("modulation backward 32x1024x1152", "gradients", "modulate_backward",
        lambda: (r(32, 1024, 1152), r(32, 1152), r(32, 1152), r(32, 1024, 1152)))
    row("CE z backward 4096 x 50257", "gradients", "cross_entropy_z_backward",
        lambda: (r(4096, 50257, scale=3), ints(0, 50257, 4096)))
    row("ALiBi backward 2x16x2048x64", "gradients", "alibi_backward",
        lambda: [*(r(2, 16, 2048, 64) for _ in range(4)), rand(16)])
    row("render rays 65536 x 128", "vision", "render_rays",
        lambda: (f(65536, 128), rand(65536, 128, 3), rand(65536, 129).cumsum(1) * 0.05), types="fp32", tolerance=1e-4)
    row("upsample bilinear, add 8x256x64x64", "vision", "upsample_add", lambda: (r(8, 256, 64, 64), r(8, 256, 128, 128)),
        unread=8 * 256 * 128 * 128 * 2)  # its result is float32 of Tile, bf16 of PyTorch
    row("attention with sink 1x16x2048x64", "attention", "with_sink", lambda: [*(r(1, 16, 2048, 64) for _ in range(3)), r(16)])
    row("DPO loss 8x512x32000", "losses", "dpo_loss",
        lambda: (r(8, 512, 32000), r(8, 512, 32000), ints(0, 32000, 8, 512), mask(8, 512)))
    row("patch embed 64x3x224x224, 768", "vision", "patch_embed",
        lambda: (r(64, 3, 224, 224), r(768, 3, 16, 16, scale=1 / 28), r(768), r(1, 1, 768), r(1, 197, 768)))
    row("GroupNorm silu NHWC 16x64x64x640", "norms", "group_norm_silu_nhwc", lambda: (r(16, 64, 64, 640), near1(640), r(640)))
    row("RMS norm to fp8 blocks 8192 x 7168", "norms", "rms_norm_fp8_blocks", lambda: (r(8192, 7168), near1(7168)), tolerance=0.08)
    row("linear attention 8x4096, 16 heads of 64", "attention", "linear_elu", lambda: [r(8, 4096, 16, 64) for _ in range(3)])
    row("swiglu backward 8192 x 2x5632", "gradients", "swiglu_backward", lambda: (r(8192, 11264), r(8192, 5632)))
    row("causal conv backward 8x2048x2048", "gradients", "causal_conv_backward",
        lambda: (r(8, 2048, 2048), r(4, 2048), r(2048), r(8, 2048, 2048)))
    row("beam step 32x4x50257", "sampling", "beam_step", lambda: (r(32, 4, 50257, scale=3), f(32, 4)), whole=0.5)
    row("QK norm, rope (pairs) 4x2048 32/8 of 128", "norms", "qk_norm_rope_pairs",
        lambda: (r(4, 2048, 32, 128), r(4, 2048, 8, 128), near1(128), near1(128), f(2048, 64, 2)))
    row("documents 16x4096x128", "attention", "documents",
        lambda: [*(r(16, 4096, 128) for _ in range(3)), (torch.arange(4096, device="cuda") // 700).to(i32)])
    row("Barlow twins 4096 x 2048", "losses", "barlow_twins", lambda: (r(4096, 2048), r(4096, 2048)))
    row("LoRA linear 1000 x 4096 x 4096", "projections", "lora_linear",
        lambda: (r(1000, 4096), w(4096, 4096), r(4096), w(16, 4096), r(4096, 16, scale=0.1)))
    row("squeeze and excite 64x256x56x56", "projections", "squeeze_excite",
        lambda: (r(64, 256, 56, 56), w(16, 256), r(16), w(256, 16), r(256)))
    row("SSIM 16x3x512x512", "vision", "ssim", lambda: (rand(16, 3, 512, 512), rand(16, 3, 512, 512)), types="fp32", tolerance=1e-3)
    row("adafactor 4096 x 4096", "optimizers", "adafactor_full",
        lambda: (f(4096, 4096), f(4096, 4096), rand(4096, low=0.5, high=1.5), rand(4096, low=0.5, high=1.5)), types="fp32", updates=(0, 2, 3))
    row("ViT attention 64x197x768", "attention", "vit_attention",
        lambda: (r(64, 197, 768), near1(768), r(768), w(2304, 768), r(2304), w(768, 768), r(768)))
    row("MLA projection 2048 x 2048", "projections", "mla_projection",
        lambda: [*(lambda t: (r(2048, 2048), w(576, 2048).T.contiguous(), near1(512), w(8192, 512).T.contiguous(), *t))(turns(2048, 64))])
    row("focal loss 16x76725x80", "losses", "sigmoid_focal",
        lambda: (r(16, 76725, 80), (rand(16, 76725, 80) < 1e-3).to(bf16)))
    row("cross-entropy, dice 8x19x512x1024", "losses", "cross_entropy_dice", lambda: (r(8, 19, 512, 1024), ints(0, 19, 8, 512, 1024)))
    row("policy statistics 1024 x 151936", "losses", "policy_stats", lambda: (r(1024, 151936, scale=3), ints(0, 151936, 1024)))
    row("BERT embeddings 64x512x768", "norms", "bert_embeddings",
        lambda: ([ints(0, 30522, 64, 512), ints(0, 2, 64, 512), r(30522, 768), r(512, 768), r(2, 768), near1(768), r(768)],
                 2 * 64 * 512 * 8 + 2 * (30522 + 64 * 512 + 512) * 768))
    row("stem pool 64x64x112x112", "vision", "stem_pool", lambda: (r(64, 64, 112, 112), f(64), rand(64, low=0.5), f(64), f(64)))
    row("VQ 32x64x32x32, 1024 codes", "science", "vector_quantize", lambda: near_codes(f(1024, 64)), types="fp32")
    row("Black-Scholes 8M", "science", "black_scholes",
        lambda: (rand(1 << 23, low=50, high=150), rand(1 << 23, low=50, high=150), rand(1 << 23, low=0.1, high=2), rand(1 << 23, low=0.1, high=0.5)),
        types="fp32", tolerance=1e-4)
    row("wave step 8192 x 8192", "science", "wave_step", lambda: (f(8192, 8192), f(8192, 8192), f(8192, 8192)), types="fp32", tolerance=1e-5)
    row("CLIP loss backward 4096 x 768", "gradients", "clip_backward",
        lambda: (r(4096, 768), r(4096, 768), torch.full((1,), 3.0, device="cuda")))
    row("linear GELU backward 2048 x 2048 x 8192", "gradients", "linear_gelu_backward",
        lambda: (r(2048, 2048), w(8192, 2048), r(8192), r(2048, 8192)))
    row("embedding, RMS norm backward 16384 x 1024, 32000", "gradients", "embedding_norm_backward",
        lambda: ([ints(0, 32000, 16, 1024), r(32000, 1024), near1(1024), r(16, 1024, 1024)],
                 16384 * 8 + 2 * (32000 + 3 * 16384) * 1024))
    row("batch norm ReLU backward 32x256x56x56", "gradients", "batch_norm_relu_backward",
        lambda: (r(32, 256, 56, 56), near1(256), r(256), r(32, 256, 56, 56)))
    row("render backward 65536 x 128", "gradients", "render_backward",
        lambda: (f(65536, 128), rand(65536, 128, 3), rand(65536, 128, high=0.1), rand(65536, 3)), types="fp32", tolerance=1e-3)
    row("focal backward 16x76725x80", "gradients", "focal_backward",
        lambda: (r(16, 76725, 80), (rand(16, 76725, 80) < 1e-3).to(bf16)))
    row("QK norm, rope backward 4x2048x16x128", "gradients", "qk_norm_rope_backward",
        lambda: [*(lambda t: (r(4, 2048, 16, 128), near1(128), t[0][:, None], t[1][:, None], r(4, 2048, 16, 128)))(turns(2048, 128))])
    row("cross attention 8x256, 1024 keys, 1024", "attention", "cross_attention",
        lambda: (r(8, 256, 1024), r(8, 1024, 1024), mask(8, 1024) > 0, w(1024, 1024), w(2048, 1024), w(1024, 1024)))
    row("differential attention 2x2x8x2048x64", "attention", "differential",
        lambda: (r(2, 2, 8, 2048, 64), r(2, 2, 8, 2048, 64), r(2, 8, 2048, 128), rand(8)))
    row("SSD chunk 32x256x32x64, 128 states", "attention", "ssd_chunk",
        lambda: (r(32, 256, 32, 64), -rand(32, 256, 32, high=0.1), r(32, 256, 128, scale=0.1), r(32, 256, 128)))
    row("T5 attention 8x16x512x64", "attention", "t5_attention",
        lambda: [*(r(8, 16, 512, 64, scale=0.4) for _ in range(3)), r(32, 16)])
    row("sink by its sum 1x16x2048x64", "attention", "with_sink_by_sum", lambda: [*(r(1, 16, 2048, 64) for _ in range(3)), r(16)])
    row("sigmoid attention 1x16x2048x64", "attention", "sigmoid_attention", lambda: [r(1, 16, 2048, 64) for _ in range(3)])
    row("Performer features 8x12x1024x64, 256", "attention", "performer_features", lambda: (r(8, 12, 1024, 64), r(256, 64)))
    row("GEGLU 2x4096x640, 2x2560", "projections", "geglu",
        lambda: (r(2, 4096, 640), w(5120, 640).T.contiguous(), r(5120)))
    row("gated residual 4096 x 1024", "projections", "gated_residual",
        lambda: (r(4096, 1024), r(4096, 1024), w(1024, 1024), w(1024, 1024), r(1024)))
    row("DLRM interaction 8192x26x64", "projections", "dlrm_interaction", lambda: (r(8192, 64), r(8192, 26, 64)))
    row("GRU cell 256 x 1024", "projections", "gru_cell",
        lambda: (r(256, 1024), r(256, 1024), w(3072, 1024), w(3072, 1024), r(3072), r(3072)))
    row("fp8 linear 16 x 7168 x 4096", "projections", "fp8_linear",
        lambda: (r(16, 7168), f(4096, 7168).to(torch.float8_e4m3fn), rand(32, 56, low=0.01, high=0.02)))
    row("weight norm linear 1024 x 4096 x 4096", "optimizers", "weight_norm_linear",
        lambda: (r(1024, 4096), r(4096, 4096), near1(4096, 1), r(4096)))
    row("supervised contrastive 4096 x 128", "losses", "supervised_contrastive", lambda: (r(4096, 128), ints(0, 100, 4096)))
    row("distillation 2048 x 50257", "losses", "distillation",
        lambda: (r(2048, 50257, scale=3), r(2048, 50257, scale=3), ints(0, 50257, 2048)))
    row("GRPO loss 64x16x4096", "losses", "grpo_loss",
        lambda: (-rand(64, 16, 4096), -rand(64, 16, 4096), -rand(64, 16, 4096), f(64, 16), mask(64, 16, 4096)), types="fp32", tolerance=1e-3)
    row("GIoU loss 1M", "losses", "giou_loss", lambda: (boxes(1 << 20), boxes(1 << 20)), types="fp32", tolerance=1e-3)
    row("unpatchify 64x1024x1152", "vision", "unpatchify", lambda: (r(64, 1024, 1152), r(64, 1152), w(16, 1152), r(16)))
    row("patch linear 64x3x224x224, 1024", "vision", "patch_linear", lambda: (r(64, 3, 224, 224), w(1024, 588), r(1024)))
    row("nearest upsample, cat, silu 8x256x64x64", "vision", "nearest_upsample_cat", lambda: (r(8, 256, 64, 64), r(8, 128, 128, 128)))
    row("max and average pool 32x256x56x56", "vision", "both_pools", lambda: (r(32, 256, 56, 56),))
    row("preprocess bytes 64x512x512x3", "vision", "preprocess", lambda: (ints(0, 256, 64, 512, 512, 3, dtype=torch.uint8),))
    row("Sobel 16x3x1024x1024", "vision", "sobel", lambda: (f(16, 3, 1024, 1024),), types="fp32", tolerance=1e-2)
    row("soft argmax 64x17x96x72", "vision", "soft_argmax", lambda: (r(64, 17, 96, 72, scale=3),))
    row("positional encoding 1M x 3", "vision", "positional_encoding", lambda: (f(1 << 20, 3),))
    row("Charbonnier, TV 16x3x1024x1024", "vision", "charbonnier_tv", lambda: (r(16, 3, 1024, 1024), r(16, 3, 1024, 1024)))
    row("rotary cache 32768 x 64", "vision", "rotary_cache",
        lambda: (10000.0 ** (-torch.arange(64, device="cuda") / 64), torch.arange(32768, device="cuda").to(i32)))
    row("log-mel 32x513x3000", "vision", "mel_db", lambda: (rand(32, 513, 3000), rand(80, 513, high=0.1)), types="fp32")
    row("instance norm 2x32x96x96x96", "norms", "instance_norm_leaky", lambda: (r(2, 32, 96, 96, 96), near1(32), r(32)))
    row("dropout, add, layer norm 16384 x 1024", "norms", "dropout_add_layer_norm",
        lambda: (r(16384, 1024), r(16384, 1024), near1(1024), r(1024)), same=False)
    row("column moments 65536 x 1000", "norms", "column_moments", lambda: (f(65536, 1000),), types="fp32", tolerance=1e-3)
    row("gated RMS norm 4x4096x4096", "norms", "gated_rms_norm", lambda: (r(4, 4096, 4096), r(4, 4096, 4096), near1(4096)))
    row("Lion 4096 x 4096", "optimizers", "lion", lambda: (f(4096, 4096), f(4096, 4096), f(4096, 4096)), types="fp32", updates=(0, 2))
    row("LAMB 4096 x 4096", "optimizers", "lamb",
        lambda: (f(4096, 4096), f(4096, 4096), f(4096, 4096), rand(4096, 4096)), types="fp32", updates=(0, 2, 3))
    row("clip by global norm 4096/11008 x 4096", "optimizers", "clip_global_norm",
        lambda: (r(4096, 4096), r(11008, 4096), r(4096)), updates=(0, 1, 2))
    row("EMA 8192 x 4096", "optimizers", "ema", lambda: (f(8192, 4096), r(8192, 4096)), updates=(0,), numbers=(0.999,))
    row("spectral norm 4096 x 4096", "optimizers", "spectral_norm_step", lambda: (f(4096, 4096), f(4096)), types="fp32", updates=(1,))
    row("Adam of bytes 16M", "optimizers", "adam_8bit",
        lambda: (f(1 << 24), r(1 << 24), ints(-127, 128, 1 << 24, dtype=torch.int8), rand(1 << 16, high=0.01)), updates=(0, 2, 3))
    row("outer step of 8 workers 2048 x 4096", "optimizers", "local_sgd_average",
        lambda: (r(8, 2048, 4096), f(2048, 4096), f(2048, 4096)), updates=(1, 2))
    row("Kalman 262144 of 4", "science", "kalman",
        lambda: (f(1 << 18, 4), torch.eye(4, device="cuda").expand(1 << 18, 4, 4).contiguous(), f(1 << 18, 2),
                 torch.eye(4, device="cuda") + 0.1 * f(4, 4), 0.1 * torch.eye(4, device="cuda"), f(2, 4), torch.eye(2, device="cuda")),
        types="fp32", tolerance=1e-3)
    row("complex filter 16x64x8193", "science", "complex_filter",
        lambda: (f(16, 64, 8193), f(16, 64, 8193), f(64, 8193), f(64, 8193)), types="fp32", tolerance=1e-4)
    row("complex product 2048", "science", "complex_matmul", lambda: [r(2048, 2048, scale=0.2) for _ in range(4)])
    row("retrieve 10 of 100000 x 384, 64 queries", "science", "retrieve", lambda: (r(64, 384), r(100000, 384)), whole=0.7)
    row("RBF prediction 8192 x 8192 x 32", "science", "rbf_predict", lambda: (f(8192, 32), f(8192, 32), f(8192)), types="fp32")
    row("Mandelbrot 2048 x 2048, 50", "science", "mandelbrot",
        lambda: (torch.linspace(-2, 0.6, 2048, device="cuda"), torch.linspace(-1.3, 1.3, 2048, device="cuda")), types="fp32")
    row("drawdown 2520 x 4096", "science", "drawdown", lambda: (f(2520, 4096, scale=0.01),), types="fp32", tolerance=1e-3)
    row("Asian option 262144 x 252", "science", "asian_option", lambda: (f(1 << 18, 252),), types="fp32", tolerance=1e-3)
    row("life 8192 x 8192", "science", "life", lambda: (ints(0, 2, 8192, 8192, dtype=torch.int8),))
    row("rolling z-score 4096 x 2520", "science", "rolling_zscore", lambda: (f(4096, 2520),), types="fp32", tolerance=1e-2)
    row("haversine 8M", "science", "haversine",
        lambda: (rand(1 << 23, low=-80, high=80), rand(1 << 23, low=-180, high=180), rand(1 << 23, low=-80, high=80), rand(1 << 23, low=-180, high=180)),
        types="fp32", tolerance=1e-3)
    row("top-p of top-k 256 x 32000", "sampling", "top_p_of_top_k", lambda: (r(256, 32000, scale=3), rand(256, 1)), whole=0.3)
    row("repetition penalty 64 x 128256, 1000", "sampling", "repetition_penalty",
        lambda: (r(64, 128256), torch.stack([torch.randperm(128256, device="cuda")[:1000] for _ in range(64)])))
    row("verify drafts 32x5x128256", "sampling", "verify_drafts",
        lambda: (r(32, 5, 128256), r(32, 5, 128256), ints(0, 128256, 32, 5), rand(32, 5)))
    row("top-k softmax 64 x 128256", "sampling", "top_k_softmax", lambda: (r(64, 128256, scale=3),))  # a hundred kernels to compile
    made.extend(joined())
    made.extend(sizes())
    from rows_of_fields import fields  # which needs what stands here
    made.extend(fields())
    yield from made


def joined():
    """What is put together of parts."""
    made = []

    def row(name, function, make, **more):
        made.append(Row(name, "joins.tile", function, lambda: (list(make()), None), **more))

    def cos_sin(t, d):
        return [x[:, None] for x in turns(t, d)]

    row("rotate halves 4x2048x32x128", "rotate_halves", lambda: (r(4, 2048, 32, 128), *cos_sin(2048, 128)))
    row("rotate halves backward 4x2048x32x128", "rotate_halves_backward",
        lambda: (r(4, 2048, 32, 128), *cos_sin(2048, 128), r(4, 2048, 32, 128)))
    row("rotate pairs 4x2048x32x64x2", "rotate_pairs",
        lambda: (r(4, 2048, 32, 64, 2), *[x[..., :64].contiguous() for x in cos_sin(2048, 128)]))
    row("timestep embedding 65536 x 256", "timestep_embedding", lambda: (rand(65536),), types="fp32", tolerance=1e-3)
    row("rotation matrices 4M", "rotation_matrices", lambda: (f(1 << 22, 4),), types="fp32", tolerance=1e-3)
    row("RGB to YUV 64x3x512x512", "rgb_to_yuv", lambda: (r(64, 3, 512, 512),))
    row("complex product 16M", "complex_product", lambda: (f(1 << 24, 2), f(1 << 24, 2)), types="fp32", tolerance=1e-3)
    row("corners of boxes 8M", "corners_of_boxes", lambda: (rand(1 << 23, 4),), types="fp32", tolerance=1e-3)
    row("joined channels 32x64x128x128", "two_channels", lambda: [r(32, 64, 128, 128) for _ in range(2)])
    row("harmonics 4M", "harmonics", lambda: (f(1 << 22, 3),), types="fp32", tolerance=1e-3)
    return made


def sizes():
    """Sizes that are no multiples of sixteen, and products of float32."""
    made = []

    def row(name, function, make, **more):
        made.append(Row(name, "sizes.tile", function, lambda: (list(make()), None), **more))

    row("norm 16384 x 1000", "norm_rows", lambda: (r(16384, 1000), near1(1000)))
    row("norm 16384 x 1001", "norm_rows", lambda: (r(16384, 1001), near1(1001)))
    row("scale, relu 16384 x 1000", "scale_rows", lambda: (r(16384, 1000), near1(1000), r(1000)))
    row("scale, relu 16384 x 1001", "scale_rows", lambda: (r(16384, 1001), near1(1001), r(1001)))
    row("add turned 3000 x 5004", "add_turned", lambda: (r(3000, 5004), r(5004, 3000)))
    row("softmax 65536 x 200", "softmax_rows", lambda: (r(65536, 200),))
    row("column sums 20000 x 1204", "column_sums", lambda: (r(20000, 1204),), tolerance=1e-2)
    row("product 4096^3 f32", "product", lambda: (f(4096, 4096), f(4096, 4096)), types="fp32", tolerance=1e-2)
    row("product 2000 x 3000 x 1000 f32", "product", lambda: (f(2000, 1000), f(1000, 3000)), types="fp32", tolerance=1e-2)
    row("product 48 x 9000 x 2000 f32", "product", lambda: (f(48, 2000), f(2000, 9000)), types="fp32", tolerance=1e-2)
    row("product 10000 x 80 x 513 f32", "product", lambda: (f(10000, 513), f(513, 80)), types="fp32", tolerance=1e-2)
    row("dense, silu 16384 x 1000 to 100 f32", "dense", lambda: (f(16384, 1000), f(100, 1000), f(100)), types="fp32", tolerance=1e-2)
    row("batched 768 x 197 x 197 x 64 f32", "batched", lambda: (f(768, 197, 64), f(768, 197, 64)), types="fp32", tolerance=1e-2)
    return made


def numbers(row):
    """The arguments of the function that are numbers."""
    return row.numbers
