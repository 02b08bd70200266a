"""libtile through ctypes: just enough of tile.h for the benchmarks."""
import ctypes
import glob
import os
import subprocess


class TileError(Exception):
    """A call of libtile or tilec failed; the text is its message."""


class _Constexpr(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("value", ctypes.c_char_p)]


class _CompilerOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("cache_dir", ctypes.c_char_p)]


class _CompileOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("kernel", ctypes.c_char_p),
                ("signature", ctypes.c_char_p), ("constexprs", ctypes.POINTER(_Constexpr)),
                ("num_constexprs", ctypes.c_size_t), ("num_warps", ctypes.c_int32),
                ("num_stages", ctypes.c_int32), ("target", ctypes.c_char_p),
                ("max_registers", ctypes.c_int32), ("enable_fp_fusion", ctypes.c_int32),
                ("debug", ctypes.c_int32), ("line_info", ctypes.c_int32),
                ("libdevice_path", ctypes.c_char_p), ("num_ctas", ctypes.c_int32),
                ("warp_roles", ctypes.c_char_p)]


class _JitOptions(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("compile", ctypes.POINTER(_CompileOptions)),
                ("context", ctypes.c_void_p), ("plain", ctypes.c_void_p), ("num_plain", ctypes.c_size_t),
                ("unaligned", ctypes.c_void_p), ("num_unaligned", ctypes.c_size_t),
                ("grid", ctypes.c_char_p), ("tuning_file", ctypes.c_char_p),
                ("no_timing", ctypes.c_int32), ("time_all", ctypes.c_int32)]


class _Value(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_uint8), ("dtype", ctypes.c_uint8), ("reserved", ctypes.c_uint8 * 6),
                ("bits", ctypes.c_uint64)]


def pointer(address, dtype):
    return _Value(1, {"fp16": 10, "bf16": 11, "fp32": 12}[dtype], bits=address)


def integer(number):
    return _Value(2, 0, bits=number & (2 ** 64 - 1))


class _FunctionInfo(ctypes.Structure):
    _fields_ = [("size", ctypes.c_size_t), ("context", ctypes.c_void_p),
                ("handle", ctypes.c_void_p), ("registers", ctypes.c_int32),
                ("local_bytes", ctypes.c_int32), ("from_cubin", ctypes.c_int32),
                ("load_ms", ctypes.c_double)]


def _initialise(function, options):
    function(ctypes.byref(options), ctypes.c_size_t(ctypes.sizeof(options)))


def _first(patterns):
    for pattern in patterns:
        found = sorted(glob.glob(pattern, recursive=True))
        if found:
            return os.path.abspath(found[0])
    return None


class Bundle:
    """The files of an unpacked bundle or a build folder."""

    def __init__(self, folder):
        self.folder = os.path.abspath(folder)
        join = lambda *parts: os.path.join(self.folder, *parts)
        self.library = _first([join("lib", "libtile.so*"), join("libtile.so*"),
                               join("**", "libtile.so*")])
        self.tilec = _first([join("bin", "tilec"), join("tilec"), join("**", "bin", "tilec")])
        self.launch_bench = _first([join("bin", "tile-launch-overhead"),
                                    join("**", "tile-launch-overhead")])


class Compiler:
    """A tile_compiler with no disk cache, so that compiling is compiling; for this machine's chip
    if `target` does not name another."""

    def __init__(self, library_path, target=None):
        self.lib, self.target = ctypes.CDLL(library_path), target
        self.lib.tile_last_error.restype = ctypes.c_char_p
        self.lib.tile_version.restype = ctypes.c_char_p
        self.lib.tile_kernel_ptx.restype = ctypes.c_char_p
        self.lib.tile_kernel_metadata.restype = ctypes.c_char_p
        options = _CompilerOptions()
        _initialise(self.lib.tile_compiler_options_init_sized, options)
        options.cache_dir = b""
        self.handle = ctypes.c_void_p()
        self.check(self.lib.tile_compiler_create(ctypes.byref(options), ctypes.byref(self.handle)))

    def check(self, status):
        if status != 0:
            raise TileError(self.lib.tile_last_error().decode(errors="replace").strip() or
                            f"status {status}")

    def compile(self, source, name, kernel, signature, constexprs, num_warps, target=None,
                num_stages=None, max_registers=0, num_ctas=1, warp_roles=None):
        """A Kernel from source text."""
        options = _CompileOptions()
        _initialise(self.lib.tile_compile_options_init_sized, options)
        constants = (_Constexpr * max(1, len(constexprs)))()
        for slot, (key, value) in zip(constants, constexprs.items()):
            slot.name, slot.value = key.encode(), str(value).encode()
        options.kernel, options.signature = kernel.encode(), ",".join(signature).encode()
        options.constexprs, options.num_constexprs = constants, len(constexprs)
        options.num_warps, options.max_registers = num_warps, max_registers
        options.num_ctas = num_ctas
        options.warp_roles = warp_roles.encode() if warp_roles else None
        if num_stages is not None:
            options.num_stages = num_stages
        target = target or self.target
        options.target = target.encode() if target else None
        text = source.encode()
        out = ctypes.c_void_p()
        self.check(self.lib.tile_compile_buffer(self.handle, name.encode(), text,
                                                ctypes.c_size_t(len(text)), ctypes.byref(options),
                                                ctypes.byref(out)))
        return Kernel(self, out)


