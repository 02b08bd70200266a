"""usage: check_links.py ROOT: every relative link of the tree's Markdown leads somewhere, and every
path in backticks that begins with a folder of the source tree is there (from the root, or beside
the page); `NAME` and `ROOM` stand for any."""
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
folders = "|".join(sorted(p.name for p in root.iterdir() if p.is_dir() and p.name.isalpha()
                          and p.name != "build"))
count = broken = 0
for path in sorted(root.rglob("*.md")):
    if "build" in path.relative_to(root).parts:
        continue
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(rf"`((?:{folders})/[\w./-]*)`", text):
        if re.search(r"NAME|ROOM", target):
            continue
        count += 1
        if not (root / target).exists() and not (path.parent / target).exists():
            broken += 1
            print(f"{path}: no such path: {target}")
    text = re.sub(r"`[^`\n]*`", "", text)
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", text):
        if re.match(r"[a-z]+:", target):
            continue
        count += 1
        if not (path.parent / target).exists():
            broken += 1
            print(f"{path}: no such file: {target}")
print(f"{count} links, {broken} broken")
sys.exit(1 if broken else 0)
