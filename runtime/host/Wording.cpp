//===- Wording.cpp - errors in the words of host functions ----------------===//
#include "runtime/host/Wording.h"
#include "runtime/host/Functions.h"
#include "text/Format.h"

using namespace tile;
using llvm::StringRef;

/// Longer phrases first.
static constexpr std::pair<StringRef, StringRef> phrases[] = {
    {"integers known at compile time", "integers"},
    {" is not known at compile time: ", " cannot be evaluated: "},
    {"known at compile time", "known here"},
    {"compile-time evaluation gave up", "this case gave up"},
    {"not available to compile-time code", "not available to host functions"},
    {"it cannot be evaluated at compile time", "a host function cannot call it"},
    {"cannot be evaluated at compile time", "is no function that host functions have"},
    {"compile-time code", "host functions"},
    {"compile-time ", ""},
    {" at compile time", " in host functions"},
};

static void reword(std::string &message) {
  for (auto [from, to] : phrases)
    for (size_t at = message.find(from.str()); at != std::string::npos;
         at = message.find(from.str(), at + to.size()))
      message.replace(at, from.size(), to.str());
}

/// What tensors are written with elsewhere: our name of it, or where to look.
static void nameOurs(frontend::Diagnostic &diagnostic) {
  std::string &message = diagnostic.message;
  StringRef member;
  if (diagnostic.file)
    member = diagnostic.file->text().slice(diagnostic.range.begin, diagnostic.range.end);
  std::string hint = host::findFunction(member)
                         ? formatted(": write `tile.{}`", member)
                         : std::string("; `tile` has tensors and what is done with them: "
                                       "`tile.randn(4, 8)`, `tile.exp(x)`");
  for (StringRef module : {"numpy", "torch"})
    if (StringRef(message).starts_with(
            formatted("module `{}` is not available to host functions", module)))
      message += hint;
  StringRef text = message;
  if ((text.contains("assert_close`") || text.contains("assert_allclose`")) &&
      !text.contains("tile.check"))
    message += "; `tile.check(out, ref, atol=..., rtol=...)` compares";
  if (member.ends_with("get_device_properties") || text.contains(".get_device_properties`"))
    message += "; `tile.num_sms()` is the number of multiprocessors";
}

void host::useHostWords(eval::EvalError &error) {
  reword(error.diagnostic.message);
  nameOurs(error.diagnostic);
  for (frontend::Diagnostic &note : error.diagnostic.notes)
    reword(note.message);
}
