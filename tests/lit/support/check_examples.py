"""Parses every ```mlir example of TableGen files with tile-opt.

usage: check_examples.py TILE_OPT FILE.td...

Documentation examples use values they do not define. Each such value becomes a
function argument; its type is what the parser says it expects, so examples
need no annotation. Then the example must parse, verify, and survive a second
round trip. Exits 1 after listing the examples that fail.
"""
import re
import subprocess
import sys

FENCE = re.compile(r"^ *```mlir\n(.*?)^ *```$", re.M | re.S)
EXPECTS = re.compile(r"use of value '(%\w+)' expects different type than prior uses: '(.*?)' vs")


def run(tile_opt, text):
    return subprocess.run([tile_opt, "--allow-unregistered-dialect", "-"], input=text,
                          capture_output=True, text=True)


def module(example, arguments):
    lines = example.splitlines()
    aliases = [l for l in lines if re.match(r"[#!][\w.]+ *=", l.strip())]
    body = [l for l in lines if l not in aliases]
    text = "\n".join(body)
    if re.match(r"#[\w.]+<", text.strip()):  # an attribute by itself
        text = '"example.attribute"() {value = %s} : () -> ()' % text.strip()
    if re.search(r"^ *(func\.func|module)\b", text, re.M):
        return "\n".join(aliases) + "\n" + text
    signature = ", ".join(f"{n}: {t}" for n, t in arguments.items())
    return "\n".join(aliases) + f"\nfunc.func @example({signature}) {{\n{text}\nreturn\n}}\n"


def check(tile_opt, example):
    """Returns the error text, or None."""
    defined = set(re.findall(r"(%\w+): ", example))  # block arguments
    for results in re.findall(r"^ *(%\w+(?:, *%\w+)*)(?::\d+)? = ", example, re.M):
        defined.update(re.findall(r"%\w+", results))
    used = dict.fromkeys(re.findall(r"%\w+", example))
    arguments = {name: "none" for name in used if name not in defined}
    while True:
        result = run(tile_opt, module(example, arguments))
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


def main():
    tile_opt, *files = sys.argv[1:]
    count, failures = 0, 0
    for path in files:
        text = open(path, encoding="utf-8").read()
        for match in FENCE.finditer(text):
            count += 1
            error = check(tile_opt, match[1])
            if error:
                failures += 1
                line = text.count("\n", 0, match.start()) + 1
                print(f"{path}:{line}: example does not parse\n{match[1]}{error}")
    print(f"{count} examples, {failures} failed")
    return 1 if failures or count == 0 else 0


sys.exit(main())
