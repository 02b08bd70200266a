//===- HostFile.cpp - a file whose host functions are run -----------------===//
#include "tools/tilec/HostFile.h"
#include "frontend/Parser.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Inspect.h"
#include "tools/tilec/KernelOptions.h"

using namespace tilec;
using llvm::StringRef;
using tile::formatted;
using tile::eval::PyValue;

bool HostFile::parse(StringRef command) {
  std::string error;
  source = tile::frontend::SourceFile::open(path.path, error);
  if (!source) {
    printError(command, error);
    return false;
  }
  tile::frontend::DiagnosticEngine diagnostics;
  module = tile::frontend::parse(*source, diagnostics);
  diagnostics.print(llvm::errs(), colorMessages());
  return !diagnostics.hasErrors();
}

void HostFile::prepare(tile::runtime::Device &device,
                       const std::vector<std::string> &includePaths) {
  program = std::make_unique<tile::eval::Program>(includePaths);
  environment = &program->add(*source, module);
  program->evaluator().limits.steps = tile::host::maxSteps;
  if (const tile::Target *target = tile::findTarget(device.target()))
    program->evaluator().capability = target->capability;
  session = std::make_unique<tile::host::Session>(device, includePaths);
  session->setInspector(inspectKernel);
  session->hostContext()->print = printStatically;
  suite = std::make_unique<tile::host::Suite>(*program, *environment, *session);
}

HostFile::Overrides HostFile::overrides(llvm::ArrayRef<std::string> arguments) {
  Overrides values;
  for (const std::string &argument : arguments) {
    auto [parameter, text] = StringRef(argument).split('=');
    PyValue value = PyValue::string(text.str());
    tile::frontend::DiagnosticEngine ignored;
    tile::frontend::SourceFile argumentText(formatted("argument {}", parameter), text.str());
    tile::ast::ExprPtr expr = tile::frontend::parseExpression(argumentText, ignored);
    if (expr && !ignored.hasErrors()) {
      auto scope = tile::eval::Evaluator::makeScope(*environment);
      if (auto result = program->evaluator().evaluate(*expr, scope))
        value = result.take();
    }
    values.emplace_back(parameter.str(), std::move(value));
  }
  return values;
}

/// A name that is a file of results.
static bool namesResults(StringRef command, StringRef one) {
  if (!one.ends_with(".json") && !one.ends_with(".csv") && !one.ends_with(".html"))
    return false;
  printError(command,
             command == "bench"
                 ? formatted("`{}` names no function; results go to it with `-o {}`", one, one)
                 : formatted("`{}` names no function", one));
  return true;
}

/// Those of all files whose names have the text in them.
static bool filterNames(StringRef command, tile::host::Purpose purpose, StringRef text,
                        std::vector<std::unique_ptr<HostFile>> &files) {
  bool isAny = false;
  for (auto &file : files) {
    llvm::erase_if(file->names, [&](StringRef one) { return !one.contains(text); });
    isAny |= !file->names.empty();
  }
  if (!isAny)
    printError(command, formatted("option `--filter`: no `@{}` function has `{}` in its name",
                                  tile::host::decoratorName(purpose), text));
  return isAny;
}

bool tilec::chooseNames(StringRef command, tile::host::Purpose purpose, const WantedNames &wanted,
                        std::vector<std::unique_ptr<HostFile>> &files) {
  for (StringRef one : wanted.names)
    if (namesResults(command, one))
      return false;
  std::vector<std::string> known;
  for (auto &file : files)
    llvm::append_range(known, file->names);
  for (const std::string &one : wanted.names)
    if (files.size() > 1 && !llvm::is_contained(known, one)) {
      StringRef near = nearest(one, known);
      printError(command, formatted("none of {} files has a `@{}` function `{}`{}", files.size(),
                                    tile::host::decoratorName(purpose), one,
                                    near.empty() ? "" : formatted("; did you mean `{}`?", near)));
      return false;
    }
  if (files.size() == 1 && !wanted.names.empty())
    files.front()->names = wanted.names;
  else if (!wanted.names.empty())
    for (auto &file : files)
      llvm::erase_if(file->names,
                     [&](auto &one) { return !llvm::is_contained(wanted.names, one); });
  return wanted.filter.empty() || filterNames(command, purpose, wanted.filter, files);
}
