//===- Draw.cpp - a layout as a table that people read ---------------------===//
#include "ir/layout/Draw.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/raw_ostream.h"

using namespace tile::layout;
using llvm::raw_ostream;
using tile::formatted;

namespace {
class Drawing {
public:
  Drawing(const LinearLayout &layout, const DrawLimits &limits, raw_ostream &os)
      : layout(layout), limits(limits), os(os), free(layout.freeBits()) {
    if (!layout.ins().empty())
      columns = layout.ins()[0].second;
    if (layout.ins().size() > 1)
      rows = layout.ins()[1].second;
    for (const DimValue &in : layout.ins().drop_front(std::min<size_t>(layout.ins().size(), 2)))
      tables *= in.second;
  }

  void run() {
    if (layout.ins().size() == 1) { // a long line, cut
      int32_t line = std::min(columns, limits.columns);
      rows = columns / line;
      columns = line;
    }
    int32_t shown = std::min(tables, limits.tables);
    for (int32_t table = 0; table < shown; ++table)
      drawTable(table);
    if (shown < tables)
      os << "... " << tables - shown << " more of " << tables << " tables\n";
  }

private:
  /// `1,16`; copies with an apostrophe.
  std::string cell(uint64_t position) const {
    std::string text;
    uint64_t image = layout.image(position);
    for (const DimValue &out : layout.outs())
      text += (text.empty() ? "" : ",") +
              llvm::utostr((image & layout.outMask(out.first)) >> layout.outShift(out.first));
    return text + (position & free ? "'" : "");
  }

  /// "warp 3", "warp 3, block 1": the dimensions behind the first two.
  std::string nameOf(int32_t table) const {
    std::string name;
    for (const DimValue &in : layout.ins().drop_front(std::min<size_t>(layout.ins().size(), 2))) {
      name += formatted("{}{} {}", name.empty() ? "" : ", ", in.first.name(), table % in.second);
      table /= in.second;
    }
    return name;
  }

  void drawTable(int32_t table) {
    if (std::string name = nameOf(table); !name.empty())
      os << name << "\n";
    bool inLines = layout.ins().size() == 1;
    int32_t shownRows = std::min(rows, limits.rows),
            shownColumns = std::min(columns, limits.columns);
    auto at = [&](int32_t row, int32_t column) {
      return cell(uint64_t(column) + uint64_t(columns) * (row + uint64_t(rows) * table));
    };
    size_t width = std::to_string(shownColumns).size() + 1;
    for (int32_t row = 0; row < shownRows; ++row)
      for (int32_t column = 0; column < shownColumns; ++column)
        width = std::max(width, at(row, column).size());
    std::string corner = layout.ins().size() < 2 ? "" : layout.ins()[1].first.name().str();
    size_t margin = std::max<size_t>(corner.size(), 6) + 1;
    os << llvm::left_justify(inLines ? layout.ins()[0].first.name() : corner, margin) << "|";
    for (int32_t column = 0; column < shownColumns; ++column)
      os << " " << llvm::right_justify((inLines ? "+" : "r") + llvm::itostr(column), width);
    os << "\n";
    for (int32_t row = 0; row < shownRows; ++row) {
      os << llvm::left_justify(llvm::itostr(inLines ? row * columns : row), margin) << "|";
      for (int32_t column = 0; column < shownColumns; ++column)
        os << " " << llvm::right_justify(at(row, column), width);
      os << (shownColumns < columns ? " ...\n" : "\n");
    }
    if (shownRows < rows)
      os << "... " << rows - shownRows << " more of " << rows << " rows\n";
    if (shownColumns < columns)
      os << "... " << columns - shownColumns << " more of " << columns << " columns\n";
  }

  const LinearLayout &layout;
  const DrawLimits &limits;
  raw_ostream &os;
  uint64_t free;
  int32_t columns = 1, rows = 1, tables = 1;
};
} // namespace

std::string tile::layout::draw(const LinearLayout &layout, const DrawLimits &limits) {
  std::string text;
  llvm::raw_string_ostream os(text);
  Drawing(layout, limits, os).run();
  return text;
}
