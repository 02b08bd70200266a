//===- DrawFunction.cpp - a picture of what a function became --------------===//
//
// Kernels stand one below the other, in the order of their launches. The caller's arrays are on
// the left, at the kernels that read and write them. What one kernel hands to the next is an
// arrow between the two; what it hands further down goes along a lane on the right.
//
//===----------------------------------------------------------------------===//
#include "compiler/functions/DrawFunction.h"
#include "frontend/Counted.h"
#include "text/Format.h"
#include "llvm/ADT/StringExtras.h"

using namespace tile;
using graph::Size;
using llvm::StringRef;

//===----------------------------------------------------------------------===//
// Words
//===----------------------------------------------------------------------===//

static std::string escaped(StringRef text) {
  std::string out;
  llvm::raw_string_ostream os(out);
  llvm::printHTMLEscaped(text, os);
  return out;
}

/// 12.6 MB
static std::string readable(int64_t bytes) {
  static const char *const units[] = {"bytes", "kB", "MB", "GB", "TB", "PB", "EB"};
  double amount = double(bytes);
  unsigned unit = 0;
  while (amount >= 1000 && unit + 1 < std::size(units)) {
    amount /= 1000;
    ++unit;
  }
  return unit == 0 || amount >= 100 ? formatted("{:.0f} {}", amount, units[unit])
                                    : formatted("{:.1f} {}", amount, units[unit]);
}

/// A number where sizes are known, and else the formula.
static std::string amount(const Size &size, const graph::Bindings &values) {
  std::optional<int64_t> number = size.evaluate(values);
  return number ? readable(*number) : formatted("{} bytes", size);
}

/// "[B, T, C] bf16"
static std::string described(const TensorBuffer &buffer) {
  return formatted("[{}] {}", graph::joinSizes(buffer.shape), buffer.type);
}

/// Words in lines of at most so many letters, where they are no longer.
static std::vector<std::string> wrapped(StringRef text, StringRef separator, size_t width) {
  llvm::SmallVector<StringRef> words;
  text.split(words, separator);
  std::vector<std::string> lines(1);
  for (auto [i, word] : llvm::enumerate(words)) {
    std::string more = word.str() + (i + 1 < words.size() ? separator.rtrim().str() : "");
    if (!lines.back().empty() && lines.back().size() + 1 + more.size() > width)
      lines.emplace_back();
    lines.back() += (lines.back().empty() ? "" : " ") + StringRef(more).ltrim().str();
  }
  return lines;
}

//===----------------------------------------------------------------------===//
// The picture
//===----------------------------------------------------------------------===//

namespace {

constexpr int kLine = 17, kPadding = 10, kGap = 46, kLeft = 330, kBox = 470, kLane = 14;
constexpr size_t kLetters = 60, kLabelLetters = 44; ///< of a line in a box, of a label

/// A kernel's place.
struct Box {
  std::vector<std::string> lines;         ///< the first is the heading
  std::vector<std::string> reads, writes; ///< of the caller's arrays
  int top = 0, height = 0;
  int middle() const { return top + height / 2; }
  int bottom() const { return top + height; }
};

/// An array from one kernel to others.
struct Arrow {
  unsigned buffer = 0;
  size_t from = 0;
  std::vector<size_t> to; ///< in order
  int lane = 0;           ///< of those that are not the next kernel
};

class Picture {
public:
  explicit Picture(const FunctionExplanation &what) : what(what), program(what.program) {}
  std::string draw();

private:
  std::string nameOf(unsigned buffer) const;
  void makeBox(const TensorKernel &kernel);
  void findArrows();
  void chooseLanes();
  void placeBoxes();
  void text(int x, int y, StringRef words, StringRef style);
  void line(StringRef path);
  void drawBox(const Box &box);
  void drawNext(const Arrow &arrow, int number, int count);
  void drawFar(const Arrow &arrow);

