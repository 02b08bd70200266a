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
