//===- Options.cpp - parsing and printing option tables -------------------===//
#include "tools/tilec/Options.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using llvm::StringRef;
using tile::formatted;

Option &OptionTable::add(std::string name, std::string valueName, std::string help,
                         ValueKind kind) {
  Option option;
  option.name = std::move(name);
  option.valueName = std::move(valueName);
  option.help = std::move(help);
  option.kind = kind;
  option.group = heading;
  options.push_back(std::move(option));
  return options.back();
}

OptionTable &OptionTable::group(std::string text) {
  heading = std::move(text);
  return *this;
}

OptionTable &OptionTable::flag(std::string name, std::string help, bool &target, bool value) {
  add(std::move(name), "", std::move(help), ValueKind::None).accept = [&target, value](StringRef) {
    target = value;
    return std::string();
  };
  return *this;
}

OptionTable &OptionTable::text(std::string name, std::string valueName, std::string help,
                               std::string &target, ValueKind kind, char letter) {
  Option &option = add(std::move(name), std::move(valueName), std::move(help), kind);
  option.letter = letter;
  option.accept = [&target](StringRef value) {
    target = value.str();
    return std::string();
  };
  return *this;
}

OptionTable &OptionTable::list(std::string name, std::string valueName, std::string help,
                               std::vector<std::string> &target, ValueKind kind, char letter) {
  Option &option = add(std::move(name), std::move(valueName), std::move(help), kind);
  option.letter = letter;
  option.accept = [&target](StringRef value) {
    target.push_back(value.str());
    return std::string();
  };
  return *this;
}

OptionTable &OptionTable::integer(std::string name, std::string valueName, std::string help,
                                  int &target, int low, int high) {
  return custom(std::move(name), std::move(valueName), std::move(help),
                [&target, low, high](StringRef value) -> std::string {
                  if (value.getAsInteger(10, target) || target < low || target > high)
                    return formatted("expected a number from {} to {}", low, high);
                  return {};
                });
}

OptionTable &OptionTable::choice(std::string name, std::vector<std::string> choices,
                                 std::string help, std::string &target) {
  std::string shown = llvm::join(choices, "|");
  Option &option = add(std::move(name), std::move(shown), std::move(help), ValueKind::Choice);
  option.choices = choices;
  option.accept = [&target, choices](StringRef value) -> std::string {
    target = value.str();
    if (llvm::is_contained(choices, target))
      return {};
    return formatted("expected one of {}", llvm::join(choices, ", "));
  };
  return *this;
}

OptionTable &OptionTable::custom(std::string name, std::string valueName, std::string help,
                                 std::function<std::string(StringRef)> accept,
                                 std::vector<std::string> choices) {
  Option &option = add(std::move(name), std::move(valueName), std::move(help), ValueKind::Text);
  option.accept = std::move(accept);
  option.choices = std::move(choices);
  return *this;
}

OptionTable &OptionTable::orNothing() {
  options.back().mayBeEmpty = true;
  return *this;
}

OptionTable &OptionTable::positional(std::string text, std::vector<std::string> &target,
                                     unsigned low, unsigned high) {
  usage = std::move(text);
  positionals = &target;
  least = low;
  most = high;
  return *this;
}

const Option *OptionTable::find(StringRef name) const {
  for (const Option &option : options)
    if (option.name == name)
      return &option;
  return nullptr;
}

std::string OptionTable::unknown(StringRef spelled) const {
  std::vector<std::string> names;
  for (const Option &option : options)
    names.push_back("--" + option.name);
  names.push_back("--help");
  std::string message = formatted("unknown option `{}`", spelled);
  if (StringRef guess = nearest(spelled, names); !guess.empty())
    message += formatted("; did you mean `{}`?", guess);
  return message;
}