  const FunctionExplanation &what;
  const TensorProgram &program;
  std::vector<Box> boxes;
  std::vector<Arrow> arrows;
  int lanes = 0, height = 0;
  std::string out;
};

} // namespace

/// Of the caller's arrays.
std::string Picture::nameOf(unsigned buffer) const {
  const TensorBuffer &of = program.buffers[buffer];
  if (of.kind == TensorBuffer::Kind::Result)
    return program.results.size() == 1 ? "result" : formatted("result {}", of.index);
  return what.signature.parameters[of.index].name;
}

static StringRef kindOf(const TensorKernel &kernel) {
  return kernel.hand                                   ? "written by hand"
         : kernel.chains                               ? "two products"
         : kernel.scatter != TensorKernel::Scatter::No ? "rows added where numbers say"
         : kernel.addsParts                            ? "sum of parts"
         : kernel.step >= 0                            ? "rows shared by programs"
         : kernel.parts > 1                            ? "parts of a matrix product"
         : kernel.sideBySide > 1                       ? "matrix products side by side"
         : kernel.multiplies                           ? "matrix product"
         : kernel.reduces                              ? "rows reduced"
                                                       : "element by element";
}

void Picture::makeBox(const TensorKernel &kernel) {
  Box &box = boxes.emplace_back();
  box.lines.push_back(formatted("{}{}: {}", kernel.name,
                                kernel.line ? formatted(", line {}", kernel.line) : "",
                                kindOf(kernel)));
  llvm::append_range(box.lines, wrapped(llvm::join(kernel.operations, ", "), ", ", kLetters));
  for (auto &[word, bytes] :
       {std::pair("reads ", kernel.bytesRead), {"writes ", kernel.bytesWritten}})
    llvm::append_range(box.lines, wrapped(word + amount(bytes, what.values), " + ", kLetters));
  for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
    const TensorBuffer &of = program.buffers[program.memoryOf(buffer)];
    bool isWritten = i >= kernel.numRead;
    if (of.kind == TensorBuffer::Kind::Number)
      box.reads.push_back(formatted("{} {}", nameOf(buffer), of.type));
    else if (of.kind == TensorBuffer::Kind::Tensor ||
             (of.kind == TensorBuffer::Kind::Result && isWritten))
      (isWritten ? box.writes : box.reads)
          .push_back(formatted("{} {}", nameOf(program.memoryOf(buffer)), described(of)));
  }
}

void Picture::findArrows() {
  std::map<unsigned, size_t> writer;
  std::map<std::pair<size_t, unsigned>, size_t> known; ///< by writer and memory
  for (auto [number, kernel] : llvm::enumerate(program.kernels)) {
    for (auto [i, buffer] : llvm::enumerate(kernel.buffers)) {
      unsigned memory = program.memoryOf(buffer);
      auto from = writer.find(memory);
      if (i >= kernel.numRead || from == writer.end())
        continue;
      auto [at, isNew] = known.try_emplace({from->second, memory}, arrows.size());
      if (isNew)
        arrows.push_back({memory, from->second, {}, 0});
      if (!llvm::is_contained(arrows[at->second].to, number))
        arrows[at->second].to.push_back(number);
    }
    for (unsigned buffer : llvm::ArrayRef(kernel.buffers).drop_front(kernel.numRead))
      writer[program.memoryOf(buffer)] = number;
  }
}

/// Arrows that pass the same kernels go along lanes of their own.
void Picture::chooseLanes() {
  std::vector<size_t> ends; ///< of each lane, the last kernel that it leads to
  for (Arrow &arrow : arrows) {
    if (arrow.to.back() == arrow.from + 1)
      continue;
    size_t lane = 0;
    while (lane < ends.size() && ends[lane] >= arrow.from)
      ++lane;
    if (lane == ends.size())
      ends.push_back(0);
    ends[lane] = arrow.to.back();
    arrow.lane = int(lane) + 1;
  }
  lanes = int(ends.size());
}

