//===- main.cpp - tilec: the command line of the compiler -----------------===//
//
// Finds the command, lets its option table read the rest, runs it. Nothing of
// the compiler is started before a command asks for it.
//
//===----------------------------------------------------------------------===//
#include "runtime/Cache.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "tools/tilec/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Signals.h"
#include "llvm/Support/raw_ostream.h"
#include <csignal>
#include <cstdlib>

using namespace tilec;
using llvm::StringRef;
using tile::formatted;

static const CommandEntry commands[] = {
    {"compile", "compile kernels to PTX, a cubin or any stage before", createCompileCommand},
    {"build", "compile kernels ahead, to C that programs link", createBuildCommand},
    {"explain", "say how a kernel uses the hardware, and what limits it", createExplainCommand},
    {"run", "run the examples of a file", createRunCommand},
    {"test", "check the kernels of a file against references", createTestCommand},
    {"bench", "time the kernels of a file", createBenchCommand},
    {"lint", "remark on masks, accesses and overflow in the kernels of a file", createLintCommand},
    {"cache", "list, check, thin out and move kept kernels", createCacheCommand},
    {"completion", "print a completion script for bash, zsh or fish", createCompletionCommand},
};

llvm::ArrayRef<CommandEntry> tilec::allCommands() { return commands; }

bool tilec::colorMessages() {
  const char *off = std::getenv("NO_COLOR");
  return llvm::errs().is_displayed() && !(off && *off);
}

void tilec::printError(StringRef command, const llvm::Twine &message) {
  bool color = colorMessages();
  llvm::errs() << "tilec" << (command.empty() ? "" : " ") << command << ": "
               << (color ? "\033[1;31merror:\033[0m " : "error: ") << message << '\n';
}

static int printVersion() {
  llvm::outs() << "tilec " TILE_VERSION " (LLVM " LLVM_VERSION_STRING ")\n";
  return Success;
}

static void printOverview(llvm::raw_ostream &os) {
  os << "tilec compiles kernels written in Triton's kernel language, and runs them.\n\n"
        "usage: tilec COMMAND [OPTION]... [ARGUMENT]...\n\nCommands:\n";
  for (const CommandEntry &entry : commands)
    os << formatted("  {:<13}{}\n", entry.name, entry.summary);
  os << "  help         explain a command: tilec help COMMAND; the manual page: tilec help --man\n"
        "  version      print the version\n";
}

static void printHelp(const CommandEntry &entry, Command &command) {
  llvm::raw_ostream &os = llvm::outs();
  os << formatted("tilec {0}: {1}\n\nusage: tilec {0}", entry.name, entry.summary);
  if (!command.options.all().empty())
    os << " [OPTION]...";
  os << ' ' << command.options.positionalUsage() << "\n\n";
  command.options.print(os);
  if (!command.details().empty())
    os << (command.options.all().empty() ? "" : "\n") << command.details();
}

/// "`tilec compile` and `tilec explain`": the commands that have the option; empty if none has.
static std::string commandsWith(StringRef option) {
  std::vector<std::string> found;
  for (const CommandEntry &entry : commands)
    if (entry.create()->options.find(option))
      found.push_back(formatted("`tilec {}`", entry.name));
  std::string text;
  for (size_t i = 0; i < found.size(); ++i)
    text += (i == 0 ? "" : i + 1 == found.size() ? " and " : ", ") + found[i];
  return text;
}

/// Where an option is that the command does not know.
static std::string elsewhere(const OptionTable &options, llvm::ArrayRef<const char *> args,
                             StringRef error) {
  for (StringRef arg : args) {
    StringRef spelled = arg.split('=').first, name = spelled;
    if (!name.consume_front("--") || options.find(name) ||
        error != formatted("unknown option `{}`", spelled))
      continue;
    if (std::string others = commandsWith(name); !others.empty())
      return formatted("; it is one of {}", others);
  }
  return "";
}

static const CommandEntry *findCommand(StringRef name) {
  for (const CommandEntry &entry : commands)
    if (entry.name == name)
      return &entry;
  std::vector<std::string> names{"help", "version"};
  for (const CommandEntry &entry : commands)
    names.push_back(entry.name.str());
  if (llvm::sys::fs::exists(name)) {
    printError("", formatted("expected a command before `{}`, such as `tilec compile` or `tilec "
                             "test`",
                             name));
    return nullptr;
  }
  std::string message = formatted("unknown command `{}`", name);
  if (name == "tune" || name == "autotune")
    message += "; `tilec bench` tunes what it launches (`--tuning`), and `tilec build` what it "
               "builds (`--tuning-file`)";
  else if (StringRef guess = nearest(name, names); !guess.empty())
    message += formatted("; did you mean `{}`?", guess);
  else if (std::string others = commandsWith(name); !others.empty())
    message += formatted("; `--{}` is an option of {}", name, others);
  printError("", message);
  return nullptr;
}

/// A fault of the compiler, not of its input: says so, with what LLVM knows.
static void reportFatal(void *, const char *reason, bool) {
  printError("", formatted("internal error, a fault of the compiler: {}", reason));
  llvm::sys::RunInterruptHandlers(); // removes files written aside
  std::_Exit(Failure);
}

/// A full disk or a closed terminal under standard output is an error of the
/// command, whatever it said before. LLVM would end the process when it leaves.
static int finish(int status) {
  llvm::raw_fd_ostream &out = llvm::outs();
  out.flush();
  if (out.has_error()) {
    printError("", formatted("cannot write standard output: {}", out.error().message()));
    out.clear_error();
    status = status == Success ? Failure : status;
  }
  llvm::errs().clear_error(); // nowhere is left to say it
  return status;
}

static int runCommand(llvm::ArrayRef<const char *> args) {
  if (args.empty()) {
    printOverview(llvm::errs());
    return Usage;
  }
  StringRef name = args[0];
  bool help = name == "help" || name == "--help" || name == "-h";
  if (name == "version" || name == "--version")
    return printVersion();
  if (help && args.size() == 2 && StringRef(args[1]) == "--man") {
    printManPage(llvm::outs());
    return Success;
  }
  if (help &&
      (args.size() == 1 || StringRef(args[1]) == "help" || StringRef(args[1]) == "version")) {
    printOverview(llvm::outs());
    return Success;
  }
  const CommandEntry *entry = findCommand(help ? args[1] : name);
  if (!entry)
    return Usage;
  std::unique_ptr<Command> command = entry->create();
  std::string error;
  if (!help && !command->options.parse(args.drop_front(), error, help)) {
    printError(entry->name, error + elsewhere(command->options, args.drop_front(), error));
    llvm::errs() << formatted("`tilec help {}` explains the command\n", entry->name);
    return Usage;
  }
  if (help) {
    printHelp(*entry, *command);
    return Success;
  }
  return command->run();
}

int main(int argc, char **argv) {
  llvm::sys::SetOneShotPipeSignalFunction(llvm::sys::DefaultOneShotPipeSignalHandler);
  llvm::install_fatal_error_handler(reportFatal);
  tile::runtime::DiskCache::defaultOnWarning = [](StringRef text) {
    llvm::errs() << formatted("tilec: warning: {}\n", text);
  };
  llvm::errs().tie(&llvm::outs()); // where both go to one pipe, no message begins within a line
  std::signal(SIGXFSZ, SIG_IGN);   // a limit on the size of files is an error of the write
  return finish(runCommand(llvm::ArrayRef<const char *>(argv + 1, argv + argc)));
}
