//===- ExplainFunction.cpp - what a function of whole tensors became ------===//
#include "compiler/functions/ExplainFunction.h"
#include "frontend/Counted.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using graph::Size;

/// `8*M*N`, or `8*M*N = 536870912` where the sizes are known.
static std::string amount(const Size &size, const graph::Bindings &values) {
  std::string text = size.str();
  std::optional<int64_t> number = size.evaluate(values);
  if (number && !size.constant())
    text += formatted(" = {}", *number);
  return text;
}

static std::string describe(const TensorBuffer &buffer) {
  return formatted("tensor[\"{}\", {}]", graph::joinSizes(buffer.shape), buffer.type);
}

static Size fusedBytes(const TensorProgram &program) {
  Size bytes;
  for (const TensorKernel &kernel : program.kernels)
    bytes = bytes + kernel.bytesRead + kernel.bytesWritten;
  return bytes;
}

/// The parameters whose memory gets new values from a kernel.
static std::vector<std::string> updatedBy(const TensorKernel &kernel, const TensorProgram &program,
                                          const tensors::Signature &signature) {
  std::vector<std::string> names;
  for (auto [made, parameter] : program.updates)
    if (llvm::is_contained(llvm::ArrayRef(kernel.buffers).drop_front(kernel.numRead), made))
      names.push_back(signature.parameters[program.buffers[parameter].index].name);
  return names;
}

static void printKernel(llvm::raw_ostream &os, const TensorKernel &kernel,
                        llvm::ArrayRef<std::string> updates, const graph::Bindings &values) {
  os << formatted("\n  {}", kernel.name);
  if (kernel.line)
    os << formatted(", line {}", kernel.line);
  if (kernel.scatter == TensorKernel::Scatter::Clears)
    os << ": zeros, of what rows are added to\n";
  else if (kernel.scatter == TensorKernel::Scatter::Adds)
    os << ": rows that are added where numbers say, in any order\n";
  else if (kernel.addsParts && kernel.parts == 1)
    os << ": what becomes of the sums\n";
  else if (kernel.addsParts)
    os << formatted(": what {} parts of a matrix product add up to\n", kernel.parts);
  else if (kernel.step >= 0)
    os << (kernel.isAlone
               ? formatted(": what {} programs have found of each row\n", kernel.parts)
               : formatted(": rows that are reduced, {} programs to each\n", kernel.parts));
  else if (kernel.parts > 1)
    os << formatted(": blocks of a matrix product, its inner dimension in {} parts\n",
                    kernel.parts);
  else if (kernel.sideBySide > 1)
    os << formatted(": blocks of {} matrix products of one operand, side by side\n",
                    kernel.sideBySide);
  else
    os << (kernel.hand         ? ": a kernel of the file, as it is written there\n"
           : kernel.chains     ? ": matrix products, what is between them never stored\n"
           : kernel.multiplies ? ": blocks of a matrix product\n"
           : kernel.reduces    ? ": rows that are reduced\n"
                               : ": element by element\n");
  os << "    " << llvm::join(kernel.operations, ", ") << "\n";
  os << formatted("    reads  {} bytes\n", amount(kernel.bytesRead, values));
  os << formatted("    writes {} bytes\n", amount(kernel.bytesWritten, values));
  if (!updates.empty())
    os << formatted("    in place: `{}`\n", llvm::join(updates, "`, `"));
  if (!kernel.mayBeBeside.empty())
    os << formatted("    of few rows one kernel with `{}`, side by side\n", kernel.mayBeBeside);
  for (const std::string &reason : kernel.reasons)
    os << formatted("    not fused: {}\n", reason);
}

void FunctionExplanation::print(llvm::raw_ostream &os) const {
  std::string parameters, results;
  for (const TensorBuffer &buffer : program.buffers) {
    bool isNumber = buffer.kind == TensorBuffer::Kind::Number;
    if (isNumber || buffer.kind == TensorBuffer::Kind::Tensor)
      parameters += formatted("{}{}: {}", parameters.empty() ? "" : ", ",
                              signature.parameters[buffer.index].name,
                              isNumber ? buffer.type.str() : describe(buffer));
  }
  for (unsigned result : program.results)
    results += (results.empty() ? "" : ", ") + describe(program.buffers[result]);
  if (program.results.empty())
    results = "nothing";
  os << formatted("{}({}) -> {}\n", name, parameters, results);
  os << formatted("  {} for {}\n", counted(program.kernels.size(), "kernel"),
                  counted(program.unfusedLaunches, "operation"));
  for (const TensorKernel &kernel : program.kernels)
    printKernel(os, kernel, updatedBy(kernel, program, signature), values);
  os << formatted("\n  bytes moved             {}\n", amount(fusedBytes(program), values));
  os << formatted("  operation by operation  {}\n", amount(program.unfusedBytes, values));
  os << formatted("  at least                {}\n", amount(program.leastBytes, values));
  os << formatted("  launches                {} instead of {}\n", program.kernels.size(),
                  program.unfusedLaunches);
}

static llvm::json::Value toJson(const Size &size, const graph::Bindings &values) {
  llvm::json::Object out{{"formula", size.str()}};
  if (std::optional<int64_t> number = size.evaluate(values))
    out["bytes"] = *number;
  return out;
}

llvm::json::Object FunctionExplanation::toJson() const {
  llvm::json::Array kernels;
  for (const TensorKernel &kernel : program.kernels)
    kernels.push_back(llvm::json::Object{
        {"name", kernel.name},
        {"line", kernel.line},
        {"reduces", kernel.reduces},
        {"chains", kernel.chains},
        {"parts", kernel.parts},
        {"side_by_side", kernel.sideBySide},
        {"operations", llvm::json::Array(kernel.operations)},
        {"in_place", llvm::json::Array(updatedBy(kernel, program, signature))},
        {"reads", ::toJson(kernel.bytesRead, values)},
        {"writes", ::toJson(kernel.bytesWritten, values)},
        {"not_fused", llvm::json::Array(kernel.reasons)},
    });
  return llvm::json::Object{
      {"function", name},
      {"kernels", std::move(kernels)},
      {"bytes", llvm::json::Object{{"fused", ::toJson(fusedBytes(program), values)},
                                   {"unfused", ::toJson(program.unfusedBytes, values)},
                                   {"least", ::toJson(program.leastBytes, values)}}},
      {"launches", llvm::json::Object{{"fused", int64_t(program.kernels.size())},
                                      {"unfused", int64_t(program.unfusedLaunches)}}},
  };
}
