//===- BuildFunctionSource.cpp - built functions of whole tensors, as C ---===//
#include "target/Target.h"
#include "text/Format.h"
#include "tile/rt.h"
#include "tools/tilec/BuildCodes.h"
#include "tools/tilec/BuildFunction.h"
#include "tools/tilec/NamesInC.h"
#include "llvm/ADT/StringExtras.h"

using namespace tilec;
using namespace tile;
using dispatch::Step;
using graph::Size;
using llvm::StringRef;
using tensors::Parameter;

namespace {
/// Writes the tables of one function; each gets a name of its own.
class FunctionWriter {
public:
  FunctionWriter(const BuiltFunction &function, llvm::raw_ostream &os)
      : function(function), os(os),
        codes(os, function.name, [](int entry) { return unsigned(entry); }) {
    for (const BuiltSize &size : function.sizes)
      names.push_back(size.name);
  }
  llvm::Error write();

private:
  void addSize(const Size &size, std::vector<Step> &steps) const;
  std::string formula(llvm::ArrayRef<Size> sizes);
  std::string holds(const LaunchClass &calls);
  std::string grid(const LaunchClass &calls);
  std::string table(StringRef type, StringRef what, llvm::ArrayRef<std::string> entries);
  std::string dimsOf(llvm::ArrayRef<Size> sizes);

  std::string operands(bool ofResults);
  std::string sizes();
  std::string requirements();
  std::string buffers(const BuiltForm &form);
  llvm::Expected<std::string> stageCode(const BuiltStageCode &code);
  llvm::Expected<std::string> stage(const BuiltForm &form, unsigned number);
  llvm::Expected<std::string> form(const BuiltForm &form);
  llvm::Expected<std::string> plan(const BuiltPlan &plan);
  std::string next(StringRef what) {
    return formatted("{}_{}{}", function.name, what, counts[what]++);
  }

  const BuiltFunction &function;
  llvm::raw_ostream &os;
  CodeWriter codes;
  std::vector<std::string> names; ///< of sizes, with those that the form chooses
  llvm::StringMap<unsigned> counts;
};
} // namespace

//===----------------------------------------------------------------------===//
// Formulas
//===----------------------------------------------------------------------===//

/// A call refuses what does not fit 64 bits; so do the steps.
void FunctionWriter::addSize(const Size &size, std::vector<Step> &steps) const {
  steps.push_back({Step::Constant, 0});
  size.forEachTerm([&](llvm::ArrayRef<std::string> product, int64_t coefficient) {
    steps.push_back({Step::Constant, coefficient});
    for (const std::string &name : product) {
      if (std::optional<std::pair<Size, int64_t>> quotient = Size::quotientOf(name)) {
        addSize(quotient->first, steps);
        steps.push_back({Step::Constant, quotient->second});
        steps.push_back({Step::FloorDiv, 0});
        steps.push_back({Step::Constant, 0});
        steps.push_back({Step::Maximum, 0});
      } else {
        steps.push_back({Step::Argument, int64_t(llvm::find(names, name) - names.begin())});
      }
      steps.push_back({Step::Mul, 0});
    }
    steps.push_back({Step::Add, 0});
  });
}

std::string FunctionWriter::formula(llvm::ArrayRef<Size> sizes) {
  if (sizes.empty())
    return "{0, 0, 0}";
  std::vector<Step> steps;
  for (const Size &size : sizes)
    addSize(size, steps);
  return codes.writeFormula(next("s"), steps, unsigned(sizes.size()));
}

std::string FunctionWriter::holds(const LaunchClass &calls) {
  std::vector<Step> steps = {{Step::Constant, 1}};
  for (const SizeCondition &condition : calls.conditions) {
    if (condition.kind == SizeCondition::Kind::AtLeast)
      steps.push_back({Step::Constant, condition.number});
    addSize(condition.size, steps);
    if (condition.kind == SizeCondition::Kind::AtMost)
      steps.push_back({Step::Constant, condition.number});
    if (condition.kind == SizeCondition::Kind::Divides) {
      steps.push_back({Step::Constant, condition.number});
      steps.push_back({Step::Mod, 0});
      steps.push_back({Step::Constant, 0});
      steps.push_back({Step::Equal, 0});
    } else {
      steps.push_back({Step::LessEqual, 0});
    }
    steps.push_back({Step::And, 0});
  }
  return codes.writeFormula(next("s"), steps, 1);
}

std::string FunctionWriter::grid(const LaunchClass &calls) {
  std::vector<Step> steps;
  for (size_t axis = 0; axis < 3; ++axis) {
    steps.push_back({Step::Constant, 1});
    if (axis >= calls.grid.size())
      continue;
    for (auto &[size, block] : calls.grid[axis].factors) {
      addSize(size, steps);
      steps.push_back({Step::Constant, block});
      steps.push_back({Step::CeilDiv, 0});
      steps.push_back({Step::Mul, 0});
    }
  }
  return codes.writeFormula(next("s"), steps, 3);
}