class Kernel:
    def __init__(self, compiler, handle):
        self.compiler, self.handle, self.function = compiler, handle, None

    def __del__(self):
        lib = self.compiler.lib
        if self.function:
            lib.tile_function_destroy(self.function)
        lib.tile_kernel_destroy(self.handle)

    def ptx(self):
        return self.compiler.lib.tile_kernel_ptx(self.handle, None).decode()

    def metadata(self):
        return self.compiler.lib.tile_kernel_metadata(self.handle, None).decode()

    def load(self):
        """Loads on the current CUDA context; returns tile_function_info."""
        lib = self.compiler.lib
        self.function = ctypes.c_void_p()
        self.compiler.check(lib.tile_function_load(self.handle, None, ctypes.byref(self.function)))
        info = _FunctionInfo()
        info.size = ctypes.sizeof(info)
        self.compiler.check(lib.tile_function_get_info(self.function, ctypes.byref(info)))
        return info

    def launcher(self, grid, arguments, stream=None):
        """A callable that launches; `arguments` are ctypes values, one per signature entry."""
        kept = list(arguments)
        pointers = (ctypes.c_void_p * len(kept))(
            *[ctypes.cast(ctypes.byref(a), ctypes.c_void_p) for a in kept])
        dims = (ctypes.c_uint32 * 3)(*(list(grid) + [1, 1])[:3])
        launch, function, count = (self.compiler.lib.tile_function_launch, self.function,
                                   ctypes.c_size_t(len(kept)))
        stream = ctypes.c_void_p(stream)

        def run(_keep=(kept, self)):
            status = launch(function, stream, dims, pointers, count, None)
            if status != 0:
                self.compiler.check(status)
        return run


class Jit:
    """A kernel that is launched with values; the file has its grid function."""

    def __init__(self, compiler, source, name, kernel):
        self.compiler, self.handle, lib = compiler, ctypes.c_void_p(), compiler.lib
        compile_options, options, text = _CompileOptions(), _JitOptions(), source.encode()
        _initialise(lib.tile_compile_options_init_sized, compile_options)
        _initialise(lib.tile_jit_options_init_sized, options)
        compile_options.kernel = kernel.encode()
        options.compile, options.tuning_file = ctypes.pointer(compile_options), b""
        compiler.check(lib.tile_jit_create_buffer(compiler.handle, name.encode(), text,
                                                  ctypes.c_size_t(len(text)), ctypes.byref(options),
                                                  ctypes.byref(self.handle)))

    def launch(self, values, stream=None):
        self.compiler.check(self.compiler.lib.tile_jit_launch(
            self.handle, ctypes.c_void_p(stream), None, (_Value * len(values))(*values),
            ctypes.c_size_t(len(values)), None))


def tilec_compile(tilec, path, kernel, signature, constexprs, num_warps, target, out):
    """Runs `tilec compile`; raises TileError with its diagnostics."""
    command = [tilec, "compile", path, "--kernel", kernel, "--signature", ",".join(signature),
               "--num-warps", str(num_warps), "--num-stages", "3", "--target", target,
               "-o", out + ".ptx", "--metadata", out + ".json"]
    for key, value in constexprs.items():
        command += ["--constexpr", f"{key}={value}"]
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode != 0:
        raise TileError(result.stderr.strip() or f"tilec exited with {result.returncode}")
