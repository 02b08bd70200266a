"""The kernels whose compile time is measured: thirty of the library, each unlike the others, or
cases from a file. A case is a dictionary:

    {"file": path, "kernel": name, "sig": [[parameter, type], ...],
     "const": {parameter: expression}, "warps": 4, "stages": 3}

with types as in a signature ("*fp16:16") and constants as `--constexpr` takes them. A case file
holds one such dictionary a line, so that kernels from anywhere can be measured.
"""
import inspect
import json
import os

import common

# (file, kernel, warps, constants other than the defaults)
LIBRARY = [
    ("vector_add", "add", 4),
    ("fused_elementwise", "add_relu_mul", 4),
    ("activations", "gelu", 4),
    ("activations", "gelu_backward", 4),
    ("activations", "swiglu_backward", 4),
    ("dropout", "dropout", 4),
    ("cross_entropy", "cross_entropy", 4),
    ("cross_entropy", "cross_entropy_backward", 4),
    ("cumsum", "cumsum_loop", 4),
    ("cumsum", "linear_recurrence", 4),
    ("softmax", "softmax_row", 4),
    ("softmax", "softmax_rows", 4),
    ("softmax", "softmax_loop", 8),
    ("layer_norm", "layer_norm_row", 4),
    ("layer_norm", "layer_norm_backward", 4),
    ("layer_norm", "sum_parts", 4),
    ("rms_norm", "rms_norm_row", 4),
    ("rms_norm", "rms_norm_loop", 8),
    ("transpose", "transpose", 4),
    ("conv2d", "conv2d_direct", 4),
    ("conv2d", "conv2d", 4),
    ("matmul", "matmul", 8, {"BLOCK_N": 256}),
    ("matmul", "matmul_persistent", 8),
    ("matmul_batched", "matmul_grouped", 4),
    ("matmul_fp8", "matmul_fp8_blocks", 4),
    ("matmul_fused", "matmul_fused", 4),
    ("matmul_fused", "matmul_int8_weights", 4),
    ("matmul_int4", "matmul_int4", 4),
    ("matmul_int4", "matvec_int4", 4),
    ("matmul_split_k", "matmul_stream_k", 4),
]
# Those whose PTX is also given to the driver, and that are compiled as processes.
DETAILED = [("vector_add", "add"), ("softmax", "softmax_row"), ("layer_norm", "layer_norm_row"),
            ("matmul", "matmul")]


def literal(value):
    """As Triton's side and `--constexpr` both read it."""
    return json.dumps(value) if isinstance(value, str) else repr(value)


def library_case(file, kernel, warps, constants={}):
    """Types from the annotations, constants from the defaults."""
    parameters = inspect.signature(getattr(common.load_as_python(file), kernel).fn).parameters
    types = {p.name: p.annotation for p in parameters.values() if isinstance(p.annotation, str)}
    return {"name": kernel, "file": common.kernel_path(file), "kernel": kernel,
            "sig": [[name, text] for name, text in types.items()],
            "const": {p.name: literal(constants.get(p.name, p.default))
                      for p in parameters.values() if p.name not in types},
            "warps": warps, "stages": 3, "detailed": (file, kernel) in DETAILED}


def library():
    return {case["name"]: case for case in (library_case(*entry) for entry in LIBRARY)}


def from_file(path):
    with open(path) as lines:
        cases = [json.loads(line) for line in lines if line.strip()]
    for case in cases:
        case["name"] = f"{os.path.basename(case['file'])}:{case['kernel']}"
    return {case["name"]: case for case in cases}


def signature(case):
    return [text for _, text in case["sig"]]