/// Writes entries as an array; its name, or 0 if there are none.
std::string FunctionWriter::table(StringRef type, StringRef what,
                                  llvm::ArrayRef<std::string> entries) {
  if (entries.empty())
    return "0";
  std::string name = next(what);
  os << "static const " << type << ' ' << name << "[] = {" << llvm::join(entries, ", ") << "};\n";
  return name;
}

//===----------------------------------------------------------------------===//
// What a call has
//===----------------------------------------------------------------------===//

std::string FunctionWriter::dimsOf(llvm::ArrayRef<Size> sizes) {
  std::vector<std::string> texts;
  for (const Size &size : sizes)
    texts.push_back(quoted(size.str()));
  return table("char *const", "d", texts);
}

std::string FunctionWriter::operands(bool ofResults) {
  const TensorProgram &program = *function.program;
  std::vector<std::string> entries;
  auto add = [&](StringRef name, bool isNumber, bool isWritten, unsigned bytes,
                 llvm::ArrayRef<Size> sizes) {
    std::string dims = dimsOf(sizes);
    entries.push_back(formatted("{{{}, {}, {}, {}, {}, {}}}", quoted(name), int(isNumber),
                                int(isWritten), bytes, dims, formula(sizes)));
  };
  if (ofResults) {
    for (unsigned result : program.results)
      add("", false, true, program.buffers[result].type.itemSize(), program.buffers[result].shape);
    return table("tile_rt_operand", "results", entries);
  }
  for (auto [number, type] : llvm::zip_equal(function.parameters, function.types)) {
    const Parameter &parameter = function.signature.parameters[number];
    bool isWritten = llvm::any_of(program.updates, [&](auto &update) {
      return program.buffers[update.second].index == int(number);
    });
    add(parameter.name, parameter.kind == Parameter::Kind::Number, isWritten,
        eval::DType::parse(type)->itemSize(), parameter.sizes);
  }
  return table("tile_rt_operand", "parameters", entries);
}

std::string FunctionWriter::sizes() {
  std::vector<std::string> entries;
  for (auto [i, size] : llvm::enumerate(function.sizes)) {
    std::string value = "{0, 0, 0}";
    if (size.solved) {
      auto &[rest, factor] = *size.solved;
      std::vector<Step> steps = {{Step::Argument, int64_t(i)}};
      addSize(rest, steps);
      steps.push_back({Step::Sub, 0});
      addSize(factor, steps);
      steps.push_back({Step::FloorDiv, 0});
      value = codes.writeFormula(next("s"), steps, 1);
    }
    entries.push_back(
        formatted("{{{}, {}, {}, {}}}", quoted(size.name), size.parameter, size.dim, value));
  }
  return table("tile_rt_size", "sizes", entries);
}

std::string FunctionWriter::requirements() {
  std::vector<std::string> entries;
  for (auto &[size, otherwise] : function.program->requirements)
    entries.push_back(formatted("{{{}, {}}}", formula(size), quoted(otherwise)));
  return table("tile_rt_requirement", "requirements", entries);
}

//===----------------------------------------------------------------------===//
// Forms
//===----------------------------------------------------------------------===//

std::string FunctionWriter::buffers(const BuiltForm &form) {
  const TensorProgram &program = *form.program;
  std::vector<std::pair<unsigned, unsigned>> lives(program.buffers.size(), {1, 0});
  for (auto [number, kernel] : llvm::enumerate(program.kernels))
    for (unsigned used : kernel.buffers) {
      auto &[first, last] = lives[program.memoryOf(used)];
      first = first > last ? unsigned(number) : first;
      last = unsigned(number);
    }
  std::vector<std::string> entries;
  for (auto [i, buffer] : llvm::enumerate(program.buffers)) {
    int kind = buffer.kind == TensorBuffer::Kind::Result         ? TILE_RT_RESULT
               : buffer.kind == TensorBuffer::Kind::Intermediate ? TILE_RT_BETWEEN
                                                                 : TILE_RT_OF_CALL;
    unsigned index = unsigned(buffer.index);
    if (kind == TILE_RT_OF_CALL)
      index = unsigned(llvm::find(function.parameters, index) - function.parameters.begin());
    std::string bytes = formula(graph::product(buffer.shape) * Size(buffer.type.itemSize()));
    entries.push_back(formatted("\n  {{{}, {}, {}, {}, {}, {}}}", kind, index, program.memoryOf(i),
                                lives[i].first, lives[i].second, bytes));
  }
  return table("tile_rt_buffer", "buffers", entries);
}

