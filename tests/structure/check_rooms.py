"""The map of the source tree holds.

usage: check_rooms.py SOURCE

- Every include goes from a room to one that rooms.txt lets it know, and the rooms make no
  circle; nor do two files: of A.cpp and B.cpp, one may include the other's header.
- MLIR is where the map says so, and libtile_rt has nothing of LLVM.
- Facts about chips stand in target/ only: no capability is compared, with a number or with
  something that has a name, and no name of a target, or of a line of chips, spelled anywhere else.
- Sources are of a size that a reader can hold: files under 800 lines (400 is the aim),
  functions, those of classes as well, under 100 (60 is the aim).
- Attributes that passes leave for each other are declared where their dialect verifies them.
- PTX instructions are named in passes/lowering/instructions/ only (the emulator reads them).
- Text for people is composed by `formatted` (text/Format.h), not pieced together with `+`, nor
  streamed piece by piece.
- The environment is read where the documentation says, and nowhere else; nor is standard
  error written to.

Prints each violation as FILE:LINE: WHAT; exits 1 if there are any.
"""
import pathlib
import re
import sys

SOURCE = pathlib.Path(sys.argv[1])
FILE_LIMIT, FUNCTION_LIMIT = 800, 100
TOP = ["text", "target", "devicelib", "ir", "frontend", "passes", "compiler", "emulator", "runtime", "tools"]

problems = []


def report(path, line, what):
    problems.append(f"{path.relative_to(SOURCE)}:{line}: {what}")


