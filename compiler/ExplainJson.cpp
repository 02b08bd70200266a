//===- ExplainJson.cpp - the report on a kernel as JSON -------------------===//
#include "compiler/Explain.h"
#include "target/Target.h"

using namespace tile;
namespace json = llvm::json;

static json::Object placed(const Explanation::Place &p) {
  json::Object object{{"line", p.line}, {"column", p.column}};
  if (p.loop >= 0)
    object["loop"] = p.loop;
  return object;
}

static json::Object workToJson(const Work &work) {
  json::Object operations;
  for (unsigned i = 0; i < kNumArithmetic; ++i)
    if (work.operations[i] > 0)
      operations[nameOf(Arithmetic(i))] = work.operations[i];
  return json::Object{{"bytes_read", work.read},
                      {"bytes_written", work.written},
                      {"sector_bytes", work.sectors},
                      {"wavefronts", work.wavefronts},
                      {"operations", std::move(operations)}};
}

static json::Object accessToJson(const Explanation::Access &a) {
  json::Object object = placed(a);
  object["kind"] = a.kind;
  object["block"] = a.block;
  object["path"] = a.path;
  object["bytes"] = a.bytes;
  if (a.path != "TMA") {
    object["vector_bytes"] = a.vectorBytes;
    object["requests"] = a.requests;
    if (a.idealSectors > 0) {
      object["sectors_per_request"] = a.sectors;
      object["ideal_sectors"] = a.idealSectors;
    }
  }
  if (!a.detail.empty())
    object["detail"] = a.detail;
  if (!a.reason.empty())
    object["why_not_tma"] = a.reason;
  if (!a.copyReason.empty())
    object["why_not_cp_async"] = a.copyReason;
  if (!a.widthReason.empty())
    object["why_not_wider"] = a.widthReason;
  return object;
}

static json::Object exchangeToJson(const Explanation::Exchange &x) {
  json::Object object = placed(x);
  object["what"] = x.what, object["block"] = x.block, object["path"] = x.path;
  object["bytes"] = x.bytes;
  if (x.wavefronts > 0)
    object["wavefronts"] = x.wavefronts, object["ideal_wavefronts"] = x.idealWavefronts;
  return object;
}

static json::Object dotToJson(const Explanation::Dot &d) {
  json::Object object = placed(d);
  object["shape"] = d.shape, object["instruction"] = d.instruction;
  object["left"] = d.left, object["right"] = d.right, object["operations"] = d.operations;
  if (!d.reason.empty())
    object["why_not_wgmma"] = d.reason;
  return object;
}

json::Value Explanation::toJson() const {
  json::Array jsonAccesses, jsonExchanges, jsonDots, jsonLoops, jsonRings, jsonRefused;
  for (const Access &a : accesses)
    jsonAccesses.push_back(accessToJson(a));
  for (const Exchange &x : exchanges)
    jsonExchanges.push_back(exchangeToJson(x));
  for (const Dot &d : dots)
    jsonDots.push_back(dotToJson(d));
  for (const auto &[wish, why] : refused)
    jsonRefused.push_back(json::Object{{"not", wish}, {"why", why}});
  for (const Loop &l : loops) {
    json::Object object = placed(l);
    object["trips"] = l.trips ? json::Value(*l.trips) : json::Value(nullptr);
    object["each"] = workToJson(l.each);
    jsonLoops.push_back(std::move(object));
  }
  for (const Ring &r : rings)
    jsonRings.push_back(
        json::Object{{"stages", r.stages}, {"wanted", r.wanted}, {"stage_bytes", r.bytes}});
  auto orNull = [](int n) { return n >= 0 ? json::Value(n) : json::Value(nullptr); };
  json::Object root{{"entry", metadata.entry},
                    {"target", metadata.target},
                    {"threads", metadata.threads},
                    {"warps", consumerWarps},
                    {"producer_warps", producerWarps},
                    {"groups", groups},
                    {"registers", orNull(registers)},
                    {"spill_bytes", orNull(spillBytes)},
                    {"shared_bytes", metadata.sharedBytes},
                    {"pipelines", std::move(jsonRings)},
                    {"held_back", std::move(jsonRefused)},
                    {"accesses", std::move(jsonAccesses)},
                    {"products", std::move(jsonDots)},
                    {"exchanges", std::move(jsonExchanges)},
                    {"loops", std::move(jsonLoops)},
                    {"outside_loops", workToJson(outside)}};
  json::Object multiples;
  for (const auto &[name, multiple] : wantedMultiples)
    multiples[name] = multiple;
  if (!multiples.empty())
    root["wanted_multiples"] = std::move(multiples);
  if (!fromEnd.empty())
    root["from_end"] = json::Array(fromEnd);
  if (roleRegisters.size() == 2)
    root["role_registers"] = json::Array{roleRegisters[0], roleRegisters[1]};
  if (!assemblerError.empty())
    root["assembler_error"] = assemblerError;
  if (!device)
    return root;
  root["device"] = device->name;
  if (occupancy)
    root["occupancy"] =
        json::Object{{"programs", occupancy->programs}, {"limit", occupancy->limit}};
  json::Object times;
  for (const auto &[name, time] : seconds)
    times[name] = time;
  root["bound"] = json::Object{{"loop", orNull(scopeLoop)},
                               {"work", workToJson(scope)},
                               {"seconds", boundSeconds},
                               {"by", std::move(times)}};
  root["limit"] = limit;
  return root;
}
