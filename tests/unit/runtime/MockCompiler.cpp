//===- MockCompiler.cpp ---------------------------------------------------===//
#include "MockCompiler.h"
#include "TestSupport.h"
#include "compiler/Estimate.h"
#include <thread>

using namespace tile;

std::atomic<int> test::mockCompilations = 0;
std::vector<std::string> test::mockDependencies;
std::weak_ptr<const frontend::SourceFile> test::mockImport;
std::atomic<int> test::mockMilliseconds = 0;
std::map<int, double> test::mockEstimates;

std::vector<std::string> &test::mockSignatures() {
  static std::vector<std::string> signatures;
  return signatures;
}

/// The entries of a signature that are parameters of the kernel; descriptors are their base.
static std::vector<KernelParameter> parametersOf(llvm::StringRef signature) {
  std::vector<KernelParameter> parameters;
  int index = 0;
  while (!signature.empty()) {
    size_t end = 0;
    for (int depth = 0; end < signature.size() && (depth || signature[end] != ','); ++end)
      depth += signature[end] == '<' ? 1 : signature[end] == '>' ? -1 : 0;
    llvm::StringRef entry = signature.take_front(end), type = entry.split(':').first;
    signature = signature.drop_front(std::min(end + 1, signature.size()));
    bool isPointer = type.starts_with("*") || type.starts_with("tensordesc");
    if (entry != "none" && !entry.ends_with(":1"))
      parameters.push_back(test::argument(index, isPointer ? "ptr" : type.str().c_str()));
    if (type.starts_with("tensordesc"))
      parameters.back().kind = KernelParameter::Kind::DescBase;
    ++index;
  }
  return parameters;
}

static void noteSignature(const CompileOptions &options) {
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  std::string text = options.signature;
  for (auto [entry, multiple] : options.multiples)
    text += "#" + std::to_string(entry) + "%" + std::to_string(multiple);
  text += "|";
  for (const auto &[name, value] : options.constexprs)
    text += (llvm::StringRef(text).ends_with("|") ? "" : " ") + name + "=" + value;
  test::mockSignatures().push_back(text);
}

CompileResult test::mockCompile(const frontend::SourceFile &file, const CompileOptions &options) {
  CompileResult result;
  for (const std::string &path : mockDependencies)
    result.dependencies.push_back({path, frontend::currentState(path)});
  ++mockCompilations; // who sees it may change those files
  std::this_thread::sleep_for(std::chrono::milliseconds(mockMilliseconds));
  llvm::StringRef text = file.text();
  if (text.contains("prints") && options.print)
    options.print("said\n");
  auto failAt = [&](llvm::StringRef word, const char *message) -> frontend::Diagnostic & {
    auto begin = static_cast<uint32_t>(text.find(word));
    return result.diagnostics.error(&file, {begin, begin + static_cast<uint32_t>(word.size())},
                                    message);
  };
  if (text.contains("error in import")) {
    auto imported = std::make_shared<const frontend::SourceFile>("imported.tile", "x = 1");
    result.diagnostics.error(imported.get(), {0, 1}, "this is wrong, too");
    result.diagnostics.retain(imported);
    mockImport = imported;
    result.status = CompileResult::Status::Error;
    return result;
  }
  if (text.contains("error")) {
    failAt("error", "this is wrong");
    result.status = CompileResult::Status::Error;
    return result;
  }
  if (text.contains("unsupported")) {
    failAt("unsupported", "this is not there yet").unsupported = true;
    result.status = CompileResult::Status::Unsupported;
    return result;
  }
  if (text.contains("careless"))
    result.diagnostics.warning(&file, {0, 1}, "this is careless");
  std::vector<KernelParameter> parameters = {argument(0, "ptr"), argument(1, "i32"),
                                             argument(2, "fp32")};
  if (text.contains("@triton.jit")) {
    parameters = parametersOf(options.signature);
    noteSignature(options);
  }
  std::string name = options.kernel.empty() ? "scale" : options.kernel;
  if (text.contains("named by warps"))
    name += "_" + std::to_string(options.numWarps);
  CompiledKernel kernel = makeKernel(parameters, name);
  result.metadata = kernel.metadata;
  result.metadata.numWarps = options.numWarps;
  result.metadata.threads = 32 * options.numWarps;
  result.metadata.target = options.target;
  for (const auto &[name, value] : options.constexprs)
    if (name == "SHARED")
      result.metadata.sharedBytes = std::stoi(value);
  if (text.contains("tensor map") && options.tensorMaps)
    result.metadata.params.emplace_back().kind = KernelParameter::Kind::TensorMap;
  if (text.contains("few programs") && options.programs == GridPrograms::Any)
    result.metadata.fewPrograms = 4;
  if (text.contains("few programs") && options.programs == GridPrograms::Few)
    result.metadata.sharedBytes = 1024;
  if (text.contains("multiples")) {
    result.metadata.params[1].multiple = 8;
    if (text.contains("of two") && !options.tensorMaps)
      result.metadata.params[0].multiple = 16;
    for (auto [entry, multiple] : options.multiples)
      result.metadata.sharedBytes += int(multiple);
  }
  result.output = kernel.ptx + (text.contains("bad ptx") ? "BAD_INSTRUCTION;\n" : "");
  return result;
}

llvm::StringRef tile::compilerVersion() { return "mock"; }

std::optional<LaunchEstimate> tile::estimateLaunch(Compiler &, const frontend::SourceFile &,
                                                   ExplainOptions options,
                                                   llvm::ArrayRef<uint32_t>) {
  auto found = test::mockEstimates.find(options.compile.numWarps);
  if (found == test::mockEstimates.end())
    return std::nullopt;
  return LaunchEstimate{found->second, "memory", 1};
}

struct Compiler::Impl {};
Compiler::Compiler() = default;
Compiler::~Compiler() = default;
CompileResult Compiler::compile(const frontend::SourceFile &file, const CompileOptions &options,
                                LaidOutReader) {
  return test::mockCompile(file, options);
}
