//===- HostFunctions.cpp - random host functions ----------------------------===//
//
// Every statement stands in a `try`, so that the next one runs whatever came of
// it; tensors that were made are what later statements work on. What is looked
// for are accesses outside of memory, overflow and values out of range: build
// with AddressSanitizer and UBSan to see them.
//
//===----------------------------------------------------------------------===//
#include "tests/fuzz/HostFunctions.h"
#include "frontend/Parser.h"
#include "runtime/host/Suite.h"
#include "llvm/ADT/StringExtras.h"
#include <random>

using namespace tile;
using namespace tile::fuzz;

static constexpr const char *imports = R"(
import math
import tile
import triton
import triton.language as tl
from triton.tools.tensor_descriptor import TensorDescriptor

@triton.jit
def move(x, y, n, B: tl.constexpr):
    i = tl.program_id(0) * B + tl.arange(0, B)
    tl.store(y + i, tl.load(x + i * n, i < 1000).to(y.dtype.element_ty), i < n)

@triton.jit
def through(d, y, B: tl.constexpr):
    tl.store(y + tl.arange(0, B), tl.sum(d.load([0, 0]), 1))

)";
static constexpr const char *prelude = R"(@tile.test
def test():
    t0 = tile.arange(24)
    t1 = tile.randn((2, 3, 4))
    t2 = tile.tensor([True, False, True])
)";

namespace {

class HostProgram {
public:
  explicit HostProgram(uint64_t seed) : random(seed) {}

  std::string write() {
    std::string text = imports;
    unsigned functions = below(4);
    for (unsigned k = 0; k < functions; ++k)
      text += function("f" + std::to_string(k));
    text += prelude;
    for (unsigned left = 6 + below(18); left > 0; --left)
      text += "    try:\n        " + statement() + "\n    except Exception as e:\n        pass\n";
    static constexpr const char *args[] = {
        "tile.arange(24), tile.randn((3, 24)), tile.arange(24, dtype=tl.int64)",
        "tile.randn(5), tile.randn((0, 5)), tile.arange(5) > 2",
        "tile.randn(1, dtype=tl.float16), tile.randn((7, 1)), tile.arange(1)", "t0, t1, t2"};
    for (unsigned k = 0; k < functions; ++k) // last: what is not supported ends all
      text += "    try:\n        print(f" + std::to_string(k) + "(" + any(args) +
              "))\n    except Exception as e:\n        pass\n";
    return text;
  }

private:
  unsigned below(unsigned end) { return unsigned(random() % end); }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <size_t n> std::string any(const char *const (&choices)[n]) { return choices[below(n)]; }

  /// A size, an index, a stride: mostly a sane one.
  std::string number() {
    static constexpr const char *small[] = {"0", "1", "2", "3", "4", "5", "7", "-1", "-2", "24"};
    static constexpr const char *large[] = {
        "16",         "100",           "1 << 16",       "1 << 20", "-(1 << 20)",
        "1 << 31",    "(1 << 31) - 1", "-(1 << 31)",    "1 << 32", "(1 << 32) + 1",
        "1 << 40",    "1 << 60",       "1 << 61",       "1 << 62", "(1 << 63) - 1",
        "-(1 << 63)", "1 << 63",       "(1 << 64) - 1", "1 << 64", "-(1 << 64)",
        "1 << 100",   "True",          "None",          "1.5",     "math.nan",
        "1e300",      "-math.inf",     "'a'",           "t0",      "t2"};
    return oneIn(6) ? "(" + any(large) + ")" : any(small);
  }
  std::string numbers(unsigned least, unsigned most) {
    std::string text = "(";
    for (unsigned left = least + below(most - least + 1); left > 0; --left)
      text += number() + ", ";
    return text + ")";
  }
  std::string shape() { return oneIn(4) ? number() : numbers(0, 4); }
  std::string tensor() { return "t" + std::to_string(below(names)); }
  std::string dtype() {
    static constexpr const char *types[] = {"int1",    "int8",     "int16",      "int32",
                                            "int64",   "uint8",    "uint16",     "uint32",
                                            "uint64",  "float16",  "bfloat16",   "float32",
                                            "float64", "float8e5", "float8e4nv", "float8e4b15"};
    return "tl." + any(types);
  }
  std::string withType() { return oneIn(2) ? ", dtype=" + dtype() : ""; }
  /// A tensor, or a number.
  std::string operand() { return oneIn(4) ? number() : tensor(); }
  std::string axis() { return oneIn(3) ? "None" : number(); }

