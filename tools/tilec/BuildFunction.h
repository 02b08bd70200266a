//===- BuildFunction.h - functions of whole tensors, built ahead ----------===//
//
// Sizes of a function stay open: the compiler is asked for samples of them, and what it makes of
// each says for which other sizes it is right (compiler/functions/LaunchClass.cpp). Each kernel of
// a sample is there three times: in code for sizes and addresses like the sample's, for multiples
// of 16, and for any.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_BUILDFUNCTION_H
#define TILE_TOOLS_TILEC_BUILDFUNCTION_H

#include "compiler/functions/TensorProgram.h"
#include "frontend/eval/ModuleEnv.h"
#include "tools/tilec/BuildSource.h"
#include <functional>
#include <map>

namespace tilec {

/// What a function is built for.
struct FunctionRequest {
  llvm::ArrayRef<std::string> arguments; ///< --argument: sizes, and types of tensors
  llvm::ArrayRef<std::pair<std::string, std::string>> constexprs;
  llvm::ArrayRef<std::string> targets;
  /// Compiles a kernel for a target, with what stands in for it.
  std::function<llvm::Expected<std::vector<BuiltCode>>(const tile::frontend::SourceFile &,
                                                       tile::CompileOptions)>
      compile;
};

/// A kernel in one cut.
struct BuiltStageCode {
  tile::LaunchClass calls;
  std::vector<bool> aligned; ///< by argument
  std::vector<BuiltCode> codes;
};
struct BuiltStage {
  std::vector<tile::TensorArgument> arguments;
  std::map<std::string, unsigned> byKey; ///< of launches
  std::vector<std::unique_ptr<BuiltStageCode>> codes;
};
/// Which kernels there are.
struct BuiltForm {
  const tile::TensorProgram *program = nullptr;
  std::vector<std::string> chosen; ///< names of sizes that the compiler chooses
  std::vector<BuiltStage> stages;
};
struct BuiltSample {
  std::vector<int64_t> sizes; ///< by name, then the chosen ones
  unsigned form = 0;
  std::vector<unsigned> codes; ///< three of each stage
};
struct BuiltPlan {
  std::string target;
  std::vector<BuiltForm> forms;
  std::vector<BuiltSample> samples;
};
/// A name of a size, and where a call says it.
struct BuiltSize {
  std::string name;
  unsigned parameter = 0, dim = 0; ///< of the parameters that are no constants
  /// (what is given - rest) // factor; nothing if that is the name itself.
  std::optional<std::pair<tile::graph::Size, tile::graph::Size>> solved;
};
struct BuiltFunction {
  std::string name;
  tile::tensors::Signature signature;
  std::vector<unsigned> parameters; ///< of the signature, those that are no constants
  std::vector<std::string> types;   ///< of elements and numbers, by these
  std::vector<BuiltSize> sizes;
  std::unique_ptr<tile::TensorProgram> program;
  std::vector<BuiltPlan> plans; ///< by target

  /// Whether it is one of its tensors, constants or sizes.
  bool knows(llvm::StringRef name) const;
};

/// Whether a function says all types and constants by itself.
bool saysTypes(tile::eval::Program &files, const tile::eval::FunctionObject &function,
               llvm::ArrayRef<std::pair<std::string, std::string>> constexprs);
/// Compiles all kernels of a function for all targets.
llvm::Error buildFunction(tile::eval::Program &files,
                          const std::shared_ptr<tile::eval::FunctionObject> &function,
                          const FunctionRequest &request, BuiltFunction &out);
/// Codes of all kernels.
size_t countCodes(const BuiltFunction &function);

/// What goes into NAME.c and NAME.h for a function.
llvm::Error writeFunction(const BuiltFunction &function, llvm::raw_ostream &os);
void writeFunctionHeader(const BuiltFunction &function, llvm::raw_ostream &os);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_BUILDFUNCTION_H
