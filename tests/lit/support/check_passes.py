"""Every pass and pipeline of the project is tested and documented.

usage: check_passes.py TILE_OPT SOURCE

Reads the `--tile-*` names from `tile-opt --help`. Each must stand in a RUN line
of the suite and in docs/architecture.md. Exits 1 after naming those that do not.
"""
import pathlib
import re
import subprocess
import sys

tile_opt, source = sys.argv[1], pathlib.Path(sys.argv[2])
text = subprocess.run([tile_opt, "--help"], capture_output=True, text=True, check=True).stdout
passes = sorted(set(re.findall(r"^ +--(tile-[\w-]+)", text, re.M)))
runs = "\n".join(line for path in (source / "tests/lit").rglob("*.*")
                 if path.is_file() and path.suffix in {".mlir", ".test", ".tile"}
                 for line in path.read_text(encoding="utf-8").splitlines() if "RUN:" in line)
docs = (source / "docs/architecture.md").read_text(encoding="utf-8")
failures = 0
for name in passes:
    for where, what in ((runs, "no RUN line runs"), (docs, "docs/architecture.md does not name")):
        if where is docs and name.startswith("tile-test-"):
            continue
        if not re.search(rf"(?<![\w-])-{{0,2}}{name}(?![\w-])", where):
            failures += 1
            print(f"{what} `{name}`")
print(f"{len(passes)} passes, {failures} omissions")
sys.exit(1 if failures or not passes else 0)
