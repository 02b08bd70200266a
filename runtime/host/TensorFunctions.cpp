//===- TensorFunctions.cpp - `f(x, y)` of a @tile.function ----------------===//
#include "runtime/host/TensorFunctions.h"
#include "runtime/host/FunctionMachine.h"
#include "runtime/host/Launcher.h"
#include "text/Format.h"

using namespace tile;
using namespace tile::host;
using eval::EvalError;
using eval::fail;
using tensors::Parameter;

/// One call between the steps.
struct TensorFunctions::Call {
  const PyValue &function;
  std::vector<PyValue> values; ///< of the parameters
  tensors::Signature signature;
  std::vector<tensors::Argument> arguments;
  graph::Bindings sizes;
  graph::Bindings made; ///< sizes that its kernels are made for, if those are not its own
  std::string key;      ///< of the types and constants
  TensorProgram *program = nullptr;
  CutProgram inCuts;            ///< the same in chosen cuts; no program: the model's
  std::vector<PyValue> tensors; ///< by buffer; None for numbers
  std::vector<TensorPlace> places;

  const eval::FunctionObject &object() const { return function.asFunction(); }
};

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

static std::unique_ptr<EvalError> readArgument(const eval::FunctionObject &function,
                                               const Parameter &parameter, const PyValue &value,
                                               tensors::Argument &out, std::string &key) {
  std::string start = formatted("argument `{}` of `{}`: ", parameter.name, function.name());
  if (parameter.kind == Parameter::Kind::Constant) {
    if (value.dynExtension<Tensor>())
      return fail(
          formatted("{}a tensor, but the parameter has no shape; write `{}: tensor[\"M, N\"]`",
                    start, parameter.name));
    out.constant = value;
    key += ";" + eval::repr(value);
    return nullptr;
  }
  if (parameter.kind == Parameter::Kind::Number) {
    bool fits =
        value.isNumber() && (parameter.element->isFloating() || !value.is(PyValue::Kind::Float));
    if (!fits)
      return fail(formatted("{}expected a number of type {}, got {}", start,
                            parameter.element->str(), eval::repr(value)));
    key += ";" + parameter.element->str();
    return nullptr;
  }
  auto *tensor = value.dynExtension<Tensor>();
  if (!tensor)
    return fail(formatted("{}expected a tensor of shape {}, got {}", start,
                          graph::shapeText(parameter.sizes), eval::repr(value)));
  if (parameter.element && *parameter.element != tensor->type())
    return fail(formatted("{}expected elements of type {}, got {}; convert with `.to(tl.{})`, or "
                          "leave the type out of the annotation",
                          start, parameter.element->str(), tensor->type(),
                          parameter.element->name()));
  out.element = tensor->type();
  out.shape.assign(tensor->shape().begin(), tensor->shape().end());
  key += ";" + tensor->type().str();
  return nullptr;
}

std::unique_ptr<EvalError> TensorFunctions::readArguments(Evaluator &evaluator, Call &call) {
  const eval::FunctionObject &function = call.object();
  call.key = std::to_string(uintptr_t(function.def)) + "," +
             std::to_string(uintptr_t(function.closure.get()));
  call.arguments.resize(call.values.size());
  for (auto [parameter, value, argument] :
       llvm::zip_equal(call.signature.parameters, call.values, call.arguments))
    if (auto error = readArgument(function, parameter, value, argument, call.key))
      return error;
  return tensors::bindSizes(call.signature, call.arguments, function.name(), call.sizes);
}

