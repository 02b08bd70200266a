//===- Completion.cpp - tilec completion: scripts for shells --------------===//
//
// The scripts are written from the same tables that parse the command line, so
// they cannot fall behind it.
//
//===----------------------------------------------------------------------===//
#include "compiler/Compiler.h"
#include "text/Format.h"
#include "tools/tilec/Commands.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using llvm::raw_ostream;
using llvm::StringRef;
using tile::formatted;

static constexpr StringRef detailsText = R"(Write the script where your shell looks for completions:

  bash   tilec completion bash > ~/.local/share/bash-completion/completions/tilec
  zsh    tilec completion zsh > "${fpath[1]}/_tilec"
  fish   tilec completion fish > ~/.config/fish/completions/tilec.fish
)";

static std::vector<std::string> choicesOf(const Option &option) {
  if (option.name == "print-ir-after") {
    std::vector<std::string> names = tile::Compiler().passNames();
    names.push_back("all");
    return names;
  }
  return option.choices;
}

/// What an option's value is a name of, in the file on the command line: the shell asks `tilec`.
static StringRef namesFor(const Option &option) {
  return llvm::StringSwitch<StringRef>(option.name)
      .Case("kernel", "kernels")
      .Cases({"test", "bench"}, option.name)
      .Default("");
}

/// The commands whose arguments, behind a file, are names of its functions.
static bool takesNames(StringRef command) {
  return command == "test" || command == "bench" || command == "run";
}

/// Shell functions that print the names in the first file of the words that they are given.
static void printAsking(raw_ostream &os) {
  os << "_tilec_names() {\n"
        "  local tilec=$1 what=$2 word file=\n"
        "  shift 2\n"
        "  for word in \"$@\"; do\n"
        "    case $word in *.tile|*.py) file=$word; break ;; esac\n"
        "  done\n"
        "  [ -n \"$file\" ] || return\n"
        "  if [ \"$what\" = kernels ]; then\n"
        "    \"$tilec\" compile \"$file\" --list-kernels 2>/dev/null | cut -d' ' -f1\n"
        "  else\n"
        "    \"$tilec\" \"$what\" \"$file\" --list --device cpu 2>/dev/null | cut -d' ' -f1\n"
        "  fi\n"
        "}\n";
}

static void printBash(raw_ostream &os) {
  os << "# bash completion for tilec, written by `tilec completion bash`\n";
  printAsking(os);
  os << "_tilec() {\n"
        "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]}\n"
        "  COMPREPLY=()\n"
        "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
        "    COMPREPLY=($(compgen -W \"help version";
  for (const CommandEntry &entry : allCommands())
    os << ' ' << entry.name;
  os << "\" -- \"$cur\"))\n    return\n  fi\n  case \"${COMP_WORDS[1]} $prev\" in\n";
  for (const CommandEntry &entry : allCommands()) {
    auto command = entry.create();
    for (const Option &option : command->options.all()) {
      std::string spelled = formatted("{} --{}", entry.name, option.name);
      std::string pattern = formatted("    \"{}\"", spelled);
      if (option.letter)
        pattern += formatted(" | \"{} -{}\"", entry.name, option.letter);
      if (auto choices = choicesOf(option); !choices.empty())
        os << pattern << ") COMPREPLY=($(compgen -W \"" << llvm::join(choices, " ")
           << "\" -- \"$cur\")); return ;;\n";
      else if (StringRef names = namesFor(option); !names.empty())
        os << pattern << ") COMPREPLY=($(compgen -W \"$(_tilec_names \"$COMP_WORDS\" " << names
           << " \"${COMP_WORDS[@]:2}\")\" -- \"$cur\")); return ;;\n";
      else if (option.kind == ValueKind::Directory)
        os << pattern << ") COMPREPLY=($(compgen -d -- \"$cur\")); return ;;\n";
      else if (option.kind == ValueKind::File)
        os << pattern << ") COMPREPLY=($(compgen -f -- \"$cur\")); return ;;\n";
      else if (option.kind == ValueKind::Text)
        os << pattern << ") return ;;\n";
    }
  }
  os << "  esac\n  case \"$cur\" in\n    -*)\n      case \"${COMP_WORDS[1]}\" in\n";
  for (const CommandEntry &entry : allCommands()) {
    os << "        " << entry.name << ") COMPREPLY=($(compgen -W \"--help";
    auto command = entry.create();
    for (const Option &option : command->options.all())
      os << " --" << option.name;
    os << "\" -- \"$cur\")) ;;\n";
  }
  os << "      esac ;;\n"
        "    *) COMPREPLY=($(compgen -f -- \"$cur\"))\n"
        "      case \"${COMP_WORDS[1]}\" in\n";
  for (const CommandEntry &entry : allCommands())
    if (takesNames(entry.name))
      os << "        " << entry.name
         << ") COMPREPLY+=($(compgen -W \"$(_tilec_names \"$COMP_WORDS\" " << entry.name
         << " \"${COMP_WORDS[@]:2}\")\" -- \"$cur\")) ;;\n";
  os << "      esac ;;\n"
        "  esac\n"
        "}\n"
        "complete -o filenames -F _tilec tilec\n";
}

