//===- BuildFunctionHeader.cpp - how C programs run built functions -------===//
#include "text/Format.h"
#include "tools/tilec/BuildFunction.h"
#include "tools/tilec/NamesInC.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using namespace tile;
using tensors::Parameter;

/// "float": what C calls a number of that type.
static std::string typeInC(const eval::DType &type) {
  if (type.isFloating())
    return type.itemSize() == 8 ? "double" : "float";
  return formatted("{}int{}_t", type.str()[0] == 'u' ? "u" : "", type.itemSize() * 8);
}

/// A line about a tensor: `x: bf16 (M, N)`
static std::string described(llvm::StringRef name, llvm::StringRef type,
                             llvm::ArrayRef<graph::Size> shape, bool isWritten) {
  return formatted("\n *   {}: {} {}{}", name, type, graph::shapeText(shape),
                   isWritten ? ", which is written" : "");
}

static std::string comment(const BuiltFunction &function) {
  const TensorProgram &program = *function.program;
  std::string text = formatted("/* `{}` of whole tensors, without gaps:", function.name);
  for (auto [number, type] : llvm::zip_equal(function.parameters, function.types)) {
    const Parameter &parameter = function.signature.parameters[number];
    if (parameter.kind != Parameter::Kind::Tensor)
      continue;
    bool isWritten = llvm::any_of(program.updates, [&](auto &update) {
      return program.buffers[update.second].index == int(number);
    });
    text += described(parameterInC(parameter.name), type, parameter.sizes, isWritten);
  }
  for (auto [i, result] : llvm::enumerate(program.results)) {
    const TensorBuffer &buffer = program.buffers[result];
    text += described(formatted("result{}", i), buffer.type.str(), buffer.shape, false);
  }
  if (!program.results.empty())
    text += formatted("\n * Of results only `data` counts; {}_shapes sets their shapes.",
                      function.name);
  return formatted("{}\n * What lies between its kernels is allocated in the order of the stream; "
                   "tile_rt_run takes\n * memory for it. */\n",
                   text);
}

/// Parameters of the C function, and how they are passed on.
static std::pair<std::string, std::string> argumentsOf(const BuiltFunction &function) {
  std::string list, passed;
  for (auto [number, type] : llvm::zip_equal(function.parameters, function.types)) {
    const Parameter &parameter = function.signature.parameters[number];
    bool isTensor = parameter.kind == Parameter::Kind::Tensor;
    std::string own = parameterInC(parameter.name);
    list += (list.empty() ? "" : ", ") +
            (isTensor ? formatted("const tile_tensor *{}", own)
                      : formatted("{} {}", typeInC(*eval::DType::parse(type)), own));
    passed += formatted("{}{}{}", passed.empty() ? "" : ", ", isTensor ? "" : "&", own);
  }
  return {list, passed.empty() ? "0" : passed};
}

void tilec::writeFunctionHeader(const BuiltFunction &function, llvm::raw_ostream &os) {
  auto [list, passed] = argumentsOf(function);
  size_t numResults = function.program->results.size();
  std::string results, values, shapes, between = list.empty() ? "" : ", ";
  for (size_t i = 0; i < numResults; ++i) {
    results += formatted(", const tile_tensor *result{}", i);
    values += formatted("  if (result{0})\n    results[{0}] = *result{0};\n", i);
    shapes += formatted("{}tile_tensor *result{}", i || !list.empty() ? ", " : "", i);
  }
  size_t count = function.parameters.size();
  os << comment(function) << "extern tile_rt_function " << nameInC(function.name) << ";\n"
     << "static inline tile_status " << function.name << "_run(void *stream" << between << list
     << results << ") {\n  const void *const arguments[] = {" << passed << "};\n";
  if (numResults) // a pointer that is null is a result without data, which tile_rt_run refuses
    os << "  tile_tensor results[" << numResults << "] = {{NULL, 0, {0}, {0}}};\n" << values;
  os << "  return tile_rt_run(&" << nameInC(function.name) << ", stream, arguments, " << count
     << ", " << (numResults ? "results" : "NULL") << ", " << numResults << ", NULL, 0);\n}\n";
  if (!numResults)
    return;
  os << "static inline tile_status " << function.name << "_shapes(" << list << shapes
     << ") {\n  const void *const arguments[] = {" << passed << "};\n";
  for (size_t i = 0; i < numResults; ++i)
    os << (i ? "  if (status == TILE_OK)\n    status" : "  tile_status status")
       << " = tile_rt_result(&" << nameInC(function.name) << ", arguments, " << count << ", " << i
       << ", result" << i << ");\n";
  os << "  return status;\n}\n";
}