std::unique_ptr<EvalError> TensorFunctions::compile(Evaluator &evaluator, Call &call) {
  Compiled &entry = compiled[call.key];
  if (!entry.program) {
    std::unique_ptr<EvalError> error;
    entry.program =
        TensorProgram::create(evaluator, call.function, call.signature, call.arguments, error);
    if (error)
      return error;
    entry.function = call.function.functionPtr();
  }
  bool hasGaps = llvm::any_of(call.values, [](const PyValue &value) {
    auto *tensor = value.dynExtension<Tensor>();
    return tensor && !tensor->isContiguous();
  });
  call.program = entry.program.get();
  if (!hasGaps)
    return nullptr;
  llvm::Expected<TensorProgram *> form = entry.program->withGaps();
  if (!form)
    return fail(llvm::toString(form.takeError()), "RuntimeError");
  call.program = *form;
  return nullptr;
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Whether the kernels for the next powers of two serve the call, as if it were built ahead.
bool TensorFunctions::chooseAsBuilt(Call &call) const {
  const Target &target = targetNamed(context->device.target());
  TensorProgram &all = *call.program;
  for (auto &[name, size] : call.sizes)
    call.made[name] = int64_t(llvm::PowerOf2Ceil(std::max<int64_t>(size, 1)));
  if (all.unmetRequirement(call.made).empty()) {
    graph::Bindings sizes = call.sizes;
    TensorProgram &form = all.forSizes(call.made, target);
    form.chooseParts(call.made, target);
    sizes.insert(call.made.begin(), call.made.end()); // what the compiler chooses
    if (form.isServed(call.made, sizes, target)) {
      call.program = &form;
      call.sizes = std::move(sizes);
      return true;
    }
  }
  call.made.clear();
  return false;
}

void TensorFunctions::chooseOtherCuts(Call &call) const {
  const Target &target = targetNamed(context->device.target());
  TensorProgram &whole = call.program->wholeForSizes(call.sizes, target);
  graph::Bindings sizes = call.sizes;
  whole.chooseParts(sizes, target);
  std::vector<std::optional<TensorCut>> taken(whole.kernels.size());
  for (auto [i, cut] : llvm::enumerate(taken))
    if (std::vector<TensorCut> all = whole.cutsFor(i, sizes, target); !all.empty())
      cut = all[size_t(context->otherCuts) % all.size()];
  call.inCuts = inCuts(whole, taken);
}

std::unique_ptr<EvalError> TensorFunctions::chooseFastest(Call &call) {
  std::vector<TensorPlace> places(call.values.size());
  for (auto [value, place] : llvm::zip_equal(call.values, places)) {
    auto *tensor = value.dynExtension<Tensor>();
    if (!tensor)
      continue;
    place.address = tensor->devicePointer();
    if (!tensor->isContiguous())
      place.strides.assign(tensor->strides().begin(), tensor->strides().end());
  }
  FunctionMachine machine(context->device, call.values,
                          [&](const TensorLaunch &launch) { return requestFor(call, launch); });
  const Target &target = targetNamed(context->device.target());
  auto chosen = cuts.fastest({*call.program, call.sizes, target, places}, &machine);
  if (!chosen)
    return fail(llvm::toString(chosen.takeError()), "RuntimeError");
  call.inCuts = std::move(*chosen);
  return nullptr;
}

/// Which kernels there are, and in which cuts.
std::unique_ptr<EvalError> TensorFunctions::chooseProgram(Call &call) {
  if (context->asBuilt && chooseAsBuilt(call))
    return nullptr;
  const Target &target = targetNamed(context->device.target());
  if (context->otherCuts)
    chooseOtherCuts(call);
  else if (context->inFastestCuts && !context->device.isCpu())
    if (auto error = chooseFastest(call))
      return error;
  call.program =
      call.inCuts.program ? call.inCuts.program : &call.program->forSizes(call.sizes, target);
  call.program->chooseParts(call.sizes, target);
  return nullptr;
}

std::unique_ptr<EvalError> TensorFunctions::makeBuffers(Call &call) {
  for (const TensorBuffer &buffer : call.program->buffers) {
    PyValue value;
    if (buffer.kind == TensorBuffer::Kind::Tensor) {
      value = call.values[buffer.index];
    } else if (buffer.kind != TensorBuffer::Kind::Number && buffer.sameAs < 0) {
      Shape shape;
      for (const graph::Size &size : buffer.shape) {
        std::optional<int64_t> number = size.evaluate(call.sizes);
        if (!number || *number < 0)
          return fail(formatted("a result of `{}` has the size `{}`, which is {}",
                                call.object().name(), size,
                                number ? std::to_string(*number) : "too large"),
                      "ValueError");
        shape.push_back(*number);
      }
      Result made = Tensor::create(context, buffer.type, shape);
      if (!made)
        return made.takeError();
      value = made.take();
    }
    TensorPlace &place = call.places.emplace_back();
    call.tensors.push_back(value);
    auto *tensor = value.dynExtension<Tensor>();
    if (!tensor)
      continue;
    place.address = tensor->devicePointer();
    if (!place.address)
      return fail(formatted("the device has no memory for a tensor of `{}`", call.object().name()),
                  "MemoryError");
    if (!tensor->isContiguous())
      place.strides.assign(tensor->strides().begin(), tensor->strides().end());
  }
  for (unsigned i = 0; i < call.places.size(); ++i)
    if (unsigned memory = call.program->memoryOf(i); memory != i) {
      call.tensors[i] = call.tensors[memory];
      call.places[i].address = call.places[memory].address;
      if (call.program->buffers[memory].kind == TensorBuffer::Kind::Tensor) // what it becomes
        call.places[i].strides = call.places[memory].strides;
    }
  return nullptr;
}

runtime::KernelRequest TensorFunctions::requestFor(const Call &call,
                                                   const TensorLaunch &launch) const {
  runtime::KernelRequest request;
  request.file = launch.source.get(); // the program keeps it
  request.module = launch.tree ? launch.tree : &call.object().module->tree();
  request.options = launch.options;
  request.options.eachLaneArrives = context->eachLaneArrives;
  request.options.print = context->print;
  request.options.includePaths = includePaths;
  return request;
}

runtime::Kernel *TensorFunctions::prepare(const Call &call, const TensorLaunch &launch,
                                          std::unique_ptr<EvalError> &error) {
  std::string key = call.key + "\n" + launch.key;
  if (runtime::Kernel *kept = kernels.find(key))
    return kept;
  frontend::DiagnosticEngine diagnostics;
  std::unique_ptr<runtime::Kernel> prepared =
      context->device.prepare(requestFor(call, launch), diagnostics);
  if (!prepared) {
    error =
        toError(diagnostics, formatted("kernel `{}` could not be prepared", launch.options.kernel));
    return nullptr;
  }
  return kernels.keep(*context, key, std::move(prepared));
}

/// What is in no memory has no end of its own: `tile.arange(2**62).sum()`.
std::unique_ptr<EvalError> TensorFunctions::checkElements(const Call &call, const TensorKernel &of,
                                                          double elements) const {
  unsigned bits = context->device.name() == "cuda" ? 48 : of.multiplies ? 36 : 32;
  if (elements <= double(uint64_t(1) << bits))
    return nullptr;
  return fail(
      formatted("kernel `{}` of `{}` goes over {:.3g} elements, which does not end: at most "
                "2^{} on this device, in memory or not",
                of.name, call.object().name(), elements, bits),
      "LimitError");
}

std::unique_ptr<EvalError> TensorFunctions::launch(Call &call, unsigned index) {
  const TensorKernel &of = call.program->kernels[index];
  const Target &target = targetNamed(context->device.target());
  llvm::Expected<TensorLaunch> planned =
      call.inCuts.program ? call.inCuts.launch(index, call.sizes, call.places, target)
      : call.made.empty()
          ? call.program->launch(index, call.sizes, call.places, target)
          : call.program->launchServed(index, call.made, call.sizes, call.places, target);
  if (!planned)
    return fail(llvm::toString(planned.takeError()), "ValueError");
  if (planned->grid[0] == 0)
    return nullptr;
  if (auto error = checkElements(call, of, planned->elements))
    return error;
  std::unique_ptr<EvalError> error;
  runtime::Kernel *kernel = prepare(call, *planned, error);
  if (!kernel)
    return error;
  DeviceWork work;
  work.kernel = kernel;
  work.config.grid = planned->grid;
  work.config.args = launchArguments(*call.program, *planned, call.values, call.places);
  for (const TensorArgument &argument : planned->arguments)
    if (auto *tensor =
            argument.isBuffer ? call.tensors[argument.buffer].dynExtension<Tensor>() : nullptr)
      work.storages.push_back(tensor->sharedStorage());
  frontend::DiagnosticEngine diagnostics;
  bool launched = context->device.launch(*kernel, work.config, diagnostics);
  for (size_t i = of.numRead; i < of.buffers.size(); ++i)
    call.tensors[of.buffers[i]].dynExtension<Tensor>()->storage().deviceWrote();
  if (!launched || diagnostics.hasErrors())
    return toError(diagnostics, formatted("the launch of `{}` failed", of.name));
  if (context->recording)
    context->recording->push_back(std::move(work));
  return nullptr;
}

Result TensorFunctions::call(Evaluator &evaluator, const PyValue &function, const CallArgs &args) {
  Call call{function, {}, {}, {}, {}, {}, {}, nullptr, {}, {}, {}};
  if (Result ok = evaluator.bind(call.object(), args, call.values); !ok)
    return ok;
  auto known = signatures.find(call.object().def);
  if (known == signatures.end()) {
    tensors::Signature signature;
    if (auto error = tensors::readSignature(evaluator, call.object(), signature))
      return error;
    known = signatures.emplace(call.object().def, std::move(signature)).first;
  }
  call.signature = known->second;
  if (auto error = readArguments(evaluator, call))
    return error;
  if (auto error = compile(evaluator, call))
    return error;
  if (std::string wrong = call.program->unmetRequirement(call.sizes); !wrong.empty())
    return fail(formatted("`{}`: {}", call.object().name(), wrong), "ValueError");
  if (auto error = chooseProgram(call))
    return error;
  if (auto error = makeBuffers(call))
    return error;
  if (std::string wrong = call.program->unsafeUpdate(call.sizes, call.places, call.signature);
      !wrong.empty())
    return fail(formatted("`{}`: {}", call.object().name(), wrong), "ValueError");
  for (unsigned i = 0; i < call.program->kernels.size(); ++i)
    if (auto error = launch(call, i))
      return error;
  if (call.program->returnsNone)
    return PyValue();
  std::vector<PyValue> results;
  for (unsigned buffer : call.program->results)
    results.push_back(call.tensors[buffer]);
  return call.program->returnsTuple ? PyValue::tuple(std::move(results)) : results.front();
}
