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

std::string tile::describeUnknownTarget(StringRef name) {
  std::string message = formatted("unknown target `{}`", name);
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
    return formatted("{}: the oldest supported is `sm_75` (Turing)", message);
  std::string known;
  for (const Target &target : allTargets())
    known += (known.empty() ? "" : ", ") + target.name.str();
  return formatted("{}; known targets: {}; `native`, this machine's GPU; and boards such as {}",
                   message, known, deviceNames());
}
