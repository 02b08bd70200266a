#!/usr/bin/env python3
"""Forms that kernels elsewhere are written in: Tile against Triton on the same source.

    python3 benchmarks/forms.py BUNDLE [--json FILE]

BUNDLE holds libtile.so (an unpacked release bundle, or a build folder). Each kernel of
forms.tile is compiled by both with the same warps and stages, its results are compared with a
reference in float32 or better, and both are timed in turns. "triton/tile" above 1: Tile is
faster.
"""
import ctypes
import json
import math
import sys

import common


def cases():
    import torch
    half, single = torch.float16, torch.float32
    device = "cuda"

    def case(name, kernel, grid, arrays, numbers, constexprs, expect, warps=4, stages=3):
        return dict(name=name, kernel=kernel, grid=grid, arrays=arrays, numbers=numbers,
                    constexprs=constexprs, expect=expect, warps=warps, stages=stages)

    # A stride that only the author knows to be a multiple: to a launcher it is a number like
    # any other, so that the hint decides.
    rows, n = 8192, 4096
    x = torch.randn((rows, n + 8), device=device, dtype=half)
    y = torch.empty((rows, n), device=device, dtype=half)
    yield case("hinted copy 8192x4096 f16", "hinted_copy", (rows,), [x, y], [("i32", n + 8)],
               dict(N=n), lambda: (y, x[:, :n]))
    s = torch.empty(rows, device=device, dtype=single)
    yield case("hinted row sum 8192x4096 f16", "hinted_row_sum", (rows,), [x, s],
               [("i32", n + 8)], dict(N=n), lambda: (s, x[:, :n].float().sum(1)))
    for how, what in enumerate(("where", "minimum", "where, with hints")):
        for m, n2, k in ((4096, 4096, 4096), (3000, 5000, 2048)):
            a = torch.randn((m, k), device=device, dtype=half)
            b = torch.randn((k, n2), device=device, dtype=half)
            c = torch.empty((m, n2), device=device, dtype=half)
            yield case(f"product {m}x{n2}x{k}, indices by {what}", "clamped_product",
                       (math.ceil(m / 128), math.ceil(n2 / 256)), [a, b, c],
                       [("i32", m), ("i32", n2), ("i32", k), ("i32", k), ("i32", n2), ("i32", n2)],
                       dict(HOW=how, BM=128, BN=256, BK=64),
                       lambda a=a, b=b, c=c: (c, a @ b), warps=8, stages=3)
    p = torch.cuda.get_device_properties(0).multi_processor_count
    size = 4096
    a = torch.randn((size, size), device=device, dtype=half)
    b = torch.randn((size, size), device=device, dtype=half)
    c = torch.empty((size, size), device=device, dtype=half)
    across = size // 256
    yield case("product 4096^3, persistent, counted", "counted_product", (p,), [a, b, c],
               [("i32", (size // 128) * across), ("i32", across), ("i32", size), ("i32", size),
                ("i32", size), ("i32", size)], dict(P=p, BM=128, BN=256, BK=64),
               lambda a=a, b=b, c=c: (c, a @ b), warps=8, stages=3)
    # Sums by atomics start from what is there: each run adds to zeros of its own.
    z = torch.randn((8192, 1024), device=device, dtype=single)
    w = torch.zeros(1024, device=device, dtype=single)
    yield case("rows added by atomics, 8192x1024 f32", "added_rows", (8192,), [z, w], [],
               dict(N=1024), lambda z=z, w=w: (w, z.double().sum(0)))
    e = torch.randn((16 * 1024, 4096), device=device, dtype=half)
    w2 = torch.zeros(16, device=device, dtype=single)
    yield case("split sums, 16 of 1024 programs", "split_sums", (1024,), [e, w2],
               [("i32", 4096)], dict(N=16, BK=256),
               lambda e=e, w2=w2: (w2, e.double().sum(1).view(1024, 16).sum(0)))
    g = torch.randn((8192, 4096), device=device, dtype=half)
    h = torch.randn((8192, 4096), device=device, dtype=half)
    w3 = torch.zeros(4096, device=device, dtype=single)
    yield case("weight gradient by atomics, 8192x4096", "weight_gradient", (512,), [g, h, w3],
               [("i32", 8192)], dict(R=16, N=4096),
               lambda g=g, h=h, w3=w3: (w3, (g.double() * h.double()).sum(0)), warps=8)
    index = torch.randint(0, 1 << 20, (1 << 22,), device=device, dtype=torch.int32)
    t = torch.randn(1 << 22, device=device, dtype=single)
    w4 = torch.zeros(1 << 20, device=device, dtype=single)
    yield case("scattered additions, 2^22 to 2^20", "scattered", (4096,), [index, t, w4], [],
               dict(B=1024), lambda: (w4, torch.zeros(1 << 20, device=device, dtype=torch.double)
                                      .index_add_(0, index.long(), t.double())))
    # Running sums over the rows of chunks of a sequence: across what is contiguous.
    q = torch.randn((1 << 18, 64), device=device, dtype=single)
    for length, width, warps in ((64, 64, 4), (128, 16, 2)):
        sums = torch.empty_like(q)
        yield case(f"running sums in chunks of {length}x{width}", "chunk_sums",
                   (len(q) // length, 64 // width), [q, sums], [("i32", 64)],
                   dict(T=length, C=width),
                   lambda q=q, sums=sums, length=length:
                       (sums, q.double().view(-1, length, 64).cumsum(1).view(q.shape)),
                   warps=warps)
    yield from operand_cases(case, device)
    # 16 bits of each number, so that the check may compare as it does floats.
    keys = torch.randint(0, 1 << 16, (8192, 1024), device=device, dtype=torch.int32)
    ordered = torch.empty_like(keys)
    yield case("sorted rows, 8192x1024 i32", "sorted_rows", (8192,), [keys, ordered], [],
               dict(N=1024), lambda: (ordered, keys.sort(1).values))
    count = 1 << 25
    u = torch.randn(count, device=device, dtype=single)
    v = torch.empty_like(u)
    yield case("pow(x, 2) + pow(x, 3), 2^25 f32", "powers", (count // 1024,), [u, v],
               [("i32", count)], dict(B=1024), lambda u=u, v=v: (v, u * u + u * u * u))


def operand_cases(case, device):
    """Operands that are widened, gathered, turned or small."""
    import torch
    half, single = torch.float16, torch.float32
    size = 4096
    a = torch.randn((size, size), device=device, dtype=half)
    w = torch.randint(-8, 8, (size, size), device=device, dtype=torch.int8)
    scale = torch.rand(size, device=device, dtype=half)
    c = torch.empty((size, size), device=device, dtype=half)
    for warps in (8, 4):
        yield case(f"product 4096^3, i8 widened on the right, {warps} warps", "widened_product",
                   (size // 128, size // 128), [a, w, scale, c], [("i32", size)] * 4,
                   dict(BM=128, BN=128, BK=64), lambda: (c, a @ (w.to(half) * scale)),
                   warps=warps)
    programs, rows, width = 2048, 128, 128
    index = torch.randint(0, 1 << 16, (programs, rows), device=device, dtype=torch.int32)
    weights = torch.rand((programs, 64, rows), device=device, dtype=half)
    values = torch.randn((1 << 16, width), device=device, dtype=half)
    sums = torch.empty((programs, 64, width), device=device, dtype=half)
    yield case("weighted gathered rows, 2048 x 64x128x128", "gathered_values", (programs,),
               [index, weights, values, sums], [], dict(M=64, N=rows, D=width),
               lambda: (sums, torch.bmm(weights, values[index.long()])))
    for m, n, k, warps in ((32, 32, 32, 4), (16, 16, 64, 2), (64, 32, 32, 8)):
        x = torch.randn((8192, m, k), device=device, dtype=single)
        y = torch.randn((8192, k, n), device=device, dtype=single)
        z = torch.empty((8192, m, n), device=device, dtype=single)
        yield case(f"8192 products {m}x{n}x{k} f32, exact", "small_products", (8192,), [x, y, z], [],
                   dict(M=m, N=n, K=k), lambda x=x, y=y, z=z: (z, torch.bmm(x.double(), y.double())),
                   warps=warps)
    for along_m in (0, 1):
        x = torch.randn((size, size), device=device, dtype=single)
        y = torch.randn((size, size), device=device, dtype=single)
        z = torch.empty((size, size), device=device, dtype=single)
        yield case(f"product 4096^3 tf32, {'T' if along_m else 'N'}N", "single_product",
                   (size // 128, size // 128), [x, y, z], [("i32", size)] * 4,
                   dict(A_ALONG_M=along_m, BM=128, BN=128, BK=32),
                   lambda x=x, y=y, z=z, along_m=along_m:
                       (z, (x.T if along_m else x).double() @ y.double()), warps=8)
    blocks = [torch.randn((16384, 32, 32), device=device, dtype=half) for _ in range(3)]
    out = torch.empty((16384, 32, 32), device=device, dtype=single)
    yield case("two products of three blocks, 16384 x 32x32", "product_and_sum", (16384,),
               blocks + [out], [], dict(B=32),
               lambda: (out, torch.bmm(blocks[0].float(), blocks[1].float()) +
                             torch.bmm(blocks[1].float(), blocks[2].float())), warps=2)
    programs, turns = 1024, 32
    q = torch.randn((programs * 64, 128), device=device, dtype=half)
    keys = torch.randn((1 << 16, 128), device=device, dtype=half)
    factors = torch.rand((programs, turns), device=device, dtype=single)
    places = torch.randint(0, 1 << 16, (programs, turns, 64), device=device, dtype=torch.int32)
    scores = torch.empty((programs * 64, 64), device=device, dtype=single)

    def weighted():
        found = keys[places.long()].float() * factors[..., None, None]
        total = found.sum(1)
        return scores, torch.bmm(q.float().view(programs, 64, 128), total.transpose(1, 2)).view(-1, 64)

    yield case("gathered blocks with a scale each", "scaled_blocks", (programs,),
               [q, keys, factors, places, scores], [("i32", turns)], dict(BM=64, C=64, D=128), weighted)


def triton_runner(module, case):
    kernel = getattr(module, case["kernel"])[case["grid"]]
    values = case["arrays"] + [value for _, value in case["numbers"]]
    return lambda: kernel(*values, **case["constexprs"], num_warps=case["warps"],
                          num_stages=case["stages"])


def tile_runner(compiler, source, case):
    import torch
    types = {torch.float16: "*fp16:16", torch.float32: "*fp32:16", torch.int32: "*i32:16",
             torch.int8: "*i8:16"}
    signature = [types[a.dtype] for a in case["arrays"]]
    signature += [kind + (":16" if value % 16 == 0 else "") for kind, value in case["numbers"]]
    kernel = compiler.compile(source, "forms.tile", case["kernel"], signature, case["constexprs"],
                              case["warps"], num_stages=case["stages"])
    kernel.load()
    values = [ctypes.c_void_p(a.data_ptr()) for a in case["arrays"]]
    values += [ctypes.c_int32(value) for _, value in case["numbers"]]
    return kernel.launcher(case["grid"], values, torch.cuda.current_stream().cuda_stream)


def check(case, run):
    import torch
    out, _ = case["expect"]()
    adds = "atom" in case["name"] or "sums" in case["name"] or "scattered" in case["name"]
    out.fill_(float("nan") if out.is_floating_point() and not adds else 0)
    run()
    torch.cuda.synchronize()
    out, wanted = case["expect"]()
    error = (out.double() - wanted.double()).norm() / wanted.double().norm()
    return bool(error < 2e-3)


def main():
    args = common.parser(__doc__).parse_args()
    if not common.has_device():
        return common.SKIPPED
    import libtile
    import timing
    path = common.kernel_path("forms")
    module = common.load_path_as_python(path)
    with open(path) as f:
        source = f.read()
    compiler = libtile.Compiler(libtile.Bundle(args.bundle).library)
    timer, results = timing.Timer(), []
    for case in cases():
        runs = {"triton": triton_runner(module, case)}
        try:
            runs["tile"] = tile_runner(compiler, source, case)
        except libtile.TileError as error:
            common.missing(case["name"], error)
            continue
        wrong = [side for side, run in runs.items() if not check(case, run)]
        results.append(dict(name=case["name"], wrong=wrong, **timer.compare(runs, count=20, rounds=4)))
    print(f"{'form':48} {'triton us':>10} {'tile us':>10} {'triton/tile':>12}")
    for r in results:
        print(f"{r['name']:48} {r['triton']:10.1f} {r['tile']:10.1f} "
              f"{r['triton'] / r['tile']:12.3f}" + ("   WRONG: " + ", ".join(r["wrong"]) if r["wrong"] else ""))
    if args.json:
        with open(args.json, "w") as f:
            json.dump(results, f, indent=1)
    return 1 if any(r["wrong"] for r in results) else 0


if __name__ == "__main__":
    sys.exit(main())
