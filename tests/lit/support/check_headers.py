"""The public headers are complete, and serve programs of every compiler at hand.

usage: check_headers.py SOURCE CXX

Each header of include/tile compiles alone, and each example as it stands, with the compiler that
built the project and with g++ where there is one: C headers as C and as C++, without a warning.
Prints what fails; exits 1 if anything does.
"""
import pathlib
import shutil
import subprocess
import sys

source, cxx = pathlib.Path(sys.argv[1]), sys.argv[2]
include = source / "include"
compilers = [cxx] + [found for found in [shutil.which("g++")] if found]
failures = checked = 0


def check(compiler, text, *options):
    global failures, checked
    command = [compiler, *options, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{include}", "-"]
    done = subprocess.run(command, input=text, capture_output=True, text=True)
    checked += 1
    if done.returncode:
        failures += 1
        print(" ".join(command) + "\n" + text[:200] + "\n" + done.stderr)


headers = sorted(path.relative_to(include) for path in include.rglob("*.h*"))
for compiler in compilers:
    for header in headers:
        text = f'#include "{header}"\n'
        if header.suffix == ".h":
            check(compiler, text, "-xc", "-std=c99", "-pedantic")
            check(compiler, text, "-xc++", "-std=c++11", "-pedantic")
        else:
            check(compiler, text, "-xc++", "-std=c++17", "-pedantic")
    for example in sorted(source.glob("examples/c/*.c")):
        check(compiler, example.read_text(), "-xc", "-std=c11")
    for example in sorted(source.glob("examples/cpp/*.cpp")):
        check(compiler, example.read_text(), "-xc++", "-std=c++17")
print(f"{checked} programs by {len(compilers)} compilers, {failures} failures")
sys.exit(1 if failures or not headers else 0)
