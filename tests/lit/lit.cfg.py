# The lit suite. Tests sit in folders that mirror the source tree and see:
#   tile-opt, tile-reduce, tile-interp, tilec, FileCheck, not    the tools, by full path
#   %source    the root of the source tree
#   %python    an interpreter for the helper scripts in support/
#   %cxx       the C++ compiler that built the project
# Features: `ptxas` where NVIDIA's assembler is on PATH.
import os
import re
import shutil
import sys

import lit.formats

config.name = "tile"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".tile", ".py", ".test"]
config.excludes = ["Inputs", "support", "lit.cfg.py", "lit.site.cfg.py.in", "CMakeLists.txt"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tile_build_dir, "tests", "lit")

tools = {
    "tile-opt": os.path.join(config.tile_build_dir, "bin", "tile-opt"),
    "tile-reduce": os.path.join(config.tile_build_dir, "bin", "tile-reduce"),
    "tile-interp": os.path.join(config.tile_build_dir, "bin", "tile-interp"),
    "tilec": os.path.join(config.tile_build_dir, "bin", "tilec"),
    "FileCheck": config.filecheck,
}
# A tool's name is replaced where it stands as a word of its own.
for name, path in tools.items():
    config.substitutions.append((r"(?<![\w./%-])" + re.escape(name) + r"(?![\w./-])", path))
config.substitutions.append(("%source", config.tile_source_dir))
config.substitutions.append(("%python", sys.executable))
config.substitutions.append(("%cxx", config.cxx))
config.substitutions.append(("%tilec", tools["tilec"]))
config.substitutions.append(("%libtile", os.path.join(config.tile_build_dir, "lib", "libtile.so")))

config.environment["LC_ALL"] = "C.UTF-8"
# What users set must not change what tests see.
for variable in [v for v in os.environ if v.startswith("TILE_")] + ["NO_COLOR", "CLICOLOR_FORCE"]:
    config.environment.pop(variable, None)

ptxas = shutil.which("ptxas", path=os.environ.get("PATH", "") + ":/usr/local/cuda/bin")
if ptxas:
    config.available_features.add("ptxas")
    config.substitutions.append(("%ptxas", ptxas))
