//===- ProgramRecordings.cpp - runs of a program, recorded to be repeated --===//
#include "runtime/capi/ProgramRecordings.h"
#include "llvm/ADT/STLExtras.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime::capi;
using tensors::Parameter;

/// Runs that a program remembers: a few sets of buffers that take turns.
static constexpr size_t kRecordings = 8;

using Visitor = llvm::function_ref<bool(uint64_t)>;

static uint64_t wordOf(const void *pointer) { return reinterpret_cast<uintptr_t>(pointer); }

static bool visitTensor(const tile_tensor &tensor, Visitor visit) {
  if (tensor.rank < 0 || tensor.rank > TILE_TENSOR_RANK)
    return false; // is refused when it is read
  if (!visit(wordOf(tensor.data)) || !visit(uint64_t(tensor.rank)))
    return false;
  for (int32_t i = 0; i < tensor.rank; ++i)
    if (!visit(uint64_t(tensor.shape[i])) || !visit(uint64_t(tensor.strides[i])))
      return false;
  return true;
}

/// Gives the words of a run, in order, until one is not wanted; false then.
static bool visitWords(const ProgramRun &run, Visitor visit) {
  if (!visit(wordOf(run.context)) || !visit(wordOf(run.stream)) || !visit(wordOf(run.workspace)) ||
      !visit(run.workspaceBytes) || !visit(run.numArguments) || !visit(run.numResults))
    return false;
  size_t next = 0;
  for (const Parameter &parameter : run.signature.parameters) {
    if (parameter.kind == Parameter::Kind::Constant)
      continue;
    const void *value = next < run.numArguments ? run.arguments[next] : nullptr;
    ++next;
    if (!value)
      return false;
    if (parameter.kind == Parameter::Kind::Tensor) {
      if (!visitTensor(*static_cast<const tile_tensor *>(value), visit))
        return false;
      continue;
    }
    uint64_t word = 0;
    std::memcpy(&word, value, std::min<size_t>(parameter.element->itemSize(), sizeof word));
    if (!visit(word))
      return false;
  }
  for (size_t i = 0; i < run.numResults; ++i) // of results only addresses count
    if (!visit(wordOf(run.results[i].data)))
      return false;
  return true;
}

ProgramRecordings::Recording *ProgramRecordings::find(const ProgramRun &run) {
  for (Recording &recording : recordings) {
    size_t at = 0;
    bool isSame = visitWords(run, [&](uint64_t word) {
      bool isKnown = at < recording.words.size() && recording.words[at] == word;
      ++at;
      return isKnown;
    });
    if (!isSame || at != recording.words.size())
      continue;
    recording.lastUse = ++clock;
    return &recording;
  }
  return nullptr;
}

void ProgramRecordings::remember(const ProgramRun &run) {
  std::vector<uint64_t> words;
  if (!visitWords(run, [&](uint64_t word) {
        words.push_back(word);
        return true;
      }))
    return;
  if (recordings.size() < kRecordings)
    recordings.emplace_back();
  Recording &oldest = *llvm::min_element(
      recordings, [](const Recording &a, const Recording &b) { return a.lastUse < b.lastUse; });
  oldest.words = std::move(words);
  oldest.graph.reset();
  oldest.isRefused = false;
  oldest.lastUse = ++clock;
}
