"""The memory-bound cases: inputs, reference, and the configurations each side may choose from."""
import dataclasses

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SIGNATURES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16",
              torch.int32: "*i32", torch.int64: "*i64"}
# Relative norm of the error against float64: rounding of the output type, and
# for f32 of the reduction; None: bit-equal.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 4e-4, torch.bfloat16: 3e-3}
# The shapes that comparisons of row kernels mostly show.
OFTEN_COMPARED = {"softmax f32 4096x4096", "softmax f16 8192x8192", "softmax bf16 16384x4096",
                  "softmax f16 4096x32768", "softmax f32 32768x1024", "layer_norm f16 4096x4096",
                  "layer_norm f16 8192x512", "layer_norm f16 16384x2048",
                  "layer_norm bf16 16384x8192", "rms_norm bf16 16384x8192"}
GUARD = 4096  # elements behind every output, which no kernel may touch


@dataclasses.dataclass
class Launch:
    kernel: str
    grid: tuple
    arguments: list  # tensors, ints, floats, in the order of the kernel's parameters
    constexprs: dict
    num_warps: int
    maxnreg: int | None = None  # registers a thread may use, on both sides

    def signature(self):
        out = []
        for a in self.arguments:
            if a is None:
                out.append("none")
            elif torch.is_tensor(a):
                out.append(SIGNATURES[a.dtype] + (":16" if a.data_ptr() % 16 == 0 else ""))
            elif isinstance(a, float):
                out.append("fp32")
            else:
                out.append("i32" + (":16" if a % 16 == 0 else ":1" if a == 1 else ""))
        return out


@dataclasses.dataclass
class Config:
    """One way to compute a case: a launch, or several in order."""
    launches: list

    def label(self):
        first = self.launches[0]
        constants = ",".join(f"{k}={v}" for k, v in first.constexprs.items())
        registers = f" r{first.maxnreg}" if first.maxnreg else ""
        kernels = "+".join(l.kernel for l in self.launches)
        return f"{kernels}[{constants}] w{first.num_warps}{registers}"

    def single_program(self):
        """Whether one program computes a whole row."""
        return len(self.launches) == 1 and not self.launches[0].kernel.endswith("_together")


@dataclasses.dataclass
class Case:
    name: str
    module: str  # of the kernel library
    bytes: int
    out: torch.Tensor
    guard: torch.Tensor
    copy_from: torch.Tensor  # copying this moves `bytes`
    configs: list
    reference: object  # () -> float64 tensor, or the exact expected tensor
    exact: bool

    def sets(self):
        """The sets of cases whose geometric means it is in."""
        rows = self.module not in ("vector_add", "fused_elementwise")
        return ["all"] + ["rows"] * rows + ["rows often compared"] * (self.name in OFTEN_COMPARED)

    def reset(self):
        self.out.fill_(float("nan"))
        self.guard.fill_(7.0)

    def check(self):
        """None, or what is wrong with the output."""
        torch.cuda.synchronize()
        if not bool((self.guard == 7.0).all()):
            return "wrote behind the output"
        expected = self.reference()
        if self.exact:
            if torch.equal(self.out, expected):
                return None
            return f"{int((self.out != expected).sum())} elements are not bit-equal"
        # Rounded as the output is: small f16 results are subnormal.
        expected = expected.to(self.out.dtype).double()
        got = self.out[: expected.shape[0]].double()
        if not bool(torch.isfinite(self.out).all()):
            return "not finite"
        error = float((got - expected).norm() / expected.norm())
        limit = TOLERANCE[self.out.dtype]
        return None if error <= limit else f"relative error {error:.2e}, limit {limit:.0e}"


def _output(shape, dtype):
    count = 1
    for s in shape:
        count *= s
    storage = torch.empty(count + GUARD, dtype=dtype, device="cuda")
    return storage[:count].view(shape), storage[count:]


