//===- Interpreter.cpp - loading and running programs ---------------------===//
#include "runtime/interp/Interpreter.h"
#include "runtime/interp/Check.h"
#include "runtime/interp/Lowering.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include <cstring>

using namespace tile::interp;
using tile::formatted;

//===----------------------------------------------------------------------===//
// Loading
//===----------------------------------------------------------------------===//

Program::Program(std::unique_ptr<ProgramImpl> impl) : impl(std::move(impl)) {}
Program::~Program() = default;

/// The function asked for, or the only one that could be meant.
static mlir::func::FuncOp findFunction(mlir::ModuleOp module, const std::string &name,
                                       std::string &error) {
  mlir::func::FuncOp found;
  for (auto function : module.getOps<mlir::func::FuncOp>()) {
    if (name.empty() ? function.isPrivate() || function.isExternal() : function.getName() != name)
      continue;
    if (found) {
      error = "the module holds several functions: say which one to run";
      return nullptr;
    }
    found = function;
  }
  if (!found)
    error = name.empty() ? "the module holds no public function"
                         : formatted("the module holds no function `{}`", name);
  else if (found.isExternal())
    error = formatted("the function `{}` has no body", name), found = nullptr;
  return found;
}

std::unique_ptr<Program> Program::load(mlir::ModuleOp module, const LoadOptions &options,
                                       std::string &error) {
  error.clear();
  mlir::func::FuncOp function = findFunction(module, options.function, error);
  if (!function)
    return nullptr;
  auto impl = std::make_unique<ProgramImpl>();
  if (!Lowering(*impl, options, error).run(function))
    return nullptr;
  return std::unique_ptr<Program>(new Program(std::move(impl)));
}

llvm::StringRef Program::name() const { return impl->name; }
size_t Program::numParameters() const { return impl->parameters.size(); }
bool Program::isChecked() const { return impl->checked; }
size_t Program::workingBytes() const { return impl->frameBytes; }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// The bits of an argument in its parameter's type.
static uint64_t convert(const Argument &argument, DType type) {
  if (!isFloat(type)) {
    uint64_t bits = argument.kind == Argument::Kind::Integer
                        ? argument.bits
                        : uint64_t(saturatingToInt<int64_t>(argument.number));
    return type == DType::I1 ? bits & 1 : bits;
  }
  double value =
      argument.kind == Argument::Kind::Real ? argument.number : double(int64_t(argument.bits));
  switch (type) {
  case DType::F8E4M3:
    return encode<E4M3Format>(value, Round::NearestEven, true);
  case DType::F8E5M2:
    return encode<E5M2Format>(value, Round::NearestEven, true);
  case DType::F16:
    return encode<HalfFormat>(value, Round::NearestEven, false);
  case DType::BF16:
    return encode<BFloatFormat>(value, Round::NearestEven, false);
  case DType::F32:
    return std::bit_cast<uint32_t>(float(value));
  default:
    return std::bit_cast<uint64_t>(value);
  }
}

/// A report of one sentence about the launch itself.
static Report refuseLaunch(FindingKind kind, std::string message) {
  Report report;
  Finding &f = report.findings.emplace_back();
  f.kind = kind;
  f.message = std::move(message);
  f.where = "the launch";
  return report;
}

/// What an argument's specialisation promises and its value does not keep.
static std::string brokenPromise(const ProgramImpl &program, llvm::ArrayRef<uint64_t> values) {
  for (auto [index, parameter] : llvm::enumerate(program.parameters)) {
    if (isFloat(parameter.type) || values[index] % uint64_t(parameter.divisibility) == 0)
      continue;
    std::string name = parameter.name.empty() ? formatted("argument {}", index)
                                              : formatted("`{}`", parameter.name);
    return formatted("broken promise: {} is specialised as a multiple of {}{}{}", name,
                     parameter.divisibility,
                     parameter.isPointer ? " bytes, but its address is " : ", but is ",
                     parameter.isPointer ? "0x" + llvm::utohexstr(values[index], true)
                                         : std::to_string(int64_t(values[index])));
  }
  return "";
}

/// No loop by itself, but all that a launch does is more than it may.
static Finding tooMuchWork(const Launch &launch) {
  Finding f;
  f.kind = FindingKind::TooMuchWork;
  f.place = launch.program->places.front().place;
  f.where = "the launch";
  uint64_t programs = launch.grid.count();
  f.message = formatted("{} program{} of `{}` come{} to more than {} operations, which is what a "
                        "launch may do; take smaller sizes, or raise that (`--launch-limit`)",
                        programs, programs == 1 ? "" : "s", launch.program->name,
                        programs == 1 ? "s" : "", launch.options.workLimit);
  return f;
}

