"""Finds tests that check nothing.

usage: lint_checks.py ROOT

FileCheck passes silently over a directive it does not know: `CHECK-NEXT foo`
without its colon, `CHEKC:`, `CHECK-NEXTT:`. This lint reports, for every test
below ROOT,
  - a line that looks like a directive of a prefix in use but is none;
  - a near miss of such a prefix (one edit away) followed by a colon;
  - directives of a prefix that no RUN line hands to FileCheck;
  - a test whose RUN lines use neither FileCheck, -verify-diagnostics, diff,
    cmp, `not` nor a helper script that checks.
Exits 1 if anything was found.
"""
import pathlib
import re
import sys

SUFFIXES = {".mlir", ".tile", ".test", ".py"}
KINDS = "NEXT|SAME|NOT|DAG|LABEL|EMPTY|COUNT-[0-9]+"
COMMENT = re.compile(r"^\s*(?://|#|;)\s*|\s(?://|#)\s+")
CHECKS = ("FileCheck", "-verify-diagnostics", "diff ", "cmp ", "not ", "%python", "--check")


def edits(a, b):
    """Levenshtein distance, small strings."""
    row = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        last, row[0] = row[0], i
        for j, cb in enumerate(b, 1):
            last, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, last + (ca != cb))
    return row[-1]


def lint(path):
    lines = path.read_text(encoding="utf-8").splitlines()
    # One command a line, unless it goes on in the next.
    runs = ";".join(l.split("RUN:", 1)[1] for l in lines if "RUN:" in l).replace("\\;", " ")
    if not runs:
        yield 1, "no RUN line"
        return
    prefixes = set()
    for command in re.findall(r"FileCheck[^|&;]*", runs):
        named = re.findall(r"-check-prefix(?:es)?[= ]([\w,-]+)", command)
        prefixes.update(p for group in named for p in group.split(",")) if named else \
            prefixes.add("CHECK")
    if not any(word in runs for word in CHECKS):
        yield 1, "RUN lines check nothing"
    for number, line in enumerate(lines, 1):
        mark = COMMENT.search(line)
        if not mark or "RUN:" in line:
            continue
        word = re.match(r"[A-Za-z][\w-]*(\{LITERAL\})?(?=:| |$)", line[mark.end():])
        if not word:
            continue
        name = word[0].replace("{LITERAL}", "")
        colon = line[mark.end() + word.end():].startswith(":")
        root = re.sub(rf"-(?:{KINDS})$", "", name)
        if root in prefixes:
            if not colon and name != root:
                yield number, f"`{name}` without a colon is ignored"
            continue
        if name.isupper() or root.isupper():
            owner = next((p for p in prefixes if name.startswith(p + "-")), None)
            if owner and colon:
                yield number, f"`{name}:` is not a FileCheck directive"
            elif colon and any(edits(root, p) <= 2 and len(p) > 3 for p in prefixes):
                yield number, f"`{name}:` looks like a misspelt directive"
            elif root == "CHECK" and "CHECK" not in prefixes and colon:
                yield number, f"`{name}:` but no RUN line checks that prefix"


def main():
    found = 0
    for path in sorted(pathlib.Path(sys.argv[1]).rglob("*")):
        if path.suffix not in SUFFIXES or path.name.startswith("lit.") \
                or {"support", "Inputs"} & set(path.parts):
            continue
        for line, problem in lint(path):
            found += 1
            print(f"{path}:{line}: {problem}")
    print(f"{found} dead checks")
    return 1 if found else 0


sys.exit(main())