llvm::Expected<std::string> FunctionWriter::stageCode(const BuiltStageCode &code) {
  std::vector<std::string> all, aligned;
  std::string own = next("c");
  for (auto [i, one] : llvm::enumerate(code.codes)) {
    auto text = codes.writeCode(formatted("{}_{}", own, i), one);
    if (!text)
      return text.takeError();
    all.push_back(formatted("\n  {}", *text));
  }
  for (bool is : code.aligned)
    aligned.push_back(is ? "1" : "0");
  std::string right = holds(code.calls), programs = grid(code.calls);
  std::string flags = table("uint8_t", "a", aligned), list = table("tile_rt_code", "codes", all);
  return formatted("{{{}, {}, {}, {}, {}}}", right, programs, flags, list, all.size());
}

llvm::Expected<std::string> FunctionWriter::stage(const BuiltForm &form, unsigned number) {
  const BuiltStage &stage = form.stages[number];
  const TensorKernel &kernel = form.program->kernels[number];
  std::vector<std::string> arguments, sizes, written, all;
  for (const std::unique_ptr<BuiltStageCode> &code : stage.codes) {
    auto text = stageCode(*code);
    if (!text)
      return text.takeError();
    all.push_back(formatted("\n  {}", *text));
  }
  for (const TensorArgument &argument : stage.arguments) {
    if (argument.isBuffer) {
      arguments.push_back(std::to_string(argument.buffer));
      continue;
    }
    arguments.push_back(std::to_string(-1 - int(sizes.size())));
    sizes.push_back(formula(stage.codes.front()->calls.arguments[sizes.size()]));
  }
  for (unsigned buffer : llvm::ArrayRef(kernel.buffers).drop_front(kernel.numRead))
    written.push_back(std::to_string(buffer));
  std::string list = table("int32_t", "p", arguments),
              numbers = table("tile_rt_formula", "n", sizes),
              stored = table("uint32_t", "w", written),
              cuts = table("tile_rt_stage_code", "cuts", all);
  return formatted("\n  {{{}, {}, {}, {}, {}, {}, {}, {}, {}, {}}}", quoted(kernel.name),
                   int(bool(kernel.hand)), list, arguments.size(), numbers, sizes.size(), stored,
                   written.size(), cuts, all.size());
}

llvm::Expected<std::string> FunctionWriter::form(const BuiltForm &form) {
  names.resize(function.sizes.size());
  llvm::append_range(names, form.chosen);
  std::string all = buffers(form);
  std::vector<std::string> stages;
  for (unsigned i = 0; i < form.stages.size(); ++i) {
    auto text = stage(form, i);
    if (!text)
      return text.takeError();
    stages.push_back(*text);
  }
  std::string list = table("tile_rt_stage", "stages", stages);
  return formatted("\n  {{{}, {}, {}, {}, {}}}", all, form.program->buffers.size(), list,
                   stages.size(), form.chosen.size());
}

llvm::Expected<std::string> FunctionWriter::plan(const BuiltPlan &plan) {
  std::vector<std::string> forms, samples;
  for (const BuiltForm &one : plan.forms) {
    auto text = form(one);
    if (!text)
      return text.takeError();
    forms.push_back(*text);
  }
  for (const BuiltSample &sample : plan.samples) {
    std::vector<std::string> sizes, chosen;
    for (int64_t size : sample.sizes)
      sizes.push_back(formatted("INT64_C({})", size));
    for (unsigned code : sample.codes)
      chosen.push_back(std::to_string(code));
    std::string numbers = table("int64_t", "z", sizes), codes = table("uint16_t", "k", chosen);
    samples.push_back(formatted("\n  {{{}, {}, {}}}", numbers, sample.form, codes));
  }
  std::string all = table("tile_rt_form", "forms", forms),
              near = table("tile_rt_sample", "samples", samples);
  const Target &target = targetNamed(plan.target);
  return formatted("\n  {{{}, {}, {}, {}, {}, {}}}", target.capability,
                   int(!llvm::isDigit(plan.target.back())), all, forms.size(), near,
                   samples.size());
}

llvm::Error FunctionWriter::write() {
  std::string parameters = operands(/*ofResults=*/false), results = operands(/*ofResults=*/true);
  std::string known = sizes(), needed = requirements();
  std::vector<std::string> plans;
  for (const BuiltPlan &one : function.plans) {
    auto text = plan(one);
    if (!text)
      return text.takeError();
    plans.push_back(*text);
  }
  std::string all = table("tile_rt_plan", "plans", plans);
  os << "tile_rt_function " << nameInC(function.name) << " = {TILE_RT_VERSION, "
     << quoted(function.name) << ", " << parameters << ", " << results << ", "
     << function.parameters.size() << ", " << function.program->results.size() << ", " << known
     << ", " << function.sizes.size() << ", " << needed << ", "
     << function.program->requirements.size() << ", " << all << ", " << plans.size() << ", 0};\n\n";
  return llvm::Error::success();
}

llvm::Error tilec::writeFunction(const BuiltFunction &function, llvm::raw_ostream &os) {
  return FunctionWriter(function, os).write();
}
