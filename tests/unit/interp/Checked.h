//===- Checked.h - checked launches in tests ------------------------------===//
#ifndef TILE_TESTS_UNIT_INTERP_CHECKED_H
#define TILE_TESTS_UNIT_INTERP_CHECKED_H

#include "InterpTest.h"

namespace tile::interp::test {

/// A checked launch; buffers are registered first.
struct Checked {
  MemoryMap memory;
  RunOptions options;
  Checked() { options.memory = &memory; }
  template <class T> void add(std::vector<T> &v, const char *name, bool initialized = true) {
    ASSERT_TRUE(memory.add(v.data(), v.size() * sizeof(T), initialized, name));
  }
  template <class... Args> Report run(const std::string &text, Grid grid, Args &&...args) {
    auto program = compile(text, /*check=*/true);
    if (!program)
      return {};
    std::vector<Argument> list = {toArgument(args)...};
    return program->run(grid, list, options);
  }
};

inline void expectOne(const Report &report, FindingKind kind, unsigned line, uint32_t program,
                      int64_t lane) {
  ASSERT_EQ(report.findings.size(), 1u) << report.str();
  const Finding &f = report.findings[0];
  EXPECT_EQ(name(f.kind).str(), name(kind).str()) << report.str();
  EXPECT_EQ(f.place.line, line) << report.str();
  EXPECT_EQ(f.program[0], program) << report.str();
  EXPECT_EQ(f.lane, lane) << report.str();
}

} // namespace tile::interp::test

#endif // TILE_TESTS_UNIT_INTERP_CHECKED_H
