//===- FrontEnd.cpp - mangled programs through the front end ---------------===//
//
// Real programs with a few edits reach further than random bytes: most of the
// text stays meaningful, so the edit is met by the evaluator and the specialiser
// and not only by the parser.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/FrontEnd.h"
#include "compiler/Compiler.h"
#include "frontend/Parser.h"
#include "frontend/eval/Eval.h"
#include "tests/fuzz/Snippets.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include <random>

using namespace tile;
using namespace tile::fuzz;

std::vector<std::string> fuzz::readCorpus(const std::vector<std::string> &folders) {
  std::vector<std::string> names, texts;
  for (const std::string &folder : folders) {
    std::error_code code;
    for (llvm::sys::fs::recursive_directory_iterator it(folder, code), end; it != end && !code;
         it.increment(code))
      if (llvm::StringRef(it->path()).ends_with(".tile") ||
          llvm::StringRef(it->path()).ends_with(".py"))
        names.push_back(it->path());
  }
  llvm::sort(names); // the same everywhere
  for (const std::string &name : names)
    if (auto buffer = llvm::MemoryBuffer::getFile(name))
      texts.push_back((*buffer)->getBuffer().str());
  return texts;
}

//===----------------------------------------------------------------------===//
// Mangling
//===----------------------------------------------------------------------===//

/// Names, numbers, strings, runs of spaces, and single other characters.
static std::vector<std::string> tokens(llvm::StringRef text) {
  std::vector<std::string> result;
  while (!text.empty()) {
    auto isWord = [](char c) { return llvm::isAlnum(c) || c == '_'; };
    size_t n = 1;
    if (isWord(text[0]))
      n = text.take_while(isWord).size();
    else if (text[0] == ' ')
      n = text.take_while([](char c) { return c == ' '; }).size();
    result.push_back(text.take_front(n).str());
    text = text.drop_front(n);
  }
  return result;
}

static constexpr llvm::StringLiteral dictionary[] = {"if ",
                                                     "else:",
                                                     "elif ",
                                                     "for ",
                                                     "in ",
                                                     "while ",
                                                     "def ",
                                                     "return ",
                                                     "lambda ",
                                                     "yield ",
                                                     "class ",
                                                     "None",
                                                     "True",
                                                     "False",
                                                     "not ",
                                                     "and ",
                                                     "or ",
                                                     "is ",
                                                     "(",
                                                     ")",
                                                     "[",
                                                     "]",
                                                     "{",
                                                     "}",
                                                     ":",
                                                     ",",
                                                     ".",
                                                     "=",
                                                     "==",
                                                     "!=",
                                                     "<",
                                                     "<=",
                                                     ">>",
                                                     "<<",
                                                     "**",
                                                     "//",
                                                     "%",
                                                     "@",
                                                     "->",
                                                     ":=",
                                                     "...",
                                                     "*",
                                                     "+",
                                                     "-",
                                                     "~",
                                                     "0",
                                                     "1",
                                                     "-1",
                                                     "2",
                                                     "16",
                                                     "1024",
                                                     "2147483648",
                                                     "18446744073709551616",
                                                     "1e400",
                                                     "0.5",
                                                     "1j",
                                                     "\"",
                                                     "'",
                                                     "\"\"\"",
                                                     "f\"{",
                                                     "\\",
                                                     "\n",
                                                     "\n    ",
                                                     "\n        ",
                                                     "\t",
                                                     "#",
                                                     "tl.",
                                                     "tl.constexpr",
                                                     "tl.load",
                                                     "tl.store",
                                                     "tl.arange(0, 16)",
                                                     "tl.sum",
                                                     "tl.dot",
                                                     "tl.zeros",
                                                     "tl.full",
                                                     "tl.where",
                                                     "tl.reshape",
                                                     "tl.float16",
                                                     "tl.int1",
                                                     "tl.int64",
                                                     "tl.float8e5",
                                                     "tl.static_range",
                                                     "tl.range",
                                                     "tl.program_id(0)",
                                                     "tl.make_block_ptr",
                                                     "tl.make_tensor_descriptor",
                                                     "tl.associative_scan",
                                                     "tl.reduce",
                                                     "tl.join",
                                                     "tl.split",
                                                     "tl.sort",
                                                     "tl.cat",
                                                     "tl.gather",
                                                     "tl.histogram",
                                                     "tl.atomic_add",
                                                     "tl.inline_asm_elementwise",
                                                     "tl.map_elementwise",
                                                     "@triton.jit\n",
                                                     "triton.",
                                                     "break",
                                                     "continue",
                                                     "pass",
                                                     "[:, None]",
                                                     "[None]",
                                                     ".to(",
                                                     ".T",
                                                     ".shape",
                                                     ".dtype",
                                                     "len(",
                                                     "range(",
                                                     "min(",
                                                     "max(",
                                                     "\xc3\xa9",
                                                     "\xff"};

/// New statements before some line, as deep as that line.
static void insertStatements(std::string &text, std::mt19937_64 &random) {
  size_t at = text.empty() ? 0 : text.find('\n', random() % text.size());
  at = at == std::string::npos ? text.size() : at + 1;
  size_t end = std::min(text.find_first_not_of(' ', at), text.size());
  text.insert(at, randomStatements(
                      random, text.substr(std::min(at, text.size()), end - std::min(at, end))));
}