Report Program::run(const Grid &grid, llvm::ArrayRef<Argument> arguments,
                    const RunOptions &options) const {
  if (arguments.size() != impl->parameters.size())
    return refuseLaunch(FindingKind::BadLaunch,
                        formatted("`{}` takes {} arguments, but {} were given", impl->name,
                                  impl->parameters.size(), arguments.size()));
  MemoryMap none;
  Launch launch;
  launch.program = impl.get();
  launch.grid = grid;
  launch.options = options;
  for (auto [argument, parameter] : llvm::zip(arguments, impl->parameters))
    launch.parameters.push_back(convert(argument, parameter.type));
  if (impl->checked) {
    if (std::string broken = brokenPromise(*impl, launch.parameters); !broken.empty())
      return refuseLaunch(FindingKind::BrokenPromise, broken);
    CheckState check(launch, options.memory ? *options.memory : none);
    runGrid(launch, &check);
  } else {
    runGrid(launch, nullptr);
  }
  Report report = launch.findings.take(options.maxFindings, !impl->checked);
  if (launch.exhausted && llvm::none_of(report.findings, [](const Finding &f) {
        return f.kind == FindingKind::TooMuchWork;
      }))
    report.findings.push_back(tooMuchWork(launch));
  return report;
}

//===----------------------------------------------------------------------===//
// Registered memory
//===----------------------------------------------------------------------===//

MemoryMap::MemoryMap() = default;
MemoryMap::~MemoryMap() = default;

MemoryMap::Buffer *MemoryMap::findBelow(uint64_t address) {
  auto it =
      llvm::upper_bound(buffers, address, [](uint64_t a, const auto &b) { return a < b->base; });
  return it == buffers.begin() ? nullptr : std::prev(it)->get();
}

MemoryMap::Buffer *MemoryMap::find(uint64_t address) {
  Buffer *buffer = findBelow(address);
  return buffer && address - buffer->base < buffer->bytes ? buffer : nullptr;
}

bool MemoryMap::add(const void *base, uint64_t bytes, bool initialized, std::string name) {
  auto address = reinterpret_cast<uint64_t>(base);
  auto it =
      llvm::lower_bound(buffers, address, [](const auto &b, uint64_t a) { return b->base < a; });
  if (address + bytes < address || (it != buffers.end() && (*it)->base < address + bytes) ||
      (it != buffers.end() && (*it)->base == address) ||
      (it != buffers.begin() && (*std::prev(it))->base + (*std::prev(it))->bytes > address))
    return false;
  auto buffer = std::make_unique<Buffer>();
  buffer->base = address;
  buffer->bytes = bytes;
  buffer->name = std::move(name);
  if (!initialized)
    buffer->written.assign(bytes, 0);
  buffers.insert(it, std::move(buffer));
  return true;
}

void MemoryMap::remove(const void *base) {
  llvm::erase_if(buffers,
                 [&](const auto &b) { return b->base == reinterpret_cast<uint64_t>(base); });
}

void MemoryMap::setInitialized(const void *base, uint64_t bytes, bool initialized) {
  auto begin = reinterpret_cast<uint64_t>(base), end = begin + bytes;
  for (auto &b : buffers) {
    uint64_t first = std::max(begin, b->base), last = std::min(end, b->base + b->bytes);
    if (first >= last || (initialized && b->written.empty()))
      continue;
    if (b->written.empty())
      b->written.assign(b->bytes, 1);
    std::fill(b->written.begin() + (first - b->base), b->written.begin() + (last - b->base),
              uint8_t(initialized));
  }
}

bool MemoryMap::isInitialized(const void *base, uint64_t bytes) const {
  auto begin = reinterpret_cast<uint64_t>(base), end = begin + bytes;
  for (const auto &b : buffers) {
    uint64_t first = std::max(begin, b->base), last = std::min(end, b->base + b->bytes);
    if (first >= last || b->written.empty())
      continue;
    for (uint64_t k = first; k < last; ++k)
      if (!b->written[k - b->base])
        return false;
  }
  return true;
}

void MemoryMap::copyInitialized(const void *to, const void *from, uint64_t bytes) {
  auto source = reinterpret_cast<uint64_t>(from);
  std::vector<uint8_t> written(bytes, 1);
  for (const auto &b : buffers) {
    uint64_t first = std::max(source, b->base), last = std::min(source + bytes, b->base + b->bytes);
    if (first < last && !b->written.empty())
      std::copy(b->written.begin() + (first - b->base), b->written.begin() + (last - b->base),
                written.begin() + (first - source));
  }
  for (uint64_t begin = 0, end; begin < bytes; begin = end) {
    for (end = begin + 1; end < bytes && written[end] == written[begin];)
      ++end;
    setInitialized(static_cast<const uint8_t *>(to) + begin, end - begin, written[begin]);
  }
}

uint32_t MemoryMap::firstEvent() {
  if (nextEvent > 1u << 31) { // start again, with no trace of old numbers
    for (auto &b : buffers) {
      b->writes.clear();
      b->readsA.clear();
      b->readsB.clear();
    }
    nextEvent = 1;
  }
  return nextEvent;
}