  std::string slice() {
    auto part = [&] { return oneIn(2) ? "" : number(); };
    std::string text = part() + ":" + part();
    return oneIn(2) ? text + ":" + part() : text;
  }
  std::string index() {
    std::string text;
    for (unsigned left = 1 + below(4); left > 0; --left) {
      static constexpr const char *rare[] = {"None", "...", "t2", "t0"};
      text += (text.empty() ? "" : ", ") + (oneIn(5) ? any(rare) : oneIn(2) ? slice() : number());
    }
    return text;
  }

  std::string creation() {
    switch (below(11)) {
    case 0:
      return "tile.zeros(" + shape() + withType() + ")";
    case 1:
      return "tile.full(" + shape() + ", " + number() + withType() + ")";
    case 2:
      return "tile.empty(" + shape() + withType() + ")";
    case 3:
      return "tile.empty_strided(" + numbers(1, 3) + ", " + numbers(1, 3) + withType() + ")";
    case 4:
      return "tile.arange(" + number() + ", " + number() + ", " + number() + withType() + ")";
    case 5:
      return "tile.randn(" + shape() + withType() + ", seed=" + number() + ")";
    case 6:
      return "tile.randint(" + number() + ", " + number() + ", " + shape() + withType() + ")";
    case 7:
      return "tile.special(" + shape() + withType() + ")";
    case 8:
      return "tile.randperm(" + number() + withType() + ")";
    case 9:
      return "tile.philox(" + number() + ", " + operand() + ")";
    default:
      return "tile.tensor([" + numbers(1, 3) + ", " + numbers(1, 3) + "]" + withType() + ")";
    }
  }

  std::string view() {
    std::string x = tensor();
    switch (below(13)) {
    case 0:
      return x + ".as_strided(" + numbers(1, 3) + ", " + numbers(1, 3) + ", " + number() + ")";
    case 1:
      return x + ".reshape(" + shape() + ")";
    case 2:
      return x + ".view(" + (oneIn(2) ? dtype() : shape()) + ")";
    case 3:
      return x + ".T";
    case 4:
      return x + ".permute(" + numbers(1, 3) + ")";
    case 5:
      return x + ".transpose(" + number() + ", " + number() + ")";
    case 6:
      return x + ".unsqueeze(" + number() + ")";
    case 7:
      return x + ".squeeze(" + (oneIn(2) ? "" : number()) + ")";
    case 8:
      return x + ".expand(" + shape() + ")";
    case 9:
      return x + ".flatten()";
    default:
      return x + "[" + index() + "]";
    }
  }

  std::string elementwise() {
    static constexpr const char *binary[] = {"+", "-", "*",  "/",  "//", "%",  "**", "&",
                                             "|", "^", "<<", ">>", "<",  "==", "@",  "!="};
    static constexpr const char *unary[] = {"abs",    "exp",   "log",     "sqrt",        "floor",
                                            "round",  "sign",  "neg",     "relu",        "square",
                                            "lgamma", "isnan", "sigmoid", "logical_not", "trunc"};
    static constexpr const char *pairs[] = {"maximum", "minimum", "fmax", "fmin",
                                            "fmod",    "atan2",   "pow"};
    switch (below(5)) {
    case 0:
    case 1:
      return operand() + " " + any(binary) + " " + tensor();
    case 2:
      return "tile." + any(unary) + "(" + operand() + ")";
    case 3:
      return "tile." + any(pairs) + "(" + operand() + ", " + operand() + ")";
    default:
      return oneIn(2) ? "tile.where(" + operand() + ", " + operand() + ", " + operand() + ")"
                      : "tile.clamp(" + operand() + ", " + number() + ", " + number() + ")";
    }
  }

  std::string reduction() {
    static constexpr const char *reductions[] = {"sum",    "prod",   "max", "min",
                                                 "mean",   "var",    "std", "any",
                                                 "argmax", "argmin", "all", "logsumexp"};
    static constexpr const char *along[] = {"softmax", "log_softmax", "cumsum",
                                            "cumprod", "cummax",      "cummin",
                                            "sort",    "argsort",     "flip"};
    if (oneIn(2))
      return tensor() + "." + any(along) + "(" + number() + ")";
    return tensor() + "." + any(reductions) + "(" + (oneIn(3) ? numbers(1, 3) : axis()) +
           (oneIn(2) ? ", keepdim=True)" : ")");
  }