def elementwise(module, kernel, n):
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    out, guard = _output((n,), torch.float32)
    configs = [Config([Launch(kernel, (-(-n // block),), [x, y, out, n], {"BLOCK": block}, warps)])
               for block, warps in ((512, 4), (1024, 4), (1024, 8), (2048, 8))]

    def reference():
        return x + y if kernel == "add" else torch.relu(x + y) * y

    copy_from = torch.empty(n * 3 // 2, device="cuda")
    return Case(f"{kernel} f32 {n}", module, 12 * n, out, guard, copy_from, configs, reference,
                exact=True)


CHECKED_ROWS = 2048


def _reference(kind, x, weight, bias, eps):
    x = x[:CHECKED_ROWS].double()
    if kind == "softmax":
        return torch.softmax(x, dim=1)
    if kind == "layer_norm":
        return torch.nn.functional.layer_norm(x, x.shape[1:], weight.double(), bias.double(), eps)
    return x * torch.rsqrt((x * x).mean(dim=1, keepdim=True) + eps) * weight.double()


def _loops(kind, itemsize):
    """(constants, warps, registers) of the kernels that read a row in chunks."""
    found = [({"PARTS": p, "BLOCK": b}, w, None)
             for p, b, w in ((4, 8192 // itemsize, 16), (2, 8192 // itemsize, 16),
                             (4, 4096 // itemsize, 8), (1, 8192 // itemsize, 8),
                             (2, 16384 // itemsize, 32))]
    if kind != "layer_norm":
        return found
    found.append(({"PARTS": 8, "BLOCK": 8192 // itemsize}, 16, 64))
    return [({**c, "VEC": 16 // itemsize, "STORE_PARTS": min(c["PARTS"], 4)}, w, r)
            for c, w, r in found]


def _shapes(kind, columns, itemsize):
    """(form, constants, warps, registers) worth trying for rows of `columns` elements."""
    block = 1 << (columns - 1).bit_length()
    if columns <= 1024:
        warps = (1, 2, 4)
    elif columns <= 4096:
        warps = (4, 8)
    elif columns <= 8192:
        warps = (4, 8, 16)
    else:
        warps = (8, 16, 32)
    found = [("row", {"BLOCK": block}, w, None) for w in warps] if block <= 65536 else []
    if columns <= 2048:
        found += [("rows", {"ROWS": r, "BLOCK": block}, w, None)
                  for r in (2, 4, 8, 16) for w in (2, 4) if 1024 * w <= r * block <= 2048 * w]
    if columns >= 16384:
        found += [("loop", *loop) for loop in _loops(kind, itemsize)]
    if kind == "layer_norm" and columns <= 4096:
        # With 64 registers 8 programs of 128 threads fit a multiprocessor.
        found += [(form, {**c, "EARLY": True}, w, r) for form, c, w, _ in found
                  for r in ((None, 64) if form == "rows" and w == 4 else (None,))]
    if kind == "layer_norm" and columns == 4096:
        # PER is the programs of a multiprocessor: all that its registers allow.
        found += [("stream", {"BLOCK": block, "STAGES": stages, "PER": per}, 4, m)
                  for stages in (3, 4) for per, m in ((4, None), (5, 96))]
    return found


def _split_softmax(x, out, size):
    """Several programs for a row: the two kernels that softmax.tile has for it."""
    count, columns = x.shape
    chunks = -(-columns // size)
    tops = torch.empty(count, chunks, device="cuda")
    sums = torch.empty_like(tops)
    merged = 1 << (chunks - 1).bit_length()
    return Config([
        Launch("softmax_part", (count, chunks), [x, tops, sums, columns],
               {"PARTS": 4, "BLOCK": size // 4}, 16),
        Launch("softmax_finish", (count, chunks), [x, tops, sums, out, columns],
               {"CHUNKS": merged, "SIZE": size}, 16)])


def _together(kind, tensors, x, size, constants, warps, maxnreg, rest):
    """Several programs for a row that wait for each other; the counters clean up themselves."""
    count, columns = x.shape
    chunks = 1 << ((-(-columns // size)) - 1).bit_length()
    records = torch.zeros(count, chunks, dtype=torch.int64, device="cuda")
    left = torch.zeros(count, dtype=torch.int32, device="cuda")
    return Config([Launch(f"{kind}_together", (count * chunks,),
                          tensors + [records, left, columns] + rest, {"CHUNKS": chunks, **constants},
                          warps, maxnreg)])


def _plain(kind, x, out, tensors, eps):
    """The kernels of plain.tile, with the blocks and warps that tutorials choose, and two
    other numbers of warps."""
    count, columns = x.shape
    block = 1 << (columns - 1).bit_length()
    strides = [x.stride(0), out.stride(0)]
    if kind == "softmax":
        found = [Launch("softmax_plain", (count,), [out, x, *strides, columns], {"BLOCK": block}, w)
                 for w in (4, 8, 16)]
        sms = torch.cuda.get_device_properties(0).multi_processor_count
        found += [Launch("softmax_persistent", (min(count, sms * per),),
                         [out, x, *strides, count, columns], {"BLOCK": block, "STAGES": 4}, 8)
                  for per in (2, 4)]
    else:
        block = min(65536 // x.element_size(), block)
        usual = min(max(block // 256, 1), 8)
        inputs = [x, out, *(t for t in tensors if t is not x and t is not out)]
        found = [Launch(f"{kind}_plain", (count,), [*inputs, strides[0], columns, eps],
                        {"BLOCK": block}, w)
                 for w in sorted({usual, max(usual // 2, 1), usual * 2})]
    return [Config([launch]) for launch in found]


def rows(kind, dtype_name, count, columns, statistics=True, plain=False):
    """`statistics`: whether layer norm stores what its backward pass needs. `plain`:
    the kernels of plain.tile instead of the library's."""
    dtype = DTYPES[dtype_name]
    x = torch.randn(count, columns, device="cuda").to(dtype)
    weight = torch.randn(columns, device="cuda").to(dtype)
    bias = torch.randn(columns, device="cuda").to(dtype)
    mean, rstd = (torch.empty(count, device="cuda") if statistics else None for _ in range(2))
    eps = 1e-5
    out, guard = _output((count, columns), dtype)
    tensors = {"softmax": [x, out], "layer_norm": [x, weight, bias, out, mean, rstd],
               "rms_norm": [x, weight, out]}[kind]
    if plain:
        return Case(f"{kind} {dtype_name} {count}x{columns}, plain", "plain", 2 * x.nbytes, out,
                    guard, x, _plain(kind, x, out, tensors, eps),
                    lambda: _reference(kind, x, weight, bias, eps), exact=False)
    configs = []
    itemsize = x.element_size()
    for form, constexprs, warps, maxnreg in _shapes(kind, columns, itemsize):
        programs = -(-count // constexprs.get("ROWS", 1))
        if "PER" in constexprs:
            sms = torch.cuda.get_device_properties(0).multi_processor_count
            programs = min(count, sms * constexprs.pop("PER"))
        arguments = tensors + ([count] if form in ("rows", "stream") else []) + [columns]
        arguments += [] if kind == "softmax" else [eps]
        configs.append(Config([Launch(f"{kind}_{form}", (programs,), arguments, constexprs, warps,
                                      maxnreg)]))
    if kind == "softmax" and columns > 65536:
        configs.append(_split_softmax(x, out, 32768 // itemsize))
    if kind == "softmax" and columns >= 32768:
        for size, warps, maxnreg in ((8192, 4, None), (8192, 8, 64), (16384, 8, 64),
                                     (4096, 2, None), (4096, 2, 48)):
            configs.append(_together(kind, tensors, x, size, {"SIZE": size}, warps, maxnreg, []))
    if kind == "layer_norm" and columns >= 32768:
        for warps, maxnreg in ((4, None), (4, 64), (8, 64)):
            block = 512 * warps // itemsize
            constants = {"PARTS": 8, "BLOCK": block, "VEC": 16 // itemsize, "STORE_PARTS": 2}
            configs.append(_together(kind, tensors, x, 8 * block, constants, warps, maxnreg, [eps]))
    suffix = "" if statistics else " without statistics"
    return Case(f"{kind} {dtype_name} {count}x{columns}{suffix}", kind,
                2 * x.numel() * x.element_size(), out, guard, x, configs,
                lambda: _reference(kind, x, weight, bias, eps), exact=False)


# One maker a case, so that only one case's tensors are alive at a time.
ALL = [
    lambda: elementwise("vector_add", "add", 2**20),
    lambda: elementwise("vector_add", "add", 10**7),
    lambda: elementwise("vector_add", "add", 2**27),
    lambda: elementwise("fused_elementwise", "add_relu_mul", 2**20),
    lambda: elementwise("fused_elementwise", "add_relu_mul", 10**7),
    lambda: elementwise("fused_elementwise", "add_relu_mul", 2**27),
    lambda: rows("softmax", "f32", 4096, 4096),
    lambda: rows("softmax", "f16", 8192, 8192),
    lambda: rows("softmax", "bf16", 16384, 4096),
    lambda: rows("softmax", "f16", 4096, 32768),
    lambda: rows("softmax", "f32", 32768, 1024),
    lambda: rows("layer_norm", "f16", 4096, 4096),
    lambda: rows("layer_norm", "f16", 8192, 512),
    lambda: rows("layer_norm", "f16", 16384, 2048),
    lambda: rows("layer_norm", "bf16", 16384, 8192),
    lambda: rows("layer_norm", "f16", 4096, 4096, statistics=False),
    lambda: rows("layer_norm", "f16", 8192, 512, statistics=False),
    lambda: rows("layer_norm", "f16", 16384, 2048, statistics=False),
    lambda: rows("rms_norm", "bf16", 16384, 8192),
    lambda: rows("rms_norm", "f16", 8192, 512),
    lambda: rows("layer_norm", "f16", 4096, 32768),
    lambda: rows("softmax", "f16", 8192, 512),
    lambda: rows("layer_norm", "f16", 2048, 131072),
    lambda: rows("softmax", "f16", 2048, 131072),
    lambda: rows("softmax", "f16", 128, 262144),
]

PLAIN = [
    lambda: rows("softmax", "f32", 4096, 4096, plain=True),
    lambda: rows("softmax", "f16", 8192, 8192, plain=True),
    lambda: rows("softmax", "bf16", 16384, 4096, plain=True),
    lambda: rows("softmax", "f16", 4096, 32768, plain=True),
    lambda: rows("softmax", "f32", 32768, 1024, plain=True),
    lambda: rows("layer_norm", "f16", 4096, 4096, plain=True),
    lambda: rows("layer_norm", "f16", 8192, 512, plain=True),
    lambda: rows("layer_norm", "f16", 16384, 2048, plain=True),
    lambda: rows("layer_norm", "bf16", 16384, 8192, plain=True),
    lambda: rows("layer_norm", "f16", 4096, 32768, plain=True),
    lambda: rows("rms_norm", "bf16", 16384, 8192, plain=True),
    lambda: rows("rms_norm", "f16", 8192, 512, plain=True),
]
