"""Puts the sentences of operands, results and attributes into a dialect's reference.

usage: describe.py REFERENCE RECORDS OUTPUT

`mlir-tblgen -gen-dialect-doc` writes the reference but drops the text of `Arg<...>` and
`Res<...>`; RECORDS is what `llvm-tblgen --dump-json` says of the same file. Each table gets
a column with them. Exits 1 after naming everything that has no sentence. What passes count
(`TilePass` of passes/TilePass.td) is listed behind their options.
"""
import html
import json
import pathlib
import re
import sys

SECTION = re.compile(r"^### `([\w.]+)` \(", re.M)
OPERAND = re.compile(r"^\| `(\w+)` \| (.*) \|$")
ATTRIBUTE = re.compile(r"^<tr><td><code>(\w+)</code></td>.*</td></tr>$")
PARAMETER = re.compile(r"^\| (\w+) \| `[^`]*` \| *(.*?) *\|$")


def sentences(records):
    """{operation: {operand, result or attribute: its sentence}}"""
    found = {}
    for name in records["!instanceof"].get("Op", []):
        op = records[name]
        dialect = records[op["opDialect"]["def"]]["name"]
        own = found.setdefault(f"{dialect}.{op['opName']}", {})
        for dag in (op["arguments"], op["results"]):
            for value, label in dag["args"]:
                record = records[value["def"]]
                described = "OpVariable" in record["!superclasses"]
                own[label] = record["summary"] if described else ""
    return found


def counted(records):
    """{pass: [(name, what it counts)]}"""
    found = {}
    for name in records["!instanceof"].get("TilePass", []):
        own = [records[count["def"]] for count in records[name]["counts"]]
        found[f"-{records[name]['argument']}"] = [(c["name"], c["what"]) for c in own]
    return found


def in_html(text):
    return re.sub(r"`([^`]*)`", r"<code>\1</code>", html.escape(text, quote=False))


def describe(line, own, missing):
    """The line with one more column, if it is a row or the head of a table."""
    if line == "| Operand | Description |" or line == "| Result | Description |":
        return line[:-len("Description |")] + "Type | Meaning |"
    if line == "| :-----: | ----------- |" or line == "| :----: | ----------- |":
        return line + " ----------- |"
    if line.startswith("<tr><th>Attribute</th>"):
        return line.replace("<th>Description</th>", "<th>Kind</th><th>Meaning</th>")
    operand, attribute = OPERAND.match(line), ATTRIBUTE.match(line)
    name = (operand or attribute)[1] if operand or attribute else None
    if name not in own:
        return line
    if not own[name]:
        missing.append(name)
    if operand:
        return f"{line} {own[name]} |"
    return line.replace("</td></tr>", f"</td><td>{in_html(own[name])}</td></tr>")


def main():
    reference, records, output = map(pathlib.Path, sys.argv[1:])
    records = json.loads(records.read_text(encoding="utf-8"))
    known, counts = sentences(records), counted(records)
    lines, missing, own, here = [], [], {}, ""

    def end_section():
        own_counts = counts.get(here.strip("`"))
        if not own_counts:
            return
        while not lines[-1]:
            lines.pop()
        lines.extend(["", "#### Counts", ""])
        lines.extend(f"- `{name}`: {what}" for name, what in own_counts)
        lines.append("")

    for line in reference.read_text(encoding="utf-8").splitlines():
        section = SECTION.match(line)
        if line.startswith("### "):
            end_section()
            here = section[1] if section else line[4:]
            own = known.get(here, {})
        without = []
        lines.append(describe(line, own, without))
        parameter = PARAMETER.match(line)
        if parameter and not own and not parameter[2]:
            without.append(parameter[1])
        missing += [f"{here}: `{name}` has no sentence" for name in without]
    end_section()
    while not lines[-1]:
        lines.pop()
    print("\n".join(missing), end="\n" if missing else "")
    output.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return 1 if missing else 0


sys.exit(main())
