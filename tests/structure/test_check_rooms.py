"""Each rule of check_rooms.py finds what breaks it.

usage: test_check_rooms.py

Writes a small tree with one fault for each rule, and one without any.
"""
import pathlib
import subprocess
import sys
import tempfile

CHECK = pathlib.Path(__file__).with_name("check_rooms.py")
FAULTS = {
    "ir/One.cpp": ('#include "ir/One.h"\n#include "ir/Two.h"\n', "include each other's headers"),
    "target/Up.h": ('#include "passes/Passes.h"\n', "target must not know passes"),
    "runtime/Deep.cpp": ('#include "mlir/IR/Value.h"\n', "runtime has nothing of MLIR"),
    "runtime/ahead/Deep.cpp": ('#include "llvm/ADT/StringRef.h"\n', "runtime/ahead has nothing of LLVM"),
    "passes/Chip.cpp": ("bool b = capability >= 90;\n", "a capability is compared"),
    "passes/Named.cpp": ("bool b = target->capability >= kRedux;\n", "a capability is compared"),
    "passes/Reversed.cpp": ("bool b = kRedux <= target().capability;\n", "a capability is compared"),
    "passes/Lines.cpp": ("bool b = kLongName + 1 ==\n         capability;\n", "a capability is compared"),
    "runtime/Major.cpp": ("bool b = device().major >= 9;\n", "a capability is compared"),
    "passes/Name.cpp": ('auto t = "sm_90a";\n', "a target is named"),
    "ir/Line.h": ("// What Hopper has.\n", "a line of chips is named"),
    "ir/Long.cpp": ("\n" * 801, "801 lines; the limit is 800"),
    "ir/Function.cpp": ("void f() {\n" + "  g();\n" * 100 + "}\n", "a function of 101 lines"),
    "ir/Signature.cpp": ("bool f(int x,\n       int y,\n       int z) {\n" + "  g();\n" * 100 + "}\n",
                         "a function of 101 lines"),
    "ir/Member.h": ("struct S {\n  void f(int x) const {\n" + "    g();\n" * 100 + "  }\n};\n",
                    "a function of 101 lines"),
    "passes/Attribute.h": ('inline constexpr llvm::StringLiteral kMarkAttr = "graph.mark";\n',
                           "no dialect verifies"),
    "frontend/Env.cpp": ('auto v = std::getenv("X");\n', "reads the environment"),
    "runtime/capi/Env.cpp": ('auto v = secure_getenv("X");\n', "reads the environment"),
    "frontend/Pieced.cpp": ('auto t = "no " +\n name;\n', "text is pieced together"),
    "ir/Pieced.cpp": ('auto t = name + "` is one";\n', "text is pieced together"),
    "runtime/Pieced.cpp": ('auto t = llvm::formatv("{0} of", 1);\n', "text is pieced together"),
    "tools/Streamed.cpp": ('os << n\n   << " of them; " << all;\n', "text is streamed in pieces"),
    "compiler/Ptx.cpp": ('bool b = ptx.contains("ld.global");\n', "PTX is named"),
    "compiler/Begins.cpp": ('bool b = text.starts_with("cvt.rn.f16x2.e");\n', "PTX is named"),
    "compiler/Says.cpp": ("llvm::errs() << 1;\n", "writes to standard error"),
}
FINE = {
    "ir/One.h": "int one();\n",
    "ir/Two.h": "int two();\n",
    "ir/Two.cpp": '#include "ir/One.h"\n#include "ir/Two.h"\n',
    "passes/Fine.cpp": '#include "target/Target.h"\n// sm_90 has capability >= 90, getenv(), errs()\n',
    "passes/Passed.cpp": "int c = target->capability;\nf(c, device.major * 10, vec<Capability>());\n",
    "passes/Text.cpp": 'auto t = formatted("no {}", name) + ".x" + "y";\n// "a " + b\nauto r = R"(a " + b)";\n',
    "tools/Streams.cpp": 'os << "no value at all" << "\\n";\nos << formatted("{} of", n) << x;\nLDBG() << "so many: " << n;\n',
    "tools/Env.cpp": 'auto v = std::getenv("X");\nllvm::errs() << v;\n',
    "runtime/Cache.cpp": 'auto v = std::getenv("X");\n',
}


def check(files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = pathlib.Path(folder) / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        run = subprocess.run([sys.executable, str(CHECK), folder], capture_output=True, text=True)
        return run.returncode, run.stdout


failures = 0
for name, (text, expected) in FAULTS.items():
    code, said = check({**FINE, name: text})
    if code != 1 or said.count("\n") != 2 or not said.startswith(name) or expected not in said:
        failures += 1
        print(f"{name}: expected one report, `{expected}`, got:\n{said}")
code, said = check(FINE)
if code != 0:
    failures += 1
    print("what is fine is reported:\n" + said)
print(f"{len(FAULTS)} faults planted, {failures} missed")
sys.exit(1 if failures else 0)
