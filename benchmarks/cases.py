"""The memory-bound cases: inputs, reference, and the configurations each side may choose from."""
import dataclasses

import torch

DTYPES = {"f32": torch.float32, "f16": torch.float16, "bf16": torch.bfloat16}
SIGNATURES = {torch.float32: "*fp32", torch.float16: "*fp16", torch.bfloat16: "*bf16"}
# Relative norm of the error against float64: rounding of the output type, and
# for f32 of the reduction; None: bit-equal.
TOLERANCE = {torch.float32: 2e-6, torch.float16: 4e-4, torch.bfloat16: 3e-3}
GUARD = 4096  # elements behind every output, which no kernel may touch


@dataclasses.dataclass
class Config:
    kernel: str
    grid: int
    arguments: list  # tensors, ints, floats, in the order of the kernel's parameters
    constexprs: dict
    num_warps: int

    def label(self):
        constants = ",".join(f"{k}={v}" for k, v in self.constexprs.items())
        return f"{self.kernel}[{constants}] w{self.num_warps}"

    def signature(self):
        out = []
        for a in self.arguments:
            if torch.is_tensor(a):
                out.append(SIGNATURES[a.dtype] + (":16" if a.data_ptr() % 16 == 0 else ""))
            elif isinstance(a, float):
                out.append("fp32")
            else:
                out.append("i32" + (":16" if a % 16 == 0 else ":1" if a == 1 else ""))
        return out


@dataclasses.dataclass
class Case:
    name: str
    module: str  # of kernels/
    bytes: int
    out: torch.Tensor
    guard: torch.Tensor
    copy_from: torch.Tensor  # copying this moves `bytes`
    configs: list
    reference: object  # () -> float64 tensor, or the exact expected tensor
    exact: bool

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


def elementwise(kernel, n):
    x, y = (torch.randn(n, device="cuda") for _ in range(2))
    out, guard = _output((n,), torch.float32)
    configs = [Config(kernel, -(-n // block), [x, y, out, n], {"BLOCK": block}, warps)
               for block, warps in ((512, 4), (1024, 4), (1024, 8), (2048, 8))]

    def reference():
        return x + y if kernel == "add" else torch.relu(x + y) * y

    copy_from = torch.empty(n * 3 // 2, device="cuda")
    return Case(f"{kernel} f32 {n}", "elementwise", 12 * n, out, guard, copy_from, configs,
                reference, exact=True)


CHECKED_ROWS = 2048


def _reference(kind, x, weight, bias, eps):
    x = x[:CHECKED_ROWS].double()
    if kind == "softmax":
        return torch.softmax(x, dim=1)
    if kind == "layer_norm":
        return torch.nn.functional.layer_norm(x, x.shape[1:], weight.double(), bias.double(), eps)
    return x * torch.rsqrt((x * x).mean(dim=1, keepdim=True) + eps) * weight.double()


def _row_configs(columns, small, loops):
    """(variant, ROWS or None, BLOCK, warps) worth trying for rows of `columns`."""
    block = 1 << (columns - 1).bit_length()
    if columns <= 1024:
        row_warps = (1, 2, 4)
    elif columns <= 4096:
        row_warps = (4, 8)
    elif columns <= 8192:
        row_warps = (4, 8, 16)
    else:
        row_warps = (8, 16, 32)
    found = [("row", None, block, w) for w in row_warps] if block <= 65536 else []
    if small and columns <= 2048:
        found += [("rows", r, block, 4) for r in (2, 4, 8, 16) if r * block <= 8192]
    if loops and columns >= 16384:
        found += [("loop", None, b, w) for b, w in ((2048, 8), (4096, 8), (8192, 16))]
    return found


def rows(kind, dtype_name, count, columns):
    dtype = DTYPES[dtype_name]
    x = torch.randn(count, columns, device="cuda").to(dtype)
    weight = torch.randn(columns, device="cuda").to(dtype)
    bias = torch.randn(columns, device="cuda").to(dtype)
    eps = 1e-5
    out, guard = _output((count, columns), dtype)
    configs = []
    for variant, per_program, block, warps in _row_configs(columns, True, kind != "rms_norm"):
        constexprs = {"BLOCK": block}
        arguments = {"softmax": [x], "layer_norm": [x, weight, bias],
                     "rms_norm": [x, weight]}[kind] + [out]
        if per_program:
            constexprs = {"ROWS": per_program, "BLOCK": block}
            arguments.append(count)
        arguments.append(columns)
        if kind != "softmax":
            arguments.append(eps)
        configs.append(Config(f"{kind}_{variant}", -(-count // (per_program or 1)), arguments,
                              constexprs, warps))
    return Case(f"{kind} {dtype_name} {count}x{columns}",
                "softmax" if kind == "softmax" else "norm", 2 * x.numel() * x.element_size(), out,
                guard, x, configs, lambda: _reference(kind, x, weight, bias, eps), exact=False)


# One maker a case, so that only one case's tensors are alive at a time.
ALL = [
    lambda: elementwise("add", 2**20),
    lambda: elementwise("add", 10**7),
    lambda: elementwise("add", 2**27),
    lambda: elementwise("add_relu_mul", 2**20),
    lambda: elementwise("add_relu_mul", 10**7),
    lambda: elementwise("add_relu_mul", 2**27),
    lambda: rows("softmax", "f32", 4096, 4096),
    lambda: rows("softmax", "f16", 8192, 8192),
    lambda: rows("softmax", "bf16", 16384, 4096),
    lambda: rows("softmax", "f16", 4096, 32768),
    lambda: rows("softmax", "f32", 32768, 1024),
    lambda: rows("layer_norm", "f16", 4096, 4096),
    lambda: rows("layer_norm", "f16", 8192, 512),
    lambda: rows("layer_norm", "f16", 16384, 2048),
    lambda: rows("layer_norm", "bf16", 16384, 8192),
    lambda: rows("rms_norm", "bf16", 16384, 8192),
    lambda: rows("rms_norm", "f16", 8192, 512),
    lambda: rows("layer_norm", "f16", 4096, 32768),
    lambda: rows("softmax", "f16", 2048, 131072),
    lambda: rows("softmax", "f16", 128, 262144),
]
