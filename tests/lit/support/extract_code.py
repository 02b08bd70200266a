"""usage: extract_code.py FILE.md LANGUAGE: prints the first block of that language."""
import re
import sys

block = re.search(rf"^```{sys.argv[2]}\n(.*?)^```$", open(sys.argv[1], encoding="utf-8").read(),
                  re.M | re.S)
if not block:
    sys.exit(f"no {sys.argv[2]} block in {sys.argv[1]}")
print(block[1], end="")
