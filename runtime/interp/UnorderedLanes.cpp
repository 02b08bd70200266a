//===- UnorderedLanes.cpp - what lanes of one program owe each other -------===//
//
// A program that reads what another of its lanes has written, or writes what another reads, is
// right on the interpreter, which runs lane after lane. Compiled, the two lanes may be in threads
// that nothing orders but `tl.debug_barrier()`.
//
//===----------------------------------------------------------------------===//
#include "runtime/interp/Check.h"
#include "text/Format.h"

using namespace tile::interp;

/// Of a cell that several lanes of one instruction have touched: which of them counts is not known.
static constexpr uint32_t kSeveral = ~uint32_t(0);

void CheckState::noteLane(std::vector<uint32_t> &lanes, size_t cell, bool isSame,
                          uint32_t index) const {
  lanes[cell] = isSame && lanes[cell] != index ? kSeveral : index;
}

/// The lane touches what another instruction of its program has touched since the last barrier.
void CheckState::meetLane(const Lane &lane, EventId earlier, uint32_t earlierLane,
                          bool earlierWrote) {
  const Event &e = event(earlier);
  const Instruction &other = launch.program->instruction(e.place);
  const auto &theirs = *static_cast<const AccessInfo *>(other.aux);
  bool isAtomicPair =
      e.atomic || lane.access == Access::Atomic || lane.access == Access::AtomicRead;
  bool isSame = earlierLane == lane.index && theirs.shape == lane.info.shape;
  if (earlierLane == kSeveral || isAtomicPair || isSame ||
      launch.findings.repeat(lane.frame, lane.i, FindingKind::UnorderedLanes))
    return;
  auto nameOfLane = [](int64_t index, llvm::ArrayRef<int64_t> shape) {
    std::string text = describeLane(index, shape);
    return text.empty() ? std::string("a single number") : text;
  };
  const char *mine = lane.access == Access::Read ? "reads" : "writes";
  const char *before = earlierWrote ? "written" : "read";
  MemoryMap::Buffer *buffer = memory.find(lane.address);
  add(lane, FindingKind::UnorderedLanes, [&] {
    return formatted("this {} byte {} of {}, which another lane of the program has {}, and no "
                     "`tl.debug_barrier()` orders their threads",
                     mine, buffer ? lane.address - buffer->base : 0,
                     buffer ? nameOf(lane, *buffer) : "memory", before);
  });
  Finding &finding = launch.findings.last();
  const char *turn = &other == &lane.i ? " in an earlier turn of the loop" : "";
  finding.otherNote =
      formatted("{} here{}, by {}", before, turn, nameOfLane(earlierLane, theirs.shape));
  finding.otherPlace = launch.program->places[other.place].place;
}
