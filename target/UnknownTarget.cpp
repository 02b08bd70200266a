//===- UnknownTarget.cpp - what is said of a target that is none ----------===//
#include "target/Devices.h"
#include "target/Target.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using llvm::StringRef;

/// The digits of `sm_90a`, `SM90`, `90`, `compute_90`, `9.0`: 0 if there are none.
static int capabilityIn(StringRef name) {
  std::string digits;
  for (char c : name) {
    if (llvm::isDigit(c))
      digits += c;
    else if (!digits.empty() && c != '.')
      break;
  }
  int value = 0;
  return StringRef(digits).getAsInteger(10, value) ? 0 : value;
}

/// The board that was meant, or empty.
static StringRef nearestBoard(StringRef name) {
  std::string lower = name.lower();
  StringRef near;
  for (StringRef board : boardNames()) {
    if (board.size() <= 2 || StringRef(lower).edit_distance(board, true, 1) > 1)
      continue;
    if (near.empty() || (board.front() == lower.front() && near.front() != lower.front()))
      near = board;
  }
  return near;
}

/// Boards that are older than all that is supported, as beginnings of their names.
static constexpr StringRef olderBoards[] = {"v100",  "titanv", "gv100", "p100", "p40", "p4",
                                            "gtx10", "gtx9",   "k80",   "k40",  "m40", "m60"};
/// What generations of chips are called, by the target that serves most of their boards.
static constexpr std::pair<StringRef, StringRef> generations[] = {
    {"turing", "sm_75"},   {"ampere", "sm_80"},  {"ada", "sm_89"},
    {"lovelace", "sm_89"}, {"hopper", "sm_90a"}, {"blackwell", "sm_100a"}};

std::string tile::describeUnknownTarget(StringRef name) {
  std::string message = formatted("unknown target `{}`", name);
  const std::string oldest = formatted("{}: the oldest supported is `sm_75` (Turing)", message);
  std::string lower = name.lower();
  if (llvm::any_of(olderBoards, [&](StringRef old) { return StringRef(lower).starts_with(old); }))
    return oldest;
  for (auto [generation, target] : generations)
    if (lower == generation)
      return formatted("{}; did you mean `{}`?", message, target);
  if (StringRef board = nearestBoard(name); !board.empty())
    return formatted("{}; did you mean `{}`?", message, board);
  int wanted = capabilityIn(name);
  char variant = name.empty() ? 0 : llvm::toLower(name.back());
  const Target *same = nullptr;
  for (const Target &target : allTargets())
    if (target.capability == wanted && (!same || target.variant == variant))
      same = &target;
  if (same)
    return formatted("{}; did you mean `{}`?", message, same->name);
  if (wanted >= 10 && wanted < 75)
    return oldest;
  std::string known;
  for (const Target &target : allTargets())
    known += (known.empty() ? "" : ", ") + target.name.str();
  return formatted("{}; known targets: {}; `native`, this machine's GPU; and boards such as {}",
                   message, known, deviceNames());
}
