//===- BuildFunction.cpp - functions of whole tensors, built ahead --------===//
#include "runtime/Error.h"
#include "target/Target.h"
#include "text/Format.h"
#include "tile/rt.h"
#include "tools/tilec/BuildArguments.h"
#include "tools/tilec/BuildFunctionSizes.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tile;
using namespace tile::runtime;
using graph::Bindings;
using graph::Size;
using llvm::StringRef;
using tensors::Parameter;

namespace {
class FunctionBuilder {
public:
  FunctionBuilder(eval::Program &files, const std::shared_ptr<eval::FunctionObject> &function,
                  const FunctionRequest &request, BuiltFunction &out)
      : files(files), function(function), request(request), out(out),
        sizes(files, *function, request, out) {}
  llvm::Error run();

private:
  llvm::Error buildPlan(BuiltPlan &plan);
  llvm::Error addSample(BuiltPlan &plan, const Target &target, const Bindings &names);
  BuiltForm &formOf(BuiltPlan &plan, const TensorProgram &program, BuiltSample &sample);
  llvm::Expected<unsigned> addCode(BuiltStage &stage, TensorProgram &program, unsigned kernel,
                                   const Bindings &sizes, const Target &target, Fit fit);

  eval::Program &files;
  std::shared_ptr<eval::FunctionObject> function;
  const FunctionRequest &request;
  BuiltFunction &out;
  FunctionSizes sizes;
};
} // namespace

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The number of the code that serves such sizes; it is compiled if it is not there yet.
llvm::Expected<unsigned> FunctionBuilder::addCode(BuiltStage &stage, TensorProgram &program,
                                                  unsigned kernel, const Bindings &sizes,
                                                  const Target &target, Fit fit) {
  std::vector<TensorPlace> places(program.buffers.size());
  for (auto [i, place] : llvm::enumerate(places)) // the caller's may lie anywhere
    place.address = fit == Fit::Any &&
                    program.buffers[program.memoryOf(i)].kind != TensorBuffer::Kind::Intermediate;
  auto code = std::make_unique<BuiltStageCode>();
  auto launch = program.launchOfClass(kernel, sizes, places, target, fit, code->calls);
  if (!launch)
    return makeError(ErrorCode::Unsupported, llvm::toString(launch.takeError()));
  if (launch->grid[0] == 0)
    return unsigned(UINT16_MAX);
  auto [known, isNew] = stage.byKey.insert({launch->key, unsigned(stage.codes.size())});
  if (!isNew)
    return known->second;
  if (launch->arguments.size() > dispatch::kMostArguments)
    return makeError(ErrorCode::Unsupported,
                     formatted("kernel `{}` has more than {} arguments", launch->options.kernel,
                               dispatch::kMostArguments));
  for (const TensorArgument &argument : launch->arguments)
    code->aligned.push_back(argument.isBuffer && places[argument.buffer].address == 0 &&
                            program.buffers[argument.buffer].kind != TensorBuffer::Kind::Number);
  stage.arguments = launch->arguments;
  auto codes = request.compile(*launch->source, launch->options);
  if (!codes)
    return codes.takeError();
  code->codes = std::move(*codes);
  stage.codes.push_back(std::move(code));
  return known->second;
}

BuiltForm &FunctionBuilder::formOf(BuiltPlan &plan, const TensorProgram &program,
                                   BuiltSample &sample) {
  for (sample.form = 0; sample.form < plan.forms.size(); ++sample.form)
    if (plan.forms[sample.form].program == &program)
      return plan.forms[sample.form];
  BuiltForm &form = plan.forms.emplace_back();
  form.program = &program;
  form.stages.resize(program.kernels.size());
  return form;
}

llvm::Error FunctionBuilder::addSample(BuiltPlan &plan, const Target &target,
                                       const Bindings &names) {
  BuiltSample sample;
  Bindings sizes = names;
  TensorProgram &program = out.program->forSizes(names, target);
  program.chooseParts(sizes, target);
  BuiltForm &form = formOf(plan, program, sample);
  for (const BuiltSize &size : out.sizes)
    sample.sizes.push_back(sizes.find(size.name)->second);
  form.chosen.clear();
  for (auto &[name, value] : sizes)
    if (!names.count(name)) {
      form.chosen.push_back(name);
      sample.sizes.push_back(value);
    }
  if (sample.sizes.size() > TILE_RT_MOST_SIZES)
    return makeError(ErrorCode::Unsupported,
                     formatted("`{}` cannot be built: it has too many sizes", out.name));
  bool isWhole = true;
  for (unsigned kernel = 0; kernel < program.kernels.size(); ++kernel)
    for (Fit fit : {Fit::Own, Fit::Divisible, Fit::Any}) {
      auto code = addCode(form.stages[kernel], program, kernel, sizes, target, fit);
      if (!code)
        return code.takeError();
      isWhole &= *code != UINT16_MAX;
      sample.codes.push_back(*code);
    }
  if (isWhole) // of sizes that leave kernels nothing to do others say more
    plan.samples.push_back(std::move(sample));
  return llvm::Error::success();
}

llvm::Error FunctionBuilder::buildPlan(BuiltPlan &plan) {
  const Target &target = targetNamed(plan.target);
  for (const Bindings &sample : sizes.samples())
    if (llvm::Error error = addSample(plan, target, sample))
      return addContext(std::move(error), formatted("`{}` for {}", out.name, plan.target));
  if (plan.samples.empty())
    return invalidArgument(formatted("`{}` can have none of the sizes that it is to be built for: "
                                     "give --argument NAME=LEAST..MOST for its sizes",
                                     out.name));
  return llvm::Error::success();
}

llvm::Error FunctionBuilder::run() {
  if (llvm::Error error = sizes.read())
    return error;
  std::unique_ptr<eval::EvalError> error;
  out.program = TensorProgram::create(files.evaluator(), eval::PyValue::function(function),
                                      out.signature, sizes.arguments, error);
  if (error)
    return diagnosed(*error);
  for (const std::string &target : request.targets) {
    out.plans.push_back({target, {}, {}});
    if (llvm::Error failure = buildPlan(out.plans.back()))
      return failure;
  }
  return llvm::Error::success();
}

bool tilec::saysTypes(eval::Program &files, const eval::FunctionObject &function,
                      llvm::ArrayRef<std::pair<std::string, std::string>> constexprs) {
  tensors::Signature signature;
  if (tensors::readSignature(files.evaluator(), function, signature))
    return true; // it is an error of the file
  for (auto [i, parameter] : llvm::enumerate(signature.parameters)) {
    bool isGiven = llvm::any_of(constexprs, [&](auto &one) { return one.first == parameter.name; });
    bool isConstant = parameter.kind == Parameter::Kind::Constant;
    if (isConstant ? !isGiven && !function.params()[i].defaultValue : !parameter.element)
      return false;
  }
  return true;
}

llvm::Error tilec::buildFunction(eval::Program &files,
                                 const std::shared_ptr<eval::FunctionObject> &function,
                                 const FunctionRequest &request, BuiltFunction &out) {
  return FunctionBuilder(files, function, request, out).run();
}

size_t tilec::countCodes(const BuiltFunction &function) {
  size_t count = 0;
  for (const BuiltPlan &plan : function.plans)
    for (const BuiltForm &form : plan.forms)
      for (const BuiltStage &stage : form.stages)
        count += stage.codes.size();
  return count;
}