  std::string rearrangement() {
    switch (below(9)) {
    case 0:
      return "tile.cat([" + tensor() + ", " + tensor() + "], " + number() + ")";
    case 1:
      return "tile.stack([" + tensor() + ", " + tensor() + "], " + number() + ")";
    case 2:
      return "tile.gather(" + tensor() + ", " + tensor() + ", " + number() + ")";
    case 3:
      return "tile.take(" + tensor() + ", " + operand() + ")";
    case 4:
      return "tile.one_hot(" + operand() + ", " + number() + ")";
    case 5:
      return "tile.broadcast_to(" + tensor() + ", " + shape() + ")";
    case 6:
      return "tile.bincount(" + operand() + ", " + number() + ")";
    case 7:
      return "tile.tril(" + tensor() + ", " + number() + ")";
    default:
      return oneIn(2) ? tensor() + ".to(" + dtype() + ")" : tensor() + ".contiguous()";
    }
  }

  /// A call by name: of T, a tensor; N, a number; A, an axis or None; S, a shape.
  std::string named() {
    static constexpr const char *calls[] = {
        "tile.pad(T, [(N, N), (N, N)], N)",
        "tile.roll(T, N, A)",
        "T.repeat(N, N)",
        "tile.tile(T, (N, N))",
        "tile.repeat_interleave(T, N, A)",
        "tile.meshgrid(T, T)[0]",
        "tile.linspace(N, N, N)",
        "tile.logspace(N, N, N)",
        "tile.eye(N)",
        "tile.chunk(T, N, N)[0]",
        "tile.split(T, N, N)[0]",
        "tile.unbind(T, N)[0]",
        "tile.narrow(T, N, N, N)",
        "tile.select(T, N, N)",
        "tile.diff(T, N, N)",
        "tile.diagonal(T, N)",
        "tile.diag_embed(T)",
        "tile.diag(T, N)",
        "tile.trace(T)",
        "tile.rot90(T, N)",
        "tile.scatter(T, N, T, T)",
        "tile.scatter_add(T, N, T, T)",
        "tile.index_add(T, N, T, T)",
        "tile.index_fill(T, N, T, N)",
        "tile.index_select(T, N, T)",
        "tile.embedding(T, T)",
        "tile.topk(T, N, N)[0]",
        "tile.kthvalue(T, N, N)",
        "tile.quantile(T, N, A)",
        "tile.median(T, A)",
        "tile.searchsorted(T, T)",
        "tile.bucketize(T, T)",
        "tile.einsum('ab,bc->ac', T, T)",
        "tile.einsum('ab,ab->', T, T)",
        "tile.einsum('aa->a', T)",
        "tile.einsum('...a,...a->...', T, T)",
        "tile.kron(T, T)",
        "tile.outer(T, T)",
        "tile.vander(T, N)",
        "tile.tensordot(T, T, N)",
        "tile.cross(T, T)",
        "tile.cdist(T, T)",
        "tile.max_pool2d(T, N, N, N)",
        "tile.avg_pool1d(T, N, N, N)",
        "tile.adaptive_avg_pool2d(T, N)",
        "tile.pixel_shuffle(T, N)",
        "tile.interpolate(T, N)",
        "tile.conv1d(T, T, stride=N, padding=N, dilation=N)",
        "tile.conv2d(T, T, stride=N, padding=(N, N), dilation=N, groups=N)",
        "tile.group_norm(T, N)",
        "tile.layer_norm(T)",
        "tile.glu(T, N)",
        "tile.norm(T, N, A)",
        "T.unflatten(N, S)",
        "tile.movedim(T, N, N)",
        "T.flatten(N, N)",
        "tile.cross_entropy(T, T)",
        "tile.nll_loss(T, T)",
        "tile.rope(T, T, T)",
        "tile.scaled_dot_product_attention(T, T, T)",
        "tile.dropout(T, N)",
        "tile.masked_fill(T, T, N)",
    };
    std::string text;
    std::string call = any(calls);
    for (size_t i = 0; i < call.size(); ++i) {
      bool isPlace = (i == 0 || !llvm::isAlnum(call[i - 1])) &&
                     (i + 1 == call.size() || !llvm::isAlnum(call[i + 1]));
      char what = isPlace ? call[i] : ' ';
      text += what == 'T'   ? tensor()
              : what == 'N' ? number()
              : what == 'A' ? axis()
              : what == 'S' ? shape()
                            : std::string(1, call[i]);
    }
    return text;
  }

