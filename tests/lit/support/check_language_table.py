"""Every test that the tables of docs/language.md name exists.

usage: check_language_table.py SOURCE

`file:name` is a test function of tests/conformance/file.tile (or of tests/file.tile, where
the file is in another folder), `Suite.Name` a unit test, `lit/path` a file without its ending.
Every row that says that something is supported must name a test. Exits 1 after naming what is
wrong.
"""
import pathlib
import re
import sys

source = pathlib.Path(sys.argv[1])
tests = source / "tests"
units = {f"{suite}.{name}" for path in (tests / "unit").rglob("*.cpp")
         for suite, name in re.findall(r"^TEST(?:_[FP])?\((\w+), (\w+)\)",
                                       path.read_text(encoding="utf-8"), re.M)}


def exists(reference):
    if reference.startswith("lit/"):
        folder, name = (tests / reference).parent, pathlib.Path(reference).name
        return any(folder.glob(f"**/{name}.*"))
    if ":" not in reference:
        return reference in units
    file, name = reference.split(":")
    path = tests / ("" if "/" in file else "conformance") / f"{file}.tile"
    return path.is_file() and re.search(rf"^def {name}\(", path.read_text(encoding="utf-8"), re.M)


rows = references = failures = 0
testsColumn = False
for line in (source / "docs/language.md").read_text(encoding="utf-8").splitlines():
    cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
    if len(cells) != 3:
        testsColumn = False
        continue
    if cells[2] == "Tests":
        testsColumn = True
        continue
    if not testsColumn or set(cells[0]) <= {"-"}:
        continue
    rows += 1
    named = re.findall(r"`([^`]+)`", cells[2])
    references += len(named)
    if not named and cells[1] != "−":
        failures += 1
        print(f"no test is named for: {cells[0]}")
    for reference in named:
        if not exists(reference):
            failures += 1
            print(f"there is no test `{reference}`, named for: {cells[0]}")
print(f"{rows} rows, {references} tests, {failures} failures")
sys.exit(1 if failures or not references else 0)
