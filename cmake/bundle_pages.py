"""Makes the pages of an installed tree lead where things are there: bundle_pages.py README DOCS PREFIX

README is put into DOCS. In every page below DOCS and in that of the kernel library, links that lead to
what is installed elsewhere are turned there, and those to what is not installed become plain text. What README says of the source tree, between comments, is left out.
"""
import os
import re
import sys

readme, docs, prefix = sys.argv[1:]
kernels = os.path.join(prefix, "share", "tile", "kernels")
# Folders of the source tree, and where what is in them is installed.
PLACES = {"kernels": kernels, "include": os.path.join(prefix, "include"), "docs": os.path.join(docs, "docs"),
          "examples": os.path.join(docs, "examples"), "LICENSE": os.path.join(docs, "LICENSE"),
          "README.md": os.path.join(docs, "README.md")}


def turned(target, page, source):
    """The link from an installed page, or None; `source` is the page's place in the source tree."""
    path, _, anchor = target.partition("#")
    if not path or re.match(r"[a-z]+:", path):
        return target
    top, *rest = os.path.normpath(os.path.join(os.path.dirname(source), path)).split(os.sep)
    place = os.path.join(PLACES[top], *rest) if top in PLACES else None
    if place and os.path.isdir(place) and os.path.exists(os.path.join(place, "README.md")):
        place = os.path.join(place, "README.md")
    if not place or not os.path.exists(place):
        return None
    return os.path.relpath(place, os.path.dirname(page)) + ("#" + anchor if anchor else "")


def rewrite(page, source, text=None):
    text = text or open(page, encoding="utf-8").read()

    def link(match):
        target = turned(match[2], page, source)
        return f"[{match[1]}]({target})" if target else match[1]

    # Code is left alone.
    parts = re.split(r"(```.*?```|`[^`\n]*`(?!\]))", text, flags=re.S)
    parts[::2] = [re.sub(r"\[([^\[\]]+)\]\(([^()\s]+)\)", link, part) for part in parts[::2]]
    with open(page, "w", encoding="utf-8") as out:
        out.write("".join(parts))


with open(readme, encoding="utf-8") as page:
    rewrite(PLACES["README.md"], "README.md",
            re.sub(r"<!-- source tree -->.*?<!-- end -->\n+", "", page.read(), flags=re.S))
for folder, _, names in os.walk(docs):
    for name in names:
        page = os.path.join(folder, name)
        if name.endswith(".md") and page != PLACES["README.md"]:
            rewrite(page, os.path.relpath(page, docs))
if os.path.exists(os.path.join(kernels, "README.md")):
    rewrite(os.path.join(kernels, "README.md"), "kernels/README.md")
