//===- Commands.h - the commands of tilec ---------------------------------===//
//
// To add a command: a function below, one line in the table of main.cpp.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_COMMANDS_H
#define TILE_TOOLS_TILEC_COMMANDS_H

#include "tools/tilec/Options.h"

namespace tilec {

/// Exit codes, part of the interface that other programs rely on.
enum ExitCode { Success = 0, Failure = 1, Usage = 2, Unsupported = 3 };

/// A command is built fresh for each use: it owns the variables its options
/// are bound to. Building it must be cheap (completion builds all of them).
class Command {
public:
  virtual ~Command() = default;
  /// Runs after the options have been parsed. Returns an ExitCode.
  virtual int run() = 0;
  /// Paragraphs printed below the options by `--help`; may be empty.
  virtual llvm::StringRef details() const { return ""; }

  OptionTable options;
};

struct CommandEntry {
  llvm::StringRef name;
  llvm::StringRef summary; ///< one line
  std::unique_ptr<Command> (*create)();
};

/// All commands, in the order of the help text.
llvm::ArrayRef<CommandEntry> allCommands();

std::unique_ptr<Command> createCompileCommand();
std::unique_ptr<Command> createExplainCommand();
std::unique_ptr<Command> createRunCommand();
std::unique_ptr<Command> createTestCommand();
std::unique_ptr<Command> createBenchCommand();
std::unique_ptr<Command> createLintCommand();
std::unique_ptr<Command> createBuildCommand();
std::unique_ptr<Command> createCacheCommand();
std::unique_ptr<Command> createCompletionCommand();

/// The manual page, as roff.
void printManPage(llvm::raw_ostream &os);

/// Prints `tilec COMMAND: error: message` to stderr, in colour on a terminal.
void printError(llvm::StringRef command, const llvm::Twine &message);
/// Whether messages on stderr should be coloured: a terminal, NO_COLOR unset.
bool colorMessages();

} // namespace tilec

#endif // TILE_TOOLS_TILEC_COMMANDS_H
