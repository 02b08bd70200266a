#!/usr/bin/env python3
"""Which of the things that passes count they do in random kernels.

counts.py BIN PASSES [--count N] [--seed S]: N random kernels and N/4 random loops of products
are compiled with the tools in BIN. Prints of each count of each pass (the files Passes.td below PASSES) in
how many kernels it was above zero, those of none first: what random kernels do not test.
"""
import argparse
import collections
import os
import pathlib
import re
import subprocess
import sys
import tempfile

HEAD = re.compile(r"programs \d+, num_warps (\d+), num_stages (\d+)(.*), num_ctas (\d+), "
                  r"grid axis \d+, signature (.*)$")
OPTIONS = {", persistent": ["--persistent"], ", without roles": ["--warp-roles", "none"],
           ", by turns": ["--warp-roles", "pingpong"]}


def declared(folder):
    """The counts that passes declare, as `tile-opt --counts` names them."""
    result, name = [], None
    for line in (line for path in sorted(pathlib.Path(folder).rglob("Passes.td"))
                 for line in path.read_text(encoding="utf-8").splitlines()):
        if match := re.match(r'def \w+ : TilePass<"([\w-]+)"', line):
            name = match[1]
        result += [(name, text) for text in re.findall(r'Count<"\w+",\s*"([^"]*)"', line)]
    return result


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"counts.py: error: {' '.join(command)}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def counts_of(binaries, kind, seed, folder):
    """What the passes counted in one kernel."""
    text = run([f"{binaries}/tile-fuzz", kind, "--print", f"--seed={seed}"]).lstrip("\n")
    head, source = text.split("\n", 1)
    warps, stages, options, ctas, signature = HEAD.match(head).groups()
    kernel, module = os.path.join(folder, "kernel.tile"), os.path.join(folder, "kernel.mlir")
    with open(kernel, "w", encoding="utf-8") as file:
        file.write(source)
    command = [f"{binaries}/tilec", "compile", kernel, "--kernel", "kernel", "--emit", "tile",
               "--signature", signature.replace(" ", ""), "--num-warps", warps, "--num-stages",
               stages, "-o", module]
    for option, arguments in OPTIONS.items():
        command += arguments if option in options else []
    run(command + (["--num-ctas", ctas] if ctas != "1" else []))
    out = run([f"{binaries}/tile-opt", module, "--tile-to-cta", "--tile-to-llvm", "--counts",
               "-o", os.devnull])
    return re.findall(r"^ *\d+ (tile-\S+) +- (.*)$", out, re.M)


def main():
    parser = argparse.ArgumentParser(usage="tools/fuzz counts [--count N] [--seed S]")
    parser.add_argument("binaries")
    parser.add_argument("passes")
    parser.add_argument("--count", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    kernels = collections.Counter({count: 0 for count in declared(given.passes)})
    with tempfile.TemporaryDirectory() as folder:
        for kind, number in ("kernels", given.count), ("products", given.count // 4):
            for seed in range(given.seed, given.seed + number):
                kernels.update(set(counts_of(given.binaries, kind, seed, folder)))
    for (name, text), number in sorted(kernels.items(), key=lambda item: (item[1], item[0])):
        print(f"{number:6}  {name}: {text}")


if __name__ == "__main__":
    main()
