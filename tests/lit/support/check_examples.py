"""Parses every ```mlir example of TableGen files with tile-opt.

usage: check_examples.py TILE_OPT FOLDER

Takes every .td file of FOLDER. Documentation examples use values they do not define. Each
such value becomes a function argument; its type is what the parser says it expects, so
examples need no annotation. An example that only defines names (`#image = ...`) defines
them for all others. Then the example must parse, verify, and survive a second round trip.
So that none is left out, every line that opens or closes a fence must belong to an example
that was parsed, and every operation must stand in an example of its own description.
Exits 1 after listing what fails.
"""
import pathlib
import re
import subprocess
import sys

FENCE = re.compile(r"^ *```mlir\n(.*?)^ *```$", re.M | re.S)
EXPECTS = re.compile(r"use of value '(%\w+)' expects different type than prior uses: '(.*?)' vs")
ALIAS = re.compile(r"([#!]\w+) *= ")
OPERATION = re.compile(r'^def (?:Tile|Cta|Graph)_\w+Op : \w+<"(\w+)".*?^}', re.M | re.S)


def run(tile_opt, text):
    return subprocess.run([tile_opt, "--allow-unregistered-dialect", "-"], input=text,
                          capture_output=True, text=True)


def take_aliases(example):
    """The names that an example defines, with their definitions; and the rest of it."""
    aliases, body, name = {}, [], None
    for line in example.splitlines():
        start = ALIAS.match(line.strip())
        if start:
            name = start[1]
            aliases[name] = line
        elif name:
            aliases[name] += "\n" + line
        else:
            body.append(line)
        if name and all(aliases[name].count(a) == aliases[name].count(b) for a, b in ("[]", "{}")):
            name = None
    return aliases, "\n".join(body)


def needed(text, known, own):
    """The definitions of `known` that `text` and what is needed itself name."""
    names = [n for n in known if n not in own and re.search(re.escape(n) + r"\b", text)]
    more = "\n".join(known[n] for n in names)
    if not names:
        return {}
    return {**needed(more, {n: t for n, t in known.items() if n not in names}, own),
            **{n: known[n] for n in names}}


def module(text, aliases, arguments):
    head = "\n".join(aliases.values()) + "\n"
    if re.match(r"#[\w.]+<", text.strip()):  # an attribute by itself
        text = f'"example.attribute"() {{value = {text.strip()}\n}} : () -> ()'
    elif re.match(r"![\w.]+", text.strip()):  # a type by itself
        text = f'"example.type"() {{value = {text.strip()}\n}} : () -> ()'
    if re.search(r"^ *(func\.func|module)\b", text, re.M):
        return head + text
    signature = ", ".join(f"{n}: {t}" for n, t in arguments.items())
    return head + f"func.func @example({signature}) {{\n{text}\nreturn\n}}\n"


def check(tile_opt, example, shared):
    """Returns the error text, or None."""
    own, body = take_aliases(example)
    aliases = {**needed(example, shared, own), **own}
    defined = set(re.findall(r"(%\w+): ", body))  # block arguments
    for results in re.findall(r"^ *(%\w+(?:, *%\w+)*)(?::\d+)? = ", body, re.M):
        defined.update(re.findall(r"%\w+", results))
    used = dict.fromkeys(re.findall(r"%\w+", body))
    arguments = {name: "none" for name in used if name not in defined}
    while True:
        result = run(tile_opt, module(body, aliases, arguments))
        if result.returncode == 0:
            break
        wanted = EXPECTS.search(result.stderr)
        if not wanted or arguments.get(wanted[1]) != "none":
            return result.stderr
        arguments[wanted[1]] = wanted[2]
    again = run(tile_opt, result.stdout)
    if again.returncode != 0 or again.stdout != result.stdout:
        return again.stderr or "printing what was parsed and parsing it again gives another text"
    return None


def left_out(path, text, examples):
    """Fences outside of examples, and operations without one."""
    lines = len(re.findall(r"^.*```", text, re.M))
    if lines != 2 * len(examples):
        yield f"{path}: {lines} lines of fences are not {len(examples)} examples"
    for operation in OPERATION.finditer(text):
        inside = "".join(FENCE.findall(operation[0]))
        if not re.search(rf"\b(tile|cta|graph)\.{operation[1]}\b", inside):
            line = text.count("\n", 0, operation.start()) + 1
            yield f"{path}:{line}: no example has `{operation[1]}`"


def main():
    tile_opt, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    texts = {path: path.read_text(encoding="utf-8") for path in sorted(folder.rglob("*.td"))}
    shared = {}
    for text in texts.values():
        for example in FENCE.findall(text):
            aliases, body = take_aliases(example)
            if not body.strip():
                shared.update(aliases)
    count, failures = 0, 0
    for path, text in texts.items():
        examples = list(FENCE.finditer(text))
        count += len(examples)
        for problem in left_out(path, text, examples):
            failures += 1
            print(problem)
        for match in examples:
            error = check(tile_opt, match[1], shared)
            if error:
                failures += 1
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: example does not parse\n{match[1]}{error}")
    print(f"{count} examples, {failures} failed")
    return 1 if failures or count == 0 else 0


sys.exit(main())