def read_rooms():
    rooms = {}
    for line in (pathlib.Path(__file__).parent / "rooms.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            room, known = line.split(":")
            rooms[room] = set(known.split())
    return rooms


ROOMS = read_rooms()


def room_of(path):
    """The longest listed prefix of a path such as `passes/facts/AxisInfo.h`."""
    parts = path.split("/")
    if parts[0] == "tile":  # the public headers
        return "include"
    for length in range(len(parts), 0, -1):
        prefix = "/".join(parts[:length])
        if prefix in ROOMS:
            return prefix
    return None


def check_circles():
    done, path = set(), []

    def visit(room):
        if room in path:
            circle = path[path.index(room):] + [room]
            problems.append("rooms.txt: a circle: " + " -> ".join(circle))
            return
        if room in done:
            return
        path.append(room)
        for known in sorted(ROOMS.get(room, ())):
            visit(known)
        path.pop()
        done.add(room)

    for room in ROOMS:
        visit(room)


def check_includes(path, text):
    here = room_of(str(path.relative_to(SOURCE)))
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#?include "([\w/]+/[\w.]+)"', line)
        if not match or match[1].startswith(("mlir/", "llvm/")) or match[1].endswith(".inc"):
            continue
        there = room_of(match[1])
        if there and there != here and there not in ROOMS[here]:
            report(path, number, f"{here} must not know {there} ({match[1]})")


def check_pairs(files):
    """Who reads A.cpp, which needs B, need not read it for B.cpp."""
    texts = {str(path.relative_to(SOURCE)): path for path in files}
    known = {}
    for name, path in texts.items():
        if name.endswith(".cpp") and name[:-4] + ".h" in texts:
            headers = re.findall(r'^#include "([\w/]+)\.h"', path.read_text(encoding="utf-8"), re.MULTILINE)
            known[name[:-4]] = set(headers) - {name[:-4]}
    for name, headers in sorted(known.items()):
        for other in sorted(headers):
            if name < other and name in known.get(other, ()):
                report(texts[name + ".cpp"], 1, f"{name} and {other} include each other's headers")


# What a program links that only launches kernels, and what must not depend on how code is made.
WITHOUT_MLIR = ["text", "target", "devicelib", "ir/layout", "frontend", "frontend/eval", "emulator", "emulator/machine",
                "emulator/hooks", "emulator/ptx", "emulator/translate", "runtime", "runtime/dispatch",
                "runtime/ahead", "runtime/jit", "runtime/host", "runtime/capi"]
WITHOUT_LLVM = ["text", "runtime/dispatch", "runtime/ahead"]
# What the specialiser gives is IR; how LLVM's strings are formatted, for who has it.
KNOWS_MORE = {"frontend/Specialize.h", "text/FormatLlvm.h"}


def check_libraries(path, text):
    where = str(path.relative_to(SOURCE))
    if where in KNOWS_MORE:
        return
    folder = str(path.relative_to(SOURCE).parent)
    for number, line in enumerate(text.splitlines(), 1):
        match = re.match(r'\s*#?include ["<](mlir|llvm)/', line)
        if match and folder in (WITHOUT_MLIR if match[1] == "mlir" else WITHOUT_LLVM):
            report(path, number, f"{folder} has nothing of {match[1].upper()}")


CAPABILITY = r"(?:\b\w*apability\b|\bsmVersion\b|\bsm\b|(?:\.|->)major\b)(?:\(\))?"
COMPARISON = r"\s(?:[<>]=?|[!=]=)\s+"
COMPARED = re.compile(
    # `capability / 10 >= 9`, `device.major >= 9`, `kSparse <= target->capability`
    rf"{CAPABILITY}[^\"\n]{{0,20}}?{COMPARISON}(?:75|8\d|9\d?|1[0-2]\d?)\b|"
    rf"{CAPABILITY}{COMPARISON}|{COMPARISON}(?:\w+(?:\.|->|::|\(\)\.|\(\)->))*{CAPABILITY}")
SPELLED = re.compile(r'"sm_\d+[af]?"')
LINE_OF_CHIPS = re.compile(r"\b(Volta|Turing|Ampere|Hopper|Blackwell)")
# What the author of a kernel asks, and which of the built codes runs here.
COMPARES = {"frontend/specialize/builtins/BuiltinsHints.cpp", "runtime/ahead/Load.cpp"}


def check_chips(path, text):
    where = str(path.relative_to(SOURCE))
    if where.startswith("target/"):
        return
    code = re.sub("//.*", "", text)
    if where not in COMPARES:
        for number in sorted({code.count("\n", 0, match.end()) + 1 for match in COMPARED.finditer(code)}):
            report(path, number, "a capability is compared: ask target/ for the feature")
    for number, line in enumerate(code.splitlines(), 1):
        if SPELLED.search(line) and "HelpText" not in line:
            report(path, number, "a target is named: ask target/ for it")
    for number, line in enumerate(text.splitlines(), 1):
        if LINE_OF_CHIPS.search(line):
            report(path, number, "a line of chips is named: say what it has")


def ends_signature(lines, at):
    """Whether the signature of a function that is longer than a line ends here, before its body."""
    if not re.match(r"^    +.*\) (const )?\{$", lines[at]):
        return False
    while at > 0 and re.match(r"^    +.*[(,]$", lines[at - 1]):
        at -= 1
    return at > 0 and re.match(r"^\w.*[(,]$", lines[at - 1]) is not None


def check_sizes(path, text):
    lines = text.splitlines()
    if len(lines) > FILE_LIMIT:
        report(path, 1, f"{len(lines)} lines; the limit is {FILE_LIMIT}")
    if path.suffix != ".td":
        check_functions(path, lines)
        check_functions(path, lines, "  ")


def check_functions(path, lines, indent=""):
    """Functions at the top level, or (with `indent`) in classes there."""
    begin, scope = None, None
    for number, line in enumerate(lines, 1):
        if re.match(r"^\S.*\{$", line):
            scope = re.search(r"\b(class|struct|union)\b", line)
        opens = re.match(rf"^{indent}(?!namespace|class|struct|enum|union|extern|static const|using|#)\w.*\{{$", line)
        if begin is None and (opens and (scope or not indent) or not indent and ends_signature(lines, number - 1)):
            begin = number
        elif line == indent + "}" and begin is not None:
            if number - begin > FUNCTION_LIMIT:
                report(path, begin, f"a function of {number - begin} lines; the limit is {FUNCTION_LIMIT}")
            begin = None


# Names of attributes, each beside the rule by which the dialect verifies it.
ATTRIBUTES = {"ir/Attributes.h", "ir/Printing.h", "ir/graph/Attributes.h"}


def check_attributes(path, text):
    if str(path.relative_to(SOURCE)) in ATTRIBUTES:
        return
    for match in re.finditer(r'\bStringLiteral\s+\w+\s*(?:=\s*|[({]\s*)"(?:tile|cta|graph)\.', text):
        report(path, text.count("\n", 0, match.start()) + 1, "an attribute is declared that no dialect verifies")


# Below the tools: folders of caches, options of the C interface, what only the environment says
# (docs/running.md).
ENVIRONMENT = {"runtime/Cache.cpp", "runtime/capi/Internal.h", "runtime/capi/Compile.cpp"}


def check_environment(path, text):
    where = str(path.relative_to(SOURCE))
    if where.startswith("tools/") or where in ENVIRONMENT:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\b((secure_)?getenv|GetEnv)\(", line.split("//")[0]):
            report(path, number, "reads the environment")


def check_output(path, text):
    """A library in somebody's process does not write to its standard error."""
    where = str(path.relative_to(SOURCE))
    if where.startswith("tools/") or where in OUTPUT:
        return
    for number, line in enumerate(text.splitlines(), 1):
        if re.search(r"\bstderr\b|\berrs\(\)", line.split("//")[0]):
            report(path, number, "writes to standard error")


INSTRUCTIONS = re.compile(r"\.sync\b|\.aligned\b|\bsetmaxnreg|\bld\.(global|volatile)|\bst\.global|\bbar\.|"
                          r"\bgriddepcontrol|\bcreatepolicy|\bmbarrier\.|\bcp\.async\.bulk|\bshfl\.|"
                          # What ends in a type: `max.s32`, and `cvt.rn.f16x2.` as a beginning.
                          r"(?<![.\w])(?!llvm\.)[a-z]\w*(\.[a-z]\w*)*\.([sub]|b?f)(8|16|32|64)(x2)?\b")


def check_ptx(path, text):
    """Instructions stand in one room, and what reads their text in PtxText.cpp there. What libtile_rt
    needs to know of the PTX that it assembles it reads without a compiler."""
    where = str(path.relative_to(SOURCE))
    if where.startswith(("passes/lowering/instructions/", "emulator/")) or path.suffix == ".td":
        return
    if where == "runtime/dispatch/AssemblerPlan.h":
        return
    for number, line in enumerate(text.splitlines(), 1):
        for literal in re.findall(r'"(?:[^"\\]|\\.)*"', line.split("// ")[0]):
            if INSTRUCTIONS.search(literal):
                report(path, number, "PTX is named: ask passes/lowering/instructions/")


# TILE_PRINT_AUTOTUNING asks for it.
OUTPUT = {"runtime/capi/Compile.cpp"}


TOKENS = re.compile(r"""R"(\w*)\(.*?\)\1"|//[^\n]*|'(?:[^'\\\n]|\\.)'|"(?:[^"\\\n]|\\.)*"|\w+|\+[+=]?|[^\s]""",
                    re.DOTALL)


def check_texts(path, text):
    """A literal with a space or a backtick is text for people."""
    if str(path.relative_to(SOURCE)).startswith(PIECED_STILL):
        return
    before = ["", ""]  # what stands before a run of literals, and the one before that
    literal = None  # the run's place, if it is text
    for match in TOKENS.finditer(text):
        token = match[0]
        if token.startswith("//"):
            continue
        if token.startswith('"'):
            if before[-1] != '"':
                before.append('"')
            if literal is None and re.search("[ `]", token):
                literal = match.start()
        else:
            if literal is not None and (token == "+" or before[-2] == "+" or before[-3:-1] == ["formatv", "("]):
                report(path, text.count("\n", 0, literal) + 1,
                       "text is pieced together: compose it with `formatted`")
            literal = None
            before.append(token)


# PTX and formats of the device's printf are not for people; libtile_rt is too small for fmt.
PIECED_STILL = ("passes/lowering/", "runtime/ahead/", "runtime/dispatch/")

LITERAL = r'"(?:[^"\\\n]|\\.)*"'
# Verifiers stream types and attributes, which print themselves; the others write sources, pages and pictures.
STREAMED = ("ir/", "compiler/functions/DrawFunction.cpp", "tools/tilec/BenchReport.cpp",
            "tools/tilec/BuildCodes.cpp", "tools/tilec/BuildFunctionHeader.cpp", "tools/tilec/BuildHeader.cpp",
            "tools/tilec/BuildFunctionSource.cpp", "tools/tilec/BuildSource.cpp", "tools/tilec/Completion.cpp",
            "tools/tilec/ManPage.cpp")


def check_streams(path, text):
    """A statement that streams words and values is a sentence in pieces."""
    if str(path.relative_to(SOURCE)).startswith(STREAMED):
        return
    code = re.sub(r"//[^\n]*", "", text)
    code = re.sub(LITERAL, lambda literal: re.sub("[;{}]", ".", literal[0]), code)
    for match in re.finditer(r"[^;{}]+;", code):
        literals = re.findall(rf"<<\s*({LITERAL})", match[0])
        if (any(re.search("[A-Za-z]{2,}[ `]|[ `][A-Za-z]{2,}", literal) for literal in literals)
                and re.search(r"<<\s*[\w(*&]", match[0]) and "LDBG(" not in match[0]):
            begin = match.start() + len(match[0]) - len(match[0].lstrip())
            report(path, code.count("\n", 0, begin) + 1, "text is streamed in pieces: compose it with `formatted`")


files = sorted(path for top in TOP for path in (SOURCE / top).rglob("*")
               if path.suffix in {".cpp", ".h", ".td"})
check_circles()
check_pairs(files)
for path in files:
    text = path.read_text(encoding="utf-8")
    check_includes(path, text)
    check_libraries(path, text)
    check_chips(path, text)
    check_sizes(path, text)
    check_attributes(path, text)
    check_environment(path, text)
    check_output(path, text)
    check_ptx(path, text)
    check_texts(path, text)
    check_streams(path, text)
for problem in problems:
    print(problem)
print(f"{len(files)} files, {len(problems)} violations")
sys.exit(1 if problems or not files else 0)