/// Text inside single quotes, for zsh and fish.
static std::string quoted(StringRef text) {
  std::string out;
  for (char c : text) {
    if (c == '\'')
      out += "'\\''";
    else
      out += c == '\n' ? ' ' : c;
  }
  return out;
}

/// `text` as the explanation in a zsh `_arguments` spec.
static std::string zshText(StringRef text) {
  std::string out;
  for (char c : quoted(text)) {
    if (c == '[' || c == ']' || c == ':')
      out += '\\';
    out += c;
  }
  return out;
}

static void printZsh(raw_ostream &os) {
  os << "#compdef tilec\n# zsh completion for tilec, written by `tilec completion zsh`\n";
  printAsking(os);
  os << "_tilec_ask() { compadd -- $(_tilec_names tilec $1 $words) }\n"
        "_tilec() {\n"
        "  local -a commands=(\n    'help:explain a command'\n"
        "    'version:print the version'\n";
  for (const CommandEntry &entry : allCommands())
    os << "    '" << entry.name << ':' << quoted(entry.summary) << "'\n";
  os << "  )\n"
        "  if (( CURRENT == 2 )); then\n"
        "    _describe command commands\n"
        "    return\n"
        "  fi\n"
        "  local command=$words[2]\n"
        "  shift words\n"
        "  (( CURRENT-- ))\n"
        "  case $command in\n";
  for (const CommandEntry &entry : allCommands()) {
    os << "    " << entry.name << ")\n      _arguments \\\n        '--help[show help]' \\\n";
    auto command = entry.create();
    for (const Option &option : command->options.all()) {
      std::string value;
      auto choices = choicesOf(option);
      if (!choices.empty())
        value = formatted(":value:({})", llvm::join(choices, " "));
      else if (StringRef names = namesFor(option); !names.empty())
        value = formatted(":name:_tilec_ask {}", names);
      else if (option.kind == ValueKind::File)
        value = ":file:_files";
      else if (option.kind == ValueKind::Directory)
        value = ":folder:_files -/";
      else if (option.kind == ValueKind::Text)
        value = formatted(":{}:", zshText(option.valueName));
      os << "        '*--" << option.name << '[' << zshText(option.help) << ']' << value
         << "' \\\n";
      if (option.letter)
        os << "        '*-" << option.letter << '[' << zshText(option.help) << ']' << value
           << "' \\\n";
    }
    if (takesNames(entry.name))
      os << "        '*:file or name:{ _files; _tilec_ask " << entry.name << " }'\n      ;;\n";
    else
      os << "        '*:file:_files'\n      ;;\n";
  }
  os << "  esac\n}\n_tilec \"$@\"\n";
}

static void printFish(raw_ostream &os) {
  os << "# fish completion for tilec, written by `tilec completion fish`\n"
        "function __tilec_names\n"
        "  set -l file (commandline -opc | string match -r '.*\\.(?:tile|py)$' | head -n 1)\n"
        "  test -n \"$file\"; or return\n"
        "  if test $argv[1] = kernels\n"
        "    tilec compile $file --list-kernels 2>/dev/null | string split -f 1 ' '\n"
        "  else\n"
        "    tilec $argv[1] $file --list --device cpu 2>/dev/null | string split -f 1 ' '\n"
        "  end\n"
        "end\n"
        "complete -c tilec -n __fish_use_subcommand -f -a help -d 'explain a command'\n"
        "complete -c tilec -n __fish_use_subcommand -f -a version -d 'print the version'\n";
  for (const CommandEntry &entry : allCommands()) {
    os << "complete -c tilec -n __fish_use_subcommand -f -a " << entry.name << " -d '"
       << quoted(entry.summary) << "'\n";
    std::string only =
        formatted("complete -c tilec -n '__fish_seen_subcommand_from {}'", entry.name);
    auto command = entry.create();
    for (const Option &option : command->options.all()) {
      os << only << " -l " << option.name;
      if (option.letter)
        os << " -s " << option.letter;
      if (auto choices = choicesOf(option); !choices.empty())
        os << " -x -a '" << llvm::join(choices, " ") << "'";
      else if (StringRef names = namesFor(option); !names.empty())
        os << " -x -a '(__tilec_names " << names << ")'";
      else if (option.kind == ValueKind::File || option.kind == ValueKind::Directory)
        os << " -r -F";
      else if (option.kind == ValueKind::Text)
        os << " -x";
      os << " -d '" << quoted(option.help) << "'\n";
    }
    if (takesNames(entry.name))
      os << only << " -a '(__tilec_names " << entry.name << ")'\n";
  }
}

namespace {
class CompletionCommand : public Command {
public:
  CompletionCommand() { options.positional("bash|zsh|fish", shells, 1, 1); }
  StringRef details() const override { return detailsText; }
  int run() override {
    if (shells[0] == "bash")
      printBash(llvm::outs());
    else if (shells[0] == "zsh")
      printZsh(llvm::outs());
    else if (shells[0] == "fish")
      printFish(llvm::outs());
    else {
      printError("completion", formatted("expected bash, zsh or fish, got `{}`", shells[0]));
      return Usage;
    }
    return Success;
  }

private:
  std::vector<std::string> shells;
};
} // namespace

std::unique_ptr<Command> tilec::createCompletionCommand() {
  return std::make_unique<CompletionCommand>();
}