void Picture::placeBoxes() {
  int at = kPadding;
  for (auto [i, box] : llvm::enumerate(boxes)) {
    size_t rows = std::max(box.lines.size(), box.reads.size() + box.writes.size());
    box.top = at;
    box.height = int(rows) * kLine + 2 * kPadding;
    size_t labels = llvm::count_if(
        arrows, [&](const Arrow &arrow) { return arrow.from == i && arrow.to.front() == i + 1; });
    at = box.bottom() + kGap + (labels > 1 ? int(labels - 1) * kLine : 0);
  }
  height = at - kGap + kPadding;
}

void Picture::text(int x, int y, StringRef words, StringRef style) {
  llvm::raw_string_ostream os(out);
  os << "<text x=\"" << x << "\" y=\"" << y << "\" class=\"" << style << "\">" << escaped(words)
     << "</text>\n";
}

void Picture::line(StringRef path) {
  llvm::raw_string_ostream os(out);
  os << "<path d=\"" << path << "\" class=\"arrow\" marker-end=\"url(#tip)\"/>\n";
}

void Picture::drawBox(const Box &box) {
  llvm::raw_string_ostream os(out);
  os << "<rect x=\"" << kLeft << "\" y=\"" << box.top << "\" width=\"" << kBox << "\" height=\""
     << box.height << "\" rx=\"6\" class=\"kernel\"/>\n";
  int y = box.top + kPadding + kLine - 4;
  for (auto [i, words] : llvm::enumerate(box.lines))
    text(kLeft + kPadding, y + int(i) * kLine, words, i == 0 ? "name" : "words");
  int at = y;
  auto side = [&](const std::vector<std::string> &arrays, bool isRead) {
    for (const std::string &array : arrays) {
      StringRef shown = array;
      text(kLeft - 44, at,
           shown.size() > kLabelLetters ? shown.take_front(kLabelLetters - 1).str() + "…" : array,
           isRead ? "given" : "result");
      int from = isRead ? kLeft - 38 : kLeft, to = isRead ? kLeft - 2 : kLeft - 38;
      line(formatted("M{} {} H{}", from, at - 4, to));
      at += kLine;
    }
  };
  side(box.reads, true);
  side(box.writes, false);
}

/// To the next kernel, the `number`th of `count`.
void Picture::drawNext(const Arrow &arrow, int number, int count) {
  const Box &from = boxes[arrow.from], &to = boxes[arrow.from + 1];
  int x = kLeft + 30 + number * (kBox - 60) / std::max(count, 1) / 2;
  line(formatted("M{} {} V{}", x, from.bottom(), to.top - 2));
  const TensorBuffer &buffer = program.buffers[arrow.buffer];
  text(x + 8, from.bottom() + 18 + number * kLine,
       formatted("{}, {}", described(buffer),
                 amount(graph::product(buffer.shape) * Size(buffer.type.itemSize()), what.values)),
       "array");
}

/// Along a lane, to all but the next kernel.
void Picture::drawFar(const Arrow &arrow) {
  const Box &from = boxes[arrow.from];
  int right = kLeft + kBox, lane = right + 10 + arrow.lane * kLane;
  int start = from.bottom() - 8 - arrow.lane % 3 * 5;
  for (size_t to : arrow.to) {
    if (to == arrow.from + 1)
      continue;
    int end = boxes[to].top + 12 + arrow.lane % 4 * 5;
    line(formatted("M{} {} H{} V{} H{}", right, start, lane, end, right + 2));
  }
  const TensorBuffer &buffer = program.buffers[arrow.buffer];
  text(right + 20 + (lanes + 1) * kLane, start + 4,
       formatted("{}, {}", described(buffer),
                 amount(graph::product(buffer.shape) * Size(buffer.type.itemSize()), what.values)),
       "array");
}

