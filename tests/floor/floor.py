"""What kernels of many forms compile to does not get worse unseen.

usage: floor.py TILEC FILE...

Each kernel of the files has comments above its decorator:

    # form: SIGNATURE [NAME=VALUE]... [--OPTION VALUE]...
    # fact: EXPRESSION  -- why it holds

or, for a kernel of another file, before a line that names it:

    # kernel: FILE NAME

The kernel is compiled by `tilec explain --json`, and each expression, a condition in Python, must
hold. In it:

    loads, stores, atomics   accesses to global memory, in the order of lines; with .path ("TMA",
                             "cp.async", "bulk copy", "vector", ...), .vector_bytes, .line
    by(path, accesses)       how many of them go that way
    least(accesses)          the fewest bytes a thread moves at once, of those that threads make
    products                 with .instruction, .left, .right
    exchanges                what moves between threads; .path, .wavefronts, .what
    stages                   of each pipeline, what it has
    written(instruction)     how often the PTX has it
    threads, warps, groups, producer_warps, shared_bytes
    registers, spill_bytes, programs   need `ptxas`; a fact with one of them is skipped without

Prints each fact that does not hold, with what was found; exits 1 if there is one.
"""
import functools
import json
import os
import re
import subprocess
import sys
import types


def namespaces(entries):
    return [types.SimpleNamespace(**{"path": "", "vector_bytes": 0, "line": 0, "wavefronts": 0, **e})
            for e in sorted(entries, key=lambda e: (e.get("line", 0), e.get("column", 0)))]


def variables(report):
    accesses = namespaces(report["accesses"])
    scope = {name: report.get(name) for name in
             ("threads", "warps", "groups", "producer_warps", "shared_bytes", "registers",
              "spill_bytes")}
    scope.update(
        loads=[a for a in accesses if a.kind == "load"],
        stores=[a for a in accesses if a.kind == "store"],
        atomics=[a for a in accesses if a.kind not in ("load", "store")],
        products=namespaces(report["products"]), exchanges=namespaces(report["exchanges"]),
        stages=[p["stages"] for p in report["pipelines"]],
        programs=report.get("occupancy", {}).get("programs"),
        by=lambda path, of: sum(a.path == path for a in of),
        least=lambda of: min((a.vector_bytes for a in of if a.vector_bytes), default=0),
        len=len, all=all, any=any, sum=sum, max=max, min=min)
    return scope


NEEDS_PTXAS = re.compile(r"\b(registers|spill_bytes|programs)\b")


def forms(path):
    """(file, kernel, form, facts) for each kernel with a form; a kernel may have several."""
    pending = []
    for line in open(path, encoding="utf-8"):
        if match := re.match(r"# form: (.*)", line):
            pending.append((match[1].split(), []))
        elif match := re.match(r"# fact: (.*?)\s+-- (.*)", line):
            pending[-1][1].append((match[1], match[2]))
        elif match := re.match(r"def (?P<name>\w+)\(|# kernel: (?P<file>\S+) (?P<of>\w+)", line):
            file = os.path.join(os.path.dirname(path), match["file"]) if match["file"] else path
            for form, facts in pending:
                yield os.path.normpath(file), match["name"] or match["of"], form, facts
            pending = []


def arguments(path, kernel, form):
    command = [path, "--kernel", kernel, "--signature", form[0]]
    options = form[1:]
    if not any(o.startswith("--target") for o in options):
        command += ["--target", "sm_90a"]
    for option in options:
        command += ["--constexpr", option] if re.match(r"\w+=", option) else [option]
    return command


def output(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        raise RuntimeError(result.stderr.strip())
    return result.stdout


def explain(tilec, path, kernel, form):
    return json.loads(output(tilec, "explain", "--json", *arguments(path, kernel, form)))[0]


def written(tilec, path, kernel, form, instruction):
    ptx = output(tilec, "compile", *arguments(path, kernel, form), "-o", "-")
    return len(re.findall(rf"^\s*(?:@!?%p\d+\s+)?{re.escape(instruction)}\s", ptx, re.MULTILINE))


def main():
    tilec, count, facts_seen, skipped, failures = sys.argv[1], 0, 0, 0, 0
    for listed in sys.argv[2:]:
        for path, kernel, form, facts in forms(listed):
            count += 1
            try:
                report = explain(tilec, path, kernel, form)
            except RuntimeError as error:
                failures += 1
                print(f"{path}: {kernel}: does not compile: {error}")
                continue
            scope = variables(report)
            scope["written"] = functools.partial(written, tilec, path, kernel, form)
            if not facts:
                failures += 1
                print(f"{path}: {kernel}: a form without a fact\n{json.dumps(report)}")
            for expression, why in facts:
                facts_seen += 1
                if NEEDS_PTXAS.search(expression) and (scope["registers"] or -1) < 0:
                    skipped += 1
                    continue
                if not eval(expression, {**scope, "__builtins__": {}}):
                    failures += 1
                    shown = {k: v for k, v in scope.items() if not callable(v) and
                             re.search(rf"\b{k}\b", expression)}
                    print(f"{path}: {kernel} {' '.join(form)}: not `{expression}` ({why}); found {shown}")
    print(f"{count} forms, {facts_seen} facts, {skipped} skipped, {failures} failures")
    return 1 if failures or not count else 0


if __name__ == "__main__":
    sys.exit(main())
