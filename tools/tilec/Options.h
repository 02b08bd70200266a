//===- Options.h - the options of a command, as one table -----------------===//
//
// Each command describes its options once; parsing, `--help`, spelling
// suggestions and shell completion all read the same table. A table binds
// options to variables that the caller owns.
//
//===----------------------------------------------------------------------===//
#ifndef TILE_TOOLS_TILEC_OPTIONS_H
#define TILE_TOOLS_TILEC_OPTIONS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <functional>
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace tilec {

/// What may follow an option, or stand as an argument: guides completion.
enum class ValueKind { None, Text, File, Directory, Choice };

struct Option {
  std::string name;      ///< without dashes
  char letter = 0;       ///< `-o`; 0: none
  std::string valueName; ///< shown in help; empty for a flag
  std::string help;
  ValueKind kind = ValueKind::None;
  std::vector<std::string> choices;
  std::string group;       ///< heading in the help text
  bool mayBeEmpty = false; ///< a value of nothing says something
  /// Takes the value in; returns what is wrong with it, empty if nothing.
  std::function<std::string(llvm::StringRef)> accept;
};

/// The options and arguments of one command.
class OptionTable {
public:
  /// Options added from here on stand under `heading` in the help.
  OptionTable &group(std::string heading);
  OptionTable &flag(std::string name, std::string help, bool &target, bool value = true);
  OptionTable &text(std::string name, std::string valueName, std::string help, std::string &target,
                    ValueKind kind = ValueKind::Text, char letter = 0);
  OptionTable &list(std::string name, std::string valueName, std::string help,
                    std::vector<std::string> &target, ValueKind kind = ValueKind::Text,
                    char letter = 0);
  OptionTable &integer(std::string name, std::string valueName, std::string help, int &target,
                       int least, int most);
  OptionTable &choice(std::string name, std::vector<std::string> choices, std::string help,
                      std::string &target);
  /// `choices` are what shells offer; `accept` may take more.
  OptionTable &custom(std::string name, std::string valueName, std::string help,
                      std::function<std::string(llvm::StringRef)> accept,
                      std::vector<std::string> choices = {});
  /// The option added last takes a value of nothing, too. Of any other that is a mistake, such as
  /// a variable of a script that is not set.
  OptionTable &orNothing();
  /// Arguments that are not options, e.g. "FILE" or "FILE [NAME]".
  OptionTable &positional(std::string usage, std::vector<std::string> &target, unsigned least,
                          unsigned most);

  /// Reads `args`. False after setting `error` to a sentence; `helpAsked` is
  /// set if `--help` or `-h` stands among them (nothing else is checked then).
  bool parse(llvm::ArrayRef<const char *> args, std::string &error, bool &helpAsked) const;

  /// The option list of the help text.
  void print(llvm::raw_ostream &os) const;
  llvm::StringRef positionalUsage() const { return usage; }
  const std::vector<Option> &all() const { return options; }

  /// Null if there is none of that name.
  const Option *find(llvm::StringRef name) const;

private:
  Option &add(std::string name, std::string valueName, std::string help, ValueKind kind);
  std::string unknown(llvm::StringRef spelled) const;
  bool parseLong(llvm::StringRef arg, llvm::ArrayRef<const char *> rest, size_t &used,
                 std::string &error) const;

  std::vector<Option> options;
  std::string heading;
  std::string usage;
  std::vector<std::string> *positionals = nullptr;
  unsigned least = 0, most = 0;
};

/// The candidate that `name` most likely means, or empty.
llvm::StringRef nearest(llvm::StringRef name, llvm::ArrayRef<std::string> candidates);

} // namespace tilec

#endif // TILE_TOOLS_TILEC_OPTIONS_H