std::string Picture::draw() {
  for (const TensorKernel &kernel : program.kernels)
    makeBox(kernel);
  findArrows();
  chooseLanes();
  placeBoxes();
  size_t label = 0;
  for (const Arrow &arrow : arrows)
    if (arrow.lane)
      label = std::max(label, described(program.buffers[arrow.buffer]).size() + 24);
  int width = kLeft + kBox + 30 + (lanes + 1) * kLane + int(label) * 7;
  llvm::raw_string_ostream os(out);
  os << "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 " << width << ' ' << height
     << "\" width=\"" << width << "\" height=\"" << height
     << "\" role=\"img\" aria-label=\"kernels of " << escaped(what.name)
     << "\">\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" "
     << "refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path d=\"M0 0 L8 4 L0 8 "
        "z\""
     << " class=\"tip\"/></marker></defs>\n";
  for (const Box &box : boxes)
    drawBox(box);
  for (size_t i = 0; i < boxes.size(); ++i) {
    auto isNext = [&](const Arrow &arrow) { return arrow.from == i && arrow.to.front() == i + 1; };
    int number = 0, count = int(llvm::count_if(arrows, isNext));
    for (const Arrow &arrow : arrows)
      if (isNext(arrow))
        drawNext(arrow, number++, count);
  }
  for (const Arrow &arrow : arrows)
    if (arrow.lane)
      drawFar(arrow);
  os << "</svg>\n";
  return std::move(out);
}

//===----------------------------------------------------------------------===//
// The page
//===----------------------------------------------------------------------===//

std::string tile::drawFunction(const FunctionExplanation &what) {
  const TensorProgram &program = what.program;
  std::string out;
  llvm::raw_string_ostream os(out);
  Size moved;
  for (const TensorKernel &kernel : program.kernels)
    moved = moved + kernel.bytesRead + kernel.bytesWritten;
  os << "<section>\n<h2>" << escaped(what.name) << "</h2>\n<p>"
     << counted(program.kernels.size(), "kernel") << " for "
     << counted(program.unfusedLaunches, "operation") << ".";
  if (!what.values.empty())
    for (auto [i, entry] : llvm::enumerate(what.values))
      os << (i == 0 ? " With " : ", ") << escaped(entry.first) << " = " << entry.second;
  os << "</p>\n<table>\n";
  auto row = [&](StringRef name, const Size &size) {
    os << "<tr><th>" << name << "</th><td>" << escaped(amount(size, what.values)) << "</td></tr>\n";
  };
  row("moved", moved);
  row("operation by operation", program.unfusedBytes);
  row("at least", program.leastBytes);
  os << "</table>\n" << Picture(what).draw();
  std::string reasons;
  for (const TensorKernel &kernel : program.kernels)
    for (const std::string &reason : kernel.reasons)
      reasons += formatted("<li><b>{}</b>: {}</li>\n", escaped(kernel.name), escaped(reason));
  if (!reasons.empty())
    os << "<details><summary>Fusions that were not taken</summary>\n<ul>\n"
       << reasons << "</ul></details>\n";
  os << "</section>\n";
  return out;
}

std::string tile::htmlPage(StringRef title, llvm::ArrayRef<std::string> parts) {
  std::string out =
      formatted("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{}",
                escaped(title));
  out += R"(</title>
<style>
:root { color-scheme: light dark; }
body { font: 14px sans-serif; margin: 2em; }
svg { max-width: 100%; height: auto; }
th { text-align: left; font-weight: normal; padding-right: 2em; }
text { font: 12px monospace; fill: currentColor; }
.name { font-weight: bold; }
.given, .result { text-anchor: end; }
.result { font-weight: bold; }
.array { fill: #2a7; }
.kernel { fill: #68f2; stroke: #68f; }
.arrow { fill: none; stroke: currentColor; stroke-opacity: 0.6; }
.tip { fill: currentColor; }
</style>
</head>
<body>
<h1>)" + escaped(title) +
         "</h1>\n";
  for (const std::string &part : parts)
    out += part;
  return formatted("{}</body>\n</html>\n", out);
}
