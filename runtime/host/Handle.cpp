//===- Handle.cpp - what a launch gives back ------------------------------===//
#include "runtime/host/Handle.h"
#include "runtime/host/Launcher.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::fail;
using llvm::StringRef;

char KernelHandle::id = 0;

std::unique_ptr<eval::EvalError> KernelHandle::inspect() {
  if (seen)
    return nullptr;
  if (!inspector)
    return fail("nothing here compiles kernels to be looked at", "RuntimeError");
  Inspection found;
  frontend::DiagnosticEngine diagnostics;
  if (!inspector(request, diagnostics, found))
    return toError(diagnostics, formatted("`{}` does not compile", request.options.kernel));
  seen = std::move(found);
  return nullptr;
}

static PyValue describe(const KernelMetadata &metadata) {
  PyValue out = PyValue::dict({});
  auto set = [&](const char *name, PyValue value) {
    out.asDict().set(PyValue::string(name), std::move(value));
  };
  set("name", PyValue::string(metadata.entry));
  set("target", PyValue::string(metadata.target));
  set("shared", PyValue::integer(metadata.sharedBytes));
  set("num_warps", PyValue::integer(metadata.numWarps));
  set("threads", PyValue::integer(metadata.threads));
  return out;
}

Result KernelHandle::attribute(StringRef name) {
  if (name == "name")
    return PyValue::string(request.options.kernel);
  const std::vector<StringRef> known = {"asm", "n_regs", "n_spills", "metadata", "name"};
  if (!llvm::is_contained(known, name)) {
    std::string message = formatted("the handle of a launch has no attribute `{}`", name);
    if (StringRef near = frontend::nearestName(name, known); !near.empty())
      message += formatted("; did you mean `{}`?", near);
    return fail(message + (name == "run" ? "; launch with `kernel[grid](...)`" : ""),
                "AttributeError");
  }
  if (auto error = inspect())
    return error;
  if (name == "metadata")
    return describe(seen->metadata);
  if (name == "asm") {
    PyValue stages = PyValue::dict({});
    for (auto &[stage, text] : seen->stages)
      stages.asDict().set(PyValue::string(stage), PyValue::string(text));
    return stages;
  }
  int number = name == "n_regs" ? seen->registers : seen->spillBytes;
  if (number < 0)
    return fail(formatted("`{}` is not known: it takes `ptxas` on PATH, or a GPU that runs `{}`",
                          name, request.options.target),
                "RuntimeError");
  return PyValue::integer(name == "n_regs" ? number : number / 4);
}