/// `--name`, `--name=value` or `--name value`; also `-o value` and `-ovalue`.
bool OptionTable::parseLong(StringRef arg, llvm::ArrayRef<const char *> rest, size_t &used,
                            std::string &error) const {
  const Option *option = nullptr;
  StringRef value, spelled = arg;
  bool hasValue = false;
  if (arg.starts_with("--")) {
    auto [name, after] = arg.drop_front(2).split('=');
    hasValue = arg.contains('=');
    spelled = arg.split('=').first;
    option = find(name);
    value = after;
  } else {
    for (const Option &candidate : options)
      if (candidate.letter && candidate.letter == arg[1])
        option = &candidate;
    hasValue = arg.size() > 2;
    value = arg.drop_front(2);
    spelled = arg.take_front(2);
  }
  if (!option) {
    error = unknown(spelled);
    return false;
  }
  if (option->kind == ValueKind::None && hasValue) {
    error = formatted("option `{}` takes no value", spelled);
    return false;
  }
  if (option->kind != ValueKind::None && !hasValue) {
    if (rest.empty()) {
      error = formatted("option `{}` needs a value: {} {}", spelled, spelled, option->valueName);
      return false;
    }
    value = rest.front();
    used = 1;
  }
  if (option->kind != ValueKind::None && value.empty() && !option->mayBeEmpty) {
    error = formatted("option `{}` needs a value, got an empty one: {} {}", spelled, spelled,
                      option->valueName);
    return false;
  }
  if (std::string problem = option->accept(value); !problem.empty()) {
    error = formatted("option `{}`: {}, got `{}`", spelled, problem, value);
    return false;
  }
  return true;
}

bool OptionTable::parse(llvm::ArrayRef<const char *> args, std::string &error,
                        bool &helpAsked) const {
  helpAsked = false;
  unsigned count = 0;
  bool onlyArguments = false;
  for (StringRef arg : args) {
    if (arg == "--")
      break;
    if (arg == "--help" || arg == "-h") {
      helpAsked = true;
      return true;
    }
  }
  for (size_t i = 0; i < args.size(); ++i) {
    StringRef arg = args[i];
    if (!onlyArguments && arg == "--") {
      onlyArguments = true;
      continue;
    }
    if (!onlyArguments && arg.size() > 1 && arg[0] == '-') {
      size_t used = 0;
      if (!parseLong(arg, args.drop_front(i + 1), used, error))
        return false;
      i += used;
      continue;
    }
    if (++count > most) {
      error = formatted("unexpected argument `{}`", arg);
      return false;
    }
    positionals->push_back(arg.str());
  }
  if (count < least) {
    error = formatted("expected {}", usage);
    return false;
  }
  return true;
}

/// Prints `text` in columns [indent, 100), broken at blanks.
static void printWrapped(llvm::raw_ostream &os, StringRef text, unsigned indent) {
  const unsigned width = 100;
  llvm::SmallVector<StringRef> paragraphs;
  text.split(paragraphs, '\n');
  for (auto [index, paragraph] : llvm::enumerate(paragraphs)) {
    unsigned column = indent;
    if (index)
      os.indent(indent);
    llvm::SmallVector<StringRef> words;
    paragraph.split(words, ' ');
    for (auto [position, word] : llvm::enumerate(words)) {
      if (position && column + 1 + word.size() > width) {
        os << '\n';
        os.indent(indent);
        column = indent;
      } else if (position) {
        os << ' ';
        ++column;
      }
      os << word;
      column += word.size();
    }
    os << '\n';
  }
}

void OptionTable::print(llvm::raw_ostream &os) const {
  const unsigned column = 30;
  StringRef current;
  bool first = true;
  for (const Option &option : options) {
    if (first || option.group != current) {
      os << (first ? "" : "\n") << (option.group.empty() ? "Options" : option.group) << ":\n";
      current = option.group;
      first = false;
    }
    std::string left = option.letter ? formatted("  -{}, ", option.letter) : "  ";
    left += "--" + option.name;
    if (!option.valueName.empty())
      left += formatted(" {}", option.valueName);
    os << left;
    if (left.size() + 2 > column) {
      os << '\n';
      os.indent(column);
    } else {
      os.indent(column - left.size());
    }
    printWrapped(os, option.help, column);
  }
}

StringRef tilec::nearest(StringRef name, llvm::ArrayRef<std::string> candidates) {
  StringRef best;
  // A name all of whose letters are others is near to anything as short.
  unsigned bestDistance = std::min(std::max<size_t>(2, name.size() / 3) + 1, name.size());
  for (const std::string &candidate : candidates) {
    unsigned distance = name.edit_distance(candidate, /*AllowReplacements=*/true, bestDistance);
    if (distance < bestDistance) {
      bestDistance = distance;
      best = candidate;
    }
  }
  return best;
}
