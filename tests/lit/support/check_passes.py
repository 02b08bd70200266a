"""Every pass and pipeline of the project is tested and documented, and so are its options and counts.

usage: check_passes.py TILE_OPT SOURCE

Reads the `--tile-*` and `--graph-*` names from `tile-opt --help`. Each must stand in a RUN line
of the suite and in docs/architecture.md; so must `OPTION=` of each option declared for it
(passes/Passes.td and passes/*/Passes.td) in a RUN line of its pass. Each pass is declared in the folder of its
source, with a contract (needs, guarantees, never), speaks on a channel of its name, and what it
counts by its declaration is what its sources count. What the declarations name, as `cta.ring`, is an
operation, a type or an attribute. Each reason to hold back (passes/facts/Refusals.cpp) is given by a test.
Exits 1 after naming what is missing.
"""
import pathlib
import re
import subprocess
import sys

tile_opt, source = sys.argv[1], pathlib.Path(sys.argv[2])
text = subprocess.run([tile_opt, "--help"], capture_output=True, text=True, check=True).stdout
passes = sorted(set(re.findall(r"^ +--((?:tile|graph)-[\w-]+)", text, re.M)))
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

declared, options, rooms = set(), 0, {}
records = ""
for path in sorted((source / "passes").rglob("*Passes.td")):
    text = path.read_text(encoding="utf-8")
    records += text
    rooms |= {name.upper(): path.parent for name in re.findall(r"^def (\w+) : TilePass<", text, re.M)}
for name, body in re.findall(r'^def \w+ : TilePass<"([\w-]+)"(.*?)^}', records, re.M | re.S):
    declared |= {(name, *count) for count in re.findall(r'Count<"(\w+)",\s*"([^"]*)">', body)}
    for part in ("Needs", "Guarantees", "Never"):
        if not name.startswith("tile-test-") and not re.search(rf"\b{part}(\*\*)?:", body):
            failures += 1
            print(f"the contract of `{name}` does not say: {part}")
    for option in re.findall(r'Option<"\w+",\s*"([\w-]+)"', body):
        options += 1
        if not re.search(rf"--{name}='?[^|>]*\b{option}(=|[ \"'])", runs):
            failures += 1
            print(f"no RUN line sets `{option}` of `{name}`")
counted, channels = set(), set()
for path in (source / "passes").rglob("*.cpp"):
    text = path.read_text(encoding="utf-8")
    for name in re.findall(r"^#define GEN_PASS_DEF_(\w+)", text, re.M):
        if rooms.get(name, path.parent) != path.parent:
            failures += 1
            print(f"{path.name} is not in {rooms[name].relative_to(source)}, where its pass is declared")
    channel = re.search(r'^#define DEBUG_TYPE "([\w-]+)"', text, re.M)
    if channel and re.search(r"\bLDBG\(", text):
        channels.add(channel[1])
    for count in re.findall(r'ALWAYS_ENABLED_STATISTIC\((\w+),\s*"([^"]*)"\)', text):
        counted.add((channel[1] if channel else path.name, *count))
        if len(re.findall(rf"\b{count[0]}\b", text)) < 2:
            failures += 1
            print(f"{path.name} never counts `{count[0]}`")
for name in re.findall(r'^def \w+ : TilePass<"([\w-]+)"', records, re.M):
    if name not in channels and not name.startswith("tile-test-"):
        failures += 1
        print(f"`{name}` says nothing on a channel of its name (DEBUG_TYPE, LDBG)")
for where, missing in (("Passes.td", counted - declared), ("the sources", declared - counted)):
    for name, count, _ in sorted(missing):
        failures += 1
        print(f"{where}: `{name}` has no such count: `{count}`")
dialects = {path: path.read_text(encoding="utf-8") for path in (source / "ir").rglob("*.*")
            if path.suffix in {".td", ".h", ".cpp"}}
known = set(re.findall(r'"((?:tile|cta|graph)\.[\w.]+)"', "".join(dialects.values())))
for path, text in dialects.items():
    dialect = "graph" if path.parent.name == "graph" else "cta" if path.name.startswith("Cta") else "tile"
    known |= {f"{dialect}.{name}" for name in re.findall(r'(?:\w+Op|AttrDef|TypeDef)<(?:\w+, )?"([\w.]+)"', text)}
    known |= {f"{dialect}.{name}" for name in re.findall(r'mnemonic = "([\w.]+)"', text)}
for name in sorted(set(re.findall(r"`[#!]?((?:cta|tile|graph)\.[\w.]+)`", records)) - known):
    failures += 1
    print(f"a declaration of a pass names what there is not: `{name}`")
reasons = (source / "passes/facts/Refusals.cpp").read_text(encoding="utf-8")
reasons = reasons[reasons.index("refusals[] = {"):reasons.index("};")]
reasons = re.findall(r'"([^"]+)",\s*"[^"]+"\}', reasons)
tests = "\n".join(path.read_text(encoding="utf-8") for path in (source / "tests/lit").rglob("*.*")
                  if path.suffix in {".mlir", ".test", ".tile"})
for reason in reasons:
    if reason not in tests:
        failures += 1
        print(f"no test gives the reason: {reason}")
print(f"{len(passes)} passes, {len(reasons)} reasons, {options} options, {len(counted)} counts, {failures} omissions")
sys.exit(1 if failures or not passes else 0)