  /// A function of whole tensors: what goes wrong ends it, so that it does little.
  std::string function(const std::string &name) {
    std::string text = "@tile.function\ndef " + name +
                       "(t0: tensor[\"N\"], t1: tensor[\"M, N\"], t2: tensor[\"N\"]):\n";
    for (unsigned left = 1 + below(2); left > 0; --left) {
      std::string made = value();
      text += "    t" + std::to_string(names++) + " = " + made + "\n";
    }
    text += "    return t" + std::to_string(names - 1) + "\n\n";
    names = 3;
    return text;
  }

  std::string value() {
    switch (below(8)) {
    case 0:
      return creation();
    case 1:
    case 2:
      return view();
    case 3:
      return elementwise();
    case 4:
      return reduction();
    case 5:
      return rearrangement();
    default:
      return named();
    }
  }

  std::string launch() {
    static constexpr const char *grids[] = {"0", "1", "2", "3", "-1", "1 << 40", "(1, 2)"};
    if (oneIn(3))
      return "through[1](TensorDescriptor(" + tensor() + ", " + numbers(2, 2) + ", (" + number() +
             ", 1), (4, 4)), " + tensor() + ", B=4)";
    return "move[" + any(grids) + "](" + tensor() + ", " + tensor() + ", " + number() +
           ", B=" + (oneIn(4) ? number() : "16") + ")";
  }

  std::string statement() {
    switch (below(16)) {
    case 0:
    case 1:
      return tensor() + "[" + index() + "] = " + operand();
    case 2:
      return launch();
    case 3:
      return "tile.copy(" + tensor() + ", " + tensor() + ")";
    case 4: {
      static constexpr const char *facts[] = {"tolist()", "item()", "stride(1)", "size(0)",
                                              "nbytes",   "numel",  "shape",     "data_ptr()"};
      return "print(" + tensor() + "." + any(facts) + ")";
    }
    case 5:
      return "print(" + tensor() + ", [row for row in " + tensor() + "])";
    case 6:
      return "tile.check(" + tensor() + ", " + operand() + ")";
    case 7:
      return "print(list(range(" + number() + ", " + number() + ", " + number() + "))[" + slice() +
             "], range(" + number() + ")[" + slice() + "], 'a\u00e4b'[" + slice() + "])";
    default:
      std::string target = oneIn(3) ? tensor() : "t" + std::to_string(names++);
      return target + " = " + value();
    }
  }

  std::mt19937_64 random;
  unsigned names = 3; ///< of tensors; a statement that failed has made none
};

} // namespace

std::string fuzz::hostProgram(uint64_t seed) { return HostProgram(seed).write(); }

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

std::string fuzz::runHostFunctions(const std::string &text) {
  frontend::SourceFile file("host.tile", text);
  frontend::DiagnosticEngine diagnostics;
  ast::Module module = frontend::parse(file, diagnostics);
  if (diagnostics.hasErrors())
    return "";
  runtime::CpuDeviceOptions options;
  options.threads = 1;
  options.launchLimit = 100'000'000;
  std::unique_ptr<runtime::Device> device = runtime::createCpuDevice(options);
  eval::Program program;
  program.evaluator().limits.steps = 1 << 20;
  host::Session session(*device, {});
  session.hostContext()->memory.limit = 2 << 20;
  host::Suite suite(program, program.add(file, module), session);
  host::SuiteObserver observer;
  std::vector<host::FunctionResult> results;
  if (suite.run(host::Purpose::Test, {}, {}, observer, results))
    return "";
  // Tensors are released while the test ends; their guards say what was written beside them.
  for (const host::FunctionResult &function : results)
    for (const host::CaseResult &result : function.cases)
      if (result.error &&
          llvm::StringRef(result.error->diagnostic.message).starts_with("something wrote"))
        return result.error->diagnostic.message;
  return "";
}