std::string fuzz::mangle(const std::vector<std::string> &corpus, uint64_t seed) {
  std::mt19937_64 random(seed);
  auto below = [&](uint64_t n) { return n ? random() % n : 0; };
  if (corpus.empty())
    return "";
  std::string text = corpus[below(corpus.size())];
  bool hasNew = below(2);
  for (uint64_t k = hasNew ? 1 + below(3) : 0; k > 0; --k)
    insertStatements(text, random);
  if (below(10) == 0)
    text = distorted(random, std::move(text));
  std::vector<std::string> parts = tokens(text);
  // What is new is met as it is, or changed further.
  unsigned edits = unsigned(hasNew ? below(4) : 1 + below(6));
  for (unsigned e = 0; e < edits && !parts.empty(); ++e) {
    size_t at = below(parts.size());
    switch (below(9)) {
    case 8:
      parts[at] = randomExpression(random, 3);
      break;
    case 0: // leave out a few
      parts.erase(parts.begin() + at, parts.begin() + std::min(parts.size(), at + 1 + below(4)));
      break;
    case 1:
    case 2:
      parts.insert(parts.begin() + at, dictionary[below(std::size(dictionary))].str());
      break;
    case 3:
    case 4:
      parts[at] = dictionary[below(std::size(dictionary))].str();
      break;
    case 5:
      std::swap(parts[at], parts[below(parts.size())]);
      break;
    case 6: { // repeat a stretch elsewhere
      size_t length = std::min<size_t>(1 + below(20), parts.size() - at);
      std::vector<std::string> copy(parts.begin() + at, parts.begin() + at + length);
      parts.insert(parts.begin() + below(parts.size()), copy.begin(), copy.end());
      break;
    }
    default:
      if (!parts[at].empty())
        parts[at][below(parts[at].size())] = char(below(256));
      break;
    }
  }
  return llvm::join(parts, "");
}

//===----------------------------------------------------------------------===//
// Digesting
//===----------------------------------------------------------------------===//

/// Types for parameters that have none: what most kernels take.
static std::string guessedSignature(const eval::FunctionObject &kernel, CompileOptions &options) {
  std::string signature;
  for (const ast::Parameter &parameter : kernel.params()) {
    llvm::StringRef text =
        kernel.module->source().text().slice(parameter.range.begin, parameter.range.end);
    if (text.contains("constexpr")) {
      if (!parameter.defaultValue)
        options.constexprs.emplace_back(parameter.name, "16");
      continue;
    }
    bool isCount = parameter.name.size() <= 2 ||
                   llvm::StringRef(parameter.name).contains("stride") ||
                   llvm::StringRef(parameter.name).starts_with("n_");
    signature += std::string(signature.empty() ? "" : ", ") + (isCount ? "i32" : "*fp32:16");
  }
  return signature;
}

void fuzz::digest(const std::string &text) {
  static Compiler compiler;
  frontend::SourceFile file("fuzz.tile", text);
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(file, diagnostics);
  (void)diagnostics.str();
  if (diagnostics.hasErrors())
    return;
  eval::Program program{std::vector<std::string>()};
  eval::ModuleEnv &environment = program.add(file, module);
  unsigned done = 0;
  for (const auto &kernel : environment.kernels()) {
    if (++done > 3)
      break;
    CompileOptions options;
    options.kernel = kernel->name();
    options.target = "sm_90a";
    options.stopAfter = done == 1 ? Stage::Ptx : Stage::Tile;
    CompileOptions plain = options;
    (void)compiler.compile(file, plain).diagnostics.str();
    options.signature = guessedSignature(*kernel, options);
    (void)compiler.compile(file, options).diagnostics.str();
  }
}

//===----------------------------------------------------------------------===//
// Reducing
//===----------------------------------------------------------------------===//

/// Leaves out ever smaller groups of pieces while the rest still fails.
static std::vector<std::string>
reducePieces(std::vector<std::string> pieces,
             const std::function<bool(const std::string &)> &fails) {
  for (size_t group = std::max<size_t>(pieces.size() / 2, 1);; group /= 2) {
    for (size_t at = 0; at < pieces.size();) {
      std::vector<std::string> fewer(pieces);
      fewer.erase(fewer.begin() + at, fewer.begin() + std::min(pieces.size(), at + group));
      if (fails(llvm::join(fewer, "")))
        pieces = std::move(fewer);
      else
        at += group;
    }
    if (group <= 1)
      return pieces;
  }
}

std::string fuzz::reduceText(std::string text,
                             const std::function<bool(const std::string &text)> &fails) {
  std::vector<std::string> lines;
  llvm::StringRef rest = text;
  while (!rest.empty()) {
    size_t n = std::min(rest.find('\n'), rest.size() - 1) + 1;
    lines.push_back(rest.take_front(n).str());
    rest = rest.drop_front(n);
  }
  text = llvm::join(reducePieces(std::move(lines), fails), "");
  return llvm::join(reducePieces(tokens(text), fails), "");
}
