//===- ManPage.cpp - tilec help --man: the manual page --------------------===//
//
// Written from the tables that parse the command line, as completion scripts are.
//
//===----------------------------------------------------------------------===//
#include "tools/tilec/Commands.h"
#include "tools/tilec/Version.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace tilec;
using llvm::raw_ostream;
using llvm::StringRef;

/// Text as roff reads it: no dash is a hyphen, no line a request.
static std::string roff(StringRef text) {
  std::string out;
  bool atStart = true;
  for (char c : text) {
    if (atStart && (c == '.' || c == '\''))
      out += "\\&";
    if (c == '\\')
      out += "\\e";
    else if (c == '-')
      out += "\\-";
    else if (c != '`')
      out += c;
    atStart = c == '\n';
  }
  return out;
}

static void printOptions(raw_ostream &os, const OptionTable &table) {
  StringRef group;
  for (const Option &option : table.all()) {
    if (option.group != group) {
      group = option.group;
      os << ".PP\n.I " << roff(group) << '\n';
    }
    os << ".TP\n";
    if (option.letter)
      os << "\\fB\\-" << option.letter << "\\fR, ";
    os << "\\fB\\-\\-" << roff(option.name) << "\\fR";
    if (!option.valueName.empty())
      os << " \\fI" << roff(option.valueName) << "\\fR";
    os << '\n' << roff(option.help) << '\n';
  }
}

void tilec::printManPage(raw_ostream &os) {
  os << ".TH TILEC 1 \"\" \"tilec " TILE_VERSION "\" \"User Commands\"\n"
        ".SH NAME\ntilec \\- compile and run kernels written in Triton's kernel language\n"
        ".SH SYNOPSIS\n.B tilec\n\\fICOMMAND\\fR [\\fIOPTION\\fR]... [\\fIARGUMENT\\fR]...\n"
        ".SH COMMANDS\n";
  for (const CommandEntry &entry : allCommands()) {
    auto command = entry.create();
    os << ".SS tilec " << entry.name << ' ' << roff(command->options.positionalUsage()) << '\n'
       << roff(entry.summary) << ".\n";
    printOptions(os, command->options);
    if (!command->details().empty())
      os << ".PP\n.nf\n" << roff(command->details().rtrim()) << "\n.fi\n";
  }
  os << ".SS tilec help COMMAND\nexplain a command\n.SS tilec version\nprint the version\n"
        ".SH EXIT STATUS\n0 success, 1 a failure or an error, 2 wrong usage, 3 something that is "
        "not "
        "supported yet.\n";
}
