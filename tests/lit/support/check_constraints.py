"""Every constraint of the dialects is documented, verified and tested under one label.

usage: check_constraints.py SOURCE

A label is `dot_c3`. It is defined once, in a description of ir/*.td ("- `dot_c3`: ..."); a
verifier in ir/*.cpp carries it where it checks; a split of a test in tests/lit carries it,
in a comment by itself, and expects an error. Labels of one name are counted from 1. Where
else a label stands in the sources, it must be defined. Whatever has a verifier has a list of
constraints. Exits 1 after naming all that is amiss.
"""
import pathlib
import re
import sys

LABEL = re.compile(r"\b([a-z][a-z_0-9]*_c)(\d+)\b")
DEFINITION = re.compile(r"^ *- `([a-z][a-z_0-9]*_c\d+)`: ", re.M)
RECORD = re.compile(r"^(?:def|class) (\w+).*?^}", re.M | re.S)
VERIFIES = re.compile(r"\b(hasVerifier|hasRegionVerifier|genVerifyDecl) = 1;")
TEST = re.compile(r"^ *// ([a-z][a-z_0-9]*_c\d+)$", re.M)
SPLIT = re.compile(r"^// -----$", re.M)


def labels(text):
    return {"".join(m.groups()) for m in LABEL.finditer(text)}


def read(folder, pattern):
    return {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob(pattern))}


def definitions(tables):
    """The labels that the .td files define, and what is wrong there."""
    defined, problems = [], []
    for path, text in tables.items():
        defined += DEFINITION.findall(text)
        for record in RECORD.finditer(text):
            if VERIFIES.search(record[0]) and "Constraints:" not in record[0] and \
                    not DEFINITION.search(record[0]):
                problems.append(f"{path.name}: `{record[1]}` has a verifier and no constraints")
    problems += [f"`{l}` is defined twice" for l in sorted(set(defined)) if defined.count(l) > 1]
    for label in sorted(set(defined)):
        name, number = LABEL.fullmatch(label).groups()
        if number != "1" and f"{name}{int(number) - 1}" not in defined:
            problems.append(f"`{label}` is defined, the one before it is not")
    return set(defined), problems


def tested(tests):
    """The labels of splits that expect an error, and what is wrong there."""
    found, problems = set(), []
    for path, text in tests.items():
        for split in SPLIT.split(text):
            own = set(TEST.findall(split))
            found |= own
            if own and "expected-error" not in split:
                problems.append(f"{path.name}: {', '.join(sorted(own))}: expects no error")
    return found, problems


def main():
    source = pathlib.Path(sys.argv[1])
    defined, problems = definitions(read(source / "ir", "*.td"))
    verified = labels("\n".join(read(source / "ir", "*.cpp").values()))
    tests, wrong = tested(read(source / "tests/lit", "*.mlir"))
    problems += wrong
    problems += [f"no verifier carries `{l}`" for l in sorted(defined - verified)]
    problems += [f"no test carries `{l}`" for l in sorted(defined - tests)]
    elsewhere = verified | tests
    for folder in ("passes", "runtime/interp"):
        elsewhere |= labels("\n".join(read(source / folder, "*.cpp").values()))
    for text in read(source / "ir", "*.td").values():
        elsewhere |= labels(text)
    problems += [f"`{l}` is not defined" for l in sorted(elsewhere - defined)]
    print("\n".join(problems), end="\n" if problems else "")
    print(f"{len(defined)} constraints, {len(problems)} problems")
    return 1 if problems or not defined else 0


sys.exit(main())
