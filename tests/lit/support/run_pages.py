"""Runs what pages of documentation show: run_pages.py TILEC CXX INCLUDE LIBRARY PAGE...

A block of code with a file's name (```python add.tile) is written to that file, behind what the same page has written
there before. Each line of an sh block is run; it has to succeed, or to fail where it ends in `# fails`. A text block is
what the commands of the sh block before it print: its lines, in order; `...` stands for anything, and so do the numbers
of blanks. All pages share a folder, as chapters of a tutorial do.
"""
import os
import re
import subprocess
import sys
import tempfile

tilec, cxx, include, library, *pages = sys.argv[1:]
failures = commands = files = 0


def blocks(text):
    """(line, info, body) of each fenced block."""
    for match in re.finditer(r"^```([^\n]*)\n(.*?)^```$", text, flags=re.S | re.M):
        yield text.count("\n", 0, match.start()) + 1, match[1], match[2]


def fail(page, line, message):
    global failures
    failures += 1
    print(f"{page}:{line}: {message}")


def run(command, folder):
    """The output, and whether it did what its line says."""
    command, _, note = command.partition("#")
    command = re.sub(r"^tilec\b", f'"{tilec}"', command.strip())
    command = re.sub(r"^c\+\+ ", f'"{cxx}" ', command)
    command = re.sub(r"^cc ", f'"{cxx}" -x c ', command)
    folder_of = os.path.dirname(library)
    command = command.replace("$(pkg-config --cflags tile_rt)", f'-I"{include}"')
    command = command.replace("$(pkg-config --cflags --libs tile_rt)",
                              f'-I"{include}" "{folder_of}/libtile_rt.so" -Wl,-rpath,"{folder_of}"')
    command = command.replace("$(pkg-config --cflags --libs tile)", f'-I"{include}" "{library}" '
                              f'-Wl,-rpath,"{folder_of}"')
    done = subprocess.run(command, shell=True, cwd=folder, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, timeout=300)
    return done.stdout, (done.returncode != 0) == (note.strip() == "fails")


def missing(wanted, output):
    """The first line of `wanted` that `output` does not have behind the ones before; None if there is none."""
    at, flat = 0, re.sub(r"\s+", " ", output)
    for line in wanted.splitlines():
        parts = [re.escape(part.strip()) for part in re.sub(r"\s+", " ", line.strip()).split("...")]
        found = re.compile(".*?".join(parts)).search(flat, at)
        if not found:
            return line
        at = found.end()
    return None


with tempfile.TemporaryDirectory() as folder:
    for page in pages:
        written, output = set(), ""
        for line, info, body in blocks(open(page, encoding="utf-8").read()):
            kind, _, name = info.partition(" ")
            if name:
                with open(os.path.join(folder, name), "a" if name in written else "w", encoding="utf-8") as out:
                    out.write(("\n\n" if name in written else "") + body)
                files += name not in written
                written.add(name)
            elif kind == "sh":
                output = ""
                for command in body.splitlines():
                    commands += 1
                    text, ok = run(command, folder)
                    output += text
                    if not ok:
                        fail(page, line, f"`{command}`:\n{text}")
            elif kind == "text":
                if lost := missing(body, output):
                    fail(page, line, f"not printed: {lost}\n{output}")
print(f"{len(pages)} pages, {files} files, {commands} commands, {failures} failures")
sys.exit(failures != 0)
