//===- Workspace.cpp - where lies what is between kernels -----------------===//
#include "compiler/functions/Workspace.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace tile;

namespace {
/// A buffer from the kernel that writes it to the last one that reads it.
struct Life {
  unsigned buffer = 0;
  int64_t begin = 0, bytes = 0;
  size_t first = 0, last = 0;
  bool isUsed = false;
};
} // namespace

static std::optional<int64_t> alignedBytes(const TensorBuffer &buffer,
                                           const graph::Bindings &sizes) {
  std::optional<int64_t> bytes =
      (graph::product(buffer.shape) * graph::Size(buffer.type.itemSize())).evaluate(sizes);
  if (!bytes || *bytes < 0 || *bytes > INT64_MAX - kWorkspaceAlignment)
    return std::nullopt;
  return (*bytes + kWorkspaceAlignment - 1) / kWorkspaceAlignment * kWorkspaceAlignment;
}

static std::vector<Life> livesOf(const TensorProgram &program) {
  std::vector<Life> lives(program.buffers.size());
  for (auto [number, kernel] : llvm::enumerate(program.kernels))
    for (unsigned used : kernel.buffers) {
      Life &life = lives[program.memoryOf(used)];
      life.first = life.isUsed ? life.first : number;
      life.last = number;
      life.isUsed = true;
    }
  for (auto [i, life] : llvm::enumerate(lives))
    life.buffer = i;
  llvm::erase_if(lives, [&](const Life &life) {
    const TensorBuffer &buffer = program.buffers[life.buffer];
    return !life.isUsed || buffer.kind != TensorBuffer::Kind::Intermediate || buffer.sameAs >= 0;
  });
  return lives;
}

std::optional<int64_t> tile::planWorkspace(const TensorProgram &program,
                                           const graph::Bindings &sizes,
                                           std::vector<int64_t> &offsets) {
  offsets.assign(program.buffers.size(), 0);
  std::vector<Life> lives = livesOf(program), placed;
  for (Life &life : lives) {
    std::optional<int64_t> bytes = alignedBytes(program.buffers[life.buffer], sizes);
    if (!bytes)
      return std::nullopt;
    life.bytes = *bytes;
  }
  // Large ones first: small ones fit between them.
  llvm::sort(lives, [](const Life &a, const Life &b) {
    return std::tie(b.bytes, a.buffer) < std::tie(a.bytes, b.buffer);
  });
  int64_t total = 0;
  for (Life &life : lives) {
    // The lowest place that none that is needed at the same time has; `placed` goes upwards.
    for (const Life &other : placed) {
      bool meets = other.first <= life.last && life.first <= other.last;
      if (meets && other.begin < life.begin + life.bytes && life.begin < other.begin + other.bytes)
        life.begin = other.begin + other.bytes;
    }
    int64_t end;
    if (llvm::AddOverflow(life.begin, life.bytes, end))
      return std::nullopt;
    total = std::max(total, end);
    offsets[life.buffer] = life.begin;
    placed.insert(llvm::upper_bound(placed, life,
                                    [](const Life &a, const Life &b) { return a.begin < b.begin; }),
                  life);
  }
  return total;
}
