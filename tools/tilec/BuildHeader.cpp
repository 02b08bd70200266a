//===- BuildHeader.cpp - how C programs launch kernels that were built ----===//
#include "text/Format.h"
#include "tools/tilec/BuildFunction.h"
#include "tools/tilec/NamesInC.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tile;
using llvm::raw_ostream;
using llvm::StringRef;

/// A function that takes the arguments by their types.
static void writeTyped(const BuiltKernel &kernel, raw_ostream &os) {
  std::string arguments, values;
  for (auto [parameter, type] : llvm::zip(kernel.file->parameters, kernel.argumentTypes)) {
    StringRef element = type;
    bool isPointer = element.consume_front("*");
    std::string own = parameterInC(parameter.name);
    arguments += formatted(", {}{}",
                           isPointer         ? "const void *"
                           : type == "int"   ? "int64_t "
                           : type == "float" ? "double "
                                             : "tile_value ",
                           own);
    values += (values.empty() ? "" : ", ") +
              (isPointer         ? formatted("tile_pointer({}, TILE_{})", own, element.upper())
               : type == "int"   ? formatted("tile_int({})", own)
               : type == "float" ? formatted("tile_float({})", own)
                                 : own);
  }
  os << "/* Launches it; a NULL grid is computed by the file's function. */\nstatic inline "
        "tile_status "
     << kernel.file->kernel() << "_launch(void *stream, const uint32_t grid[3]" << arguments
     << ") {\n  const tile_value values[] = {" << (values.empty() ? "tile_none()" : values)
     << "};\n  return tile_rt_launch(&" << nameInC(kernel.file->kernel())
     << ", stream, grid, values, " << kernel.file->parameters.size() << ", NULL);\n}\n";
}

std::string tilec::writeHeader(StringRef name, llvm::ArrayRef<BuiltKernel> kernels,
                               llvm::ArrayRef<BuiltFunction> functions) {
  std::string guard = "TILE_BUILT_" + name.upper() + "_H", header; // a name may begin with a digit
  for (char &c : guard)
    if (!llvm::isAlnum(c))
      c = '_';
  llvm::raw_string_ostream h(header);
  h << "/* Written by `tilec build`. tile/rt.h says how kernels are launched. */\n#ifndef " << guard
    << "\n#define " << guard
    << "\n\n#include \"tile/rt.h\"\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n";
  for (const BuiltKernel &kernel : kernels) {
    h << "extern tile_rt_kernel " << nameInC(kernel.file->kernel()) << ";\n";
    writeTyped(kernel, h);
    h << '\n';
  }
  for (const BuiltFunction &function : functions) {
    writeFunctionHeader(function, h);
    h << '\n';
  }
  h << "#ifdef __cplusplus\n}\n#endif\n\n#endif\n";
  return header;
}
