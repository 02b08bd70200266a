//===- LaunchWatch.cpp - launches that are counted, timed, waited for -----===//
#include "runtime/LaunchWatch.h"
#include "runtime/Memory.h"
#include "text/Format.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/SmallString.h"
#include <cstring>

using namespace tile;
using namespace tile::runtime;
using Kind = KernelParameter::Kind;

/// The bytes of an argument as a number of its type.
static std::string valueText(llvm::StringRef type, const void *bytes) {
  uint64_t bits = 0;
  unsigned size = parameterBytes(type);
  std::memcpy(&bits, bytes, size);
  if (type == "ptr")
    return formatted("{:#x}", bits);
  if (type == "fp32" || type == "fp64" || type == "fp16" || type == "bf16") {
    llvm::APFloat number(type == "fp64"   ? llvm::APFloat::IEEEdouble()
                         : type == "fp32" ? llvm::APFloat::IEEEsingle()
                         : type == "fp16" ? llvm::APFloat::IEEEhalf()
                                          : llvm::APFloat::BFloat(),
                         llvm::APInt(size * 8, bits));
    llvm::SmallString<32> text;
    number.toString(text);
    return text.str().str();
  }
  if (type.starts_with("i") && size < 8)
    bits = uint64_t(llvm::SignExtend64(bits, size * 8));
  return type.starts_with("i") ? std::to_string(int64_t(bits)) : std::to_string(bits);
}

static std::string argumentsText(const KernelMetadata &metadata,
                                 llvm::ArrayRef<const void *> arguments) {
  std::string text;
  for (const KernelParameter &parameter : metadata.params) {
    if (parameter.kind != Kind::Arg || !parameter.path.empty() ||
        size_t(parameter.index) >= arguments.size() || !arguments[parameter.index])
      continue;
    text += formatted("{}{}: {} {}", text.empty() ? "" : ", ", parameter.index, parameter.type,
                      valueText(parameter.type, arguments[parameter.index]));
  }
  return text;
}

/// "add.tile:12", where the first instruction of a kernel comes from; empty if its PTX
/// does not say.
static std::string sourceOf(llvm::StringRef ptx) {
  size_t at = ptx.find("\t.loc");
  llvm::StringRef rest = at == llvm::StringRef::npos ? "" : ptx.drop_front(at + 5).ltrim();
  unsigned file = 0, line = 0;
  if (rest.consumeInteger(10, file) || (rest = rest.ltrim()).consumeInteger(10, line))
    return "";
  std::string start = formatted(".file\t{} \"", file);
  at = ptx.find(start);
  if (at == llvm::StringRef::npos)
    return "";
  llvm::StringRef name =
      ptx.drop_front(at + start.size()).take_until([](char c) { return c == '"'; });
  return formatted("{}:{}", name, line);
}

llvm::Error runtime::waitFor(const LoadedKernel &loaded, cuda::Stream stream,
                             const uint32_t grid[3], llvm::ArrayRef<const void *> arguments) {
  const cuda::CudaApi &api = loaded.context()->api();
  cuda::CaptureStatus capture = cuda::CaptureStatus::None;
  if (api.cuStreamIsCapturing(stream, &capture) == cuda::Result::Success &&
      capture != cuda::CaptureStatus::None)
    return llvm::Error::success(); // nothing runs yet
  llvm::Error error = synchronize(*loaded.context(), stream);
  if (!error)
    return llvm::Error::success();
  ErrorParts parts = takeError(std::move(error));
  std::string text =
      formatted("`{}` fails on the device: {}", loaded.metadata().entry, parts.message);
  if (grid)
    text += formatted("\n  grid: {} x {} x {} programs", grid[0], grid[1], grid[2]);
  if (std::string values = argumentsText(loaded.metadata(), arguments); !values.empty())
    text += formatted("\n  arguments (entry of the signature: type value): {}", values);
  if (std::string source = sourceOf(loaded.compiled().ptx); !source.empty())
    text += formatted("\n  source: {}", source);
  text += "\n  the context cannot be used any more; `tilec test FILE --device emu` finds what a "
          "kernel does wrong, with its line, and so does compute-sanitizer around this program";
  return makeError(parts.code, text, parts.result);
}

llvm::Error runtime::noteLaunch(const CompileService &service, const LoadedKernel &loaded,
                                double start, llvm::Error error) {
  if (!service.observer().wantsLaunches())
    return error;
  Event event;
  event.kind = Event::Kind::Launch;
  event.kernel = loaded.metadata().entry;
  event.key = loaded.compiled().key;
  event.variant = loaded.compiled().variant;
  event.start = start;
  event.duration = Observer::now() - start;
  std::optional<ErrorParts> parts;
  if (error) {
    parts = takeError(std::move(error));
    event.status = static_cast<int>(parts->code);
    event.message = parts->message;
  }
  service.observer().note(event);
  return parts ? makeError(parts->code, parts->message, parts->result) : llvm::Error::success();
}
