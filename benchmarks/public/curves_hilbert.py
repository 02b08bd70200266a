"""hilbertsfc 0.5.1 and cuzipnn 0.1.0: space-filling curve indices (bit tricks and tables), and byte grouping of floats for lossless compression."""
from _common import *
import importlib.util


@case((4 << 20, 16, i32), (2 << 20, 31, i64), (1 << 20, 10, i32))
def plane(n, bits, t):
    import hilbertsfc.torch as h
    x, y = (randint(0, 1 << bits, n, dtype=t) for _ in range(2))
    for kind in ("hilbert", "morton"):
        code = getattr(h, kind + "_encode_2d")(x, y, nbits=bits, gpu_backend="triton")
        code = randint(0, 1 << (2 * bits), n)   # also where nothing computed it
        getattr(h, kind + "_decode_2d")(code, nbits=bits, gpu_backend="triton")


@case((4 << 20, 10, i32), (2 << 20, 20, i64))
def space(n, bits, t):
    import hilbertsfc.torch as h
    x, y, z = (randint(0, 1 << bits, n, dtype=t) for _ in range(3))
    for kind in ("hilbert", "morton"):
        getattr(h, kind + "_encode_3d")(x, y, z, nbits=bits, gpu_backend="triton")
        getattr(h, kind + "_decode_3d")(randint(0, 1 << (3 * bits), n), nbits=bits, gpu_backend="triton")


@case(bf16, f32, torch.float64, torch.float8_e4m3fn)
def zip_floats(t):
    spec = importlib.util.spec_from_file_location("cuzipnn_kernels", os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "site", "cuzipnn", "_kernels.py"))
    k = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(k)
    n, chunk = (16 << 20) + 40, 262144
    x = randn(n, dtype=f32).to(t)
    size = x.element_size()
    nch = (n + chunk - 1) // chunk
    stride = nch * chunk
    planes = zeros(size * stride, dtype=torch.uint8)
    k.split(x, planes, stride, t in (bf16, f32))
    table = (torch.arange(size, device=DEV)[:, None] * stride + torch.arange(nch, device=DEV) * chunk).reshape(-1).contiguous()
    out = torch.zeros_like(x)
    k.merge(table, planes, out, chunk, t in (bf16, f32))
    packed = torch.zeros_like(planes)
    k.copy_chunks(table + planes.data_ptr(), table + packed.data_ptr(), randint(chunk // 2, chunk, size * nch), chunk, True)
