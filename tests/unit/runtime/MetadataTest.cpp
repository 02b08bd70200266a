//===- MetadataTest.cpp - the JSON contract of compiled kernels -----------===//
#include "compiler/Compiler.h"
#include "llvm/Support/JSON.h"
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tile;
using Kind = KernelParameter::Kind;

namespace {

KernelMetadata everything() {
  KernelMetadata metadata;
  metadata.entry = "kernel";
  metadata.target = "sm_90a";
  metadata.sharedBytes = 1024;
  metadata.numWarps = 8;
  metadata.threads = 256;
  metadata.cluster[0] = 2;
  metadata.ctasPerProgram = 2;
  metadata.cooperative = true;
  metadata.registers = 40;
  auto add = [&](Kind kind) -> KernelParameter & {
    metadata.params.emplace_back().kind = kind;
    return metadata.params.back();
  };
  add(Kind::Arg).type = "ptr";
  KernelParameter &nested = add(Kind::Arg);
  nested.type = "fp16", nested.index = 3, nested.path = {1, 0};
  add(Kind::DescBase).index = 4;
  KernelParameter &shape = add(Kind::DescShape);
  shape.index = 4, shape.dim = 1, shape.type = "i32";
  KernelParameter &stride = add(Kind::DescStride);
  stride.index = 4, stride.dim = 0, stride.type = "i64";
  KernelParameter &scratch = add(Kind::Scratch);
  scratch.bytes = 4096, scratch.per = "program", scratch.zero = true;
  KernelParameter &constant = add(Kind::Const);
  constant.type = "fp32", constant.value = "0.5";
  return metadata;
}

TEST(Metadata, WritesTheContract) {
  EXPECT_EQ(everything().toJson(), R"({
  "entry": "kernel",
  "target": "sm_90a",
  "shared_bytes": 1024,
  "num_warps": 8,
  "threads": 256,
  "cluster": [
    2,
    1,
    1
  ],
  "ctas_per_program": 2,
  "cooperative": true,
  "registers": 40,
  "params": [
    {
      "index": 0,
      "kind": "arg",
      "path": [],
      "type": "ptr"
    },
    {
      "index": 3,
      "kind": "arg",
      "path": [
        1,
        0
      ],
      "type": "fp16"
    },
    {
      "dim": 0,
      "index": 4,
      "kind": "desc_base",
      "type": "ptr"
    },
    {
      "dim": 1,
      "index": 4,
      "kind": "desc_shape",
      "type": "i32"
    },
    {
      "dim": 0,
      "index": 4,
      "kind": "desc_stride",
      "type": "i64"
    },
    {
      "bytes": 4096,
      "kind": "scratch",
      "per": "program",
      "zero": true
    },
    {
      "kind": "const",
      "type": "fp32",
      "value": 0.5
    }
  ]
}
)");
}

TEST(Metadata, RegistersOnlyIfKnown) {
  KernelMetadata metadata = everything();
  metadata.registers = -1;
  EXPECT_EQ(metadata.toJson().find("registers"), std::string::npos);
}

TEST(Metadata, RoundTrips) {
  std::string text = everything().toJson(), error;
  KernelMetadata back;
  ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
  EXPECT_EQ(back.toJson(), text);
  EXPECT_EQ(back.params[1].path, (std::vector<int>{1, 0}));
  EXPECT_EQ(back.params[6].value, "0.5");
}

TEST(Metadata, MultiplesRoundTrip) {
  KernelMetadata metadata = everything(), back;
  EXPECT_EQ(metadata.toJson().find("multiple"), std::string::npos) << "of none";
  metadata.params[1].multiple = 8;
  std::string text = metadata.toJson(), error;
  ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
  EXPECT_EQ(back.params[0].multiple, 1);
  EXPECT_EQ(back.params[1].multiple, 8);
  metadata.params[1].multiple = 12;
  EXPECT_FALSE(KernelMetadata::fromJson(metadata.toJson(), back, error));
  EXPECT_NE(error.find("is not a power of two"), std::string::npos) << error;
}

TEST(Metadata, SplitsOfTheGridRoundTrip) {
  KernelMetadata metadata = everything(), back;
  metadata.programsPerBlock[1] = 3;
  metadata.programsApart = 2;
  metadata.programsGrow = true;
  metadata.fewPrograms = 4;
  metadata.gridSplits.push_back({0, 1, {{{1, {{3, {1}}}}, {63, {}}}}, 64});
  std::string text = metadata.toJson(), error;
  ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
  EXPECT_EQ(back.toJson(), text);
  EXPECT_EQ(back.programsApart, 2);
  EXPECT_TRUE(back.programsGrow);
  EXPECT_EQ(back.fewPrograms, 4);
  ASSERT_EQ(back.gridSplits.size(), 1u);
  EXPECT_EQ(back.gridSplits[0].divisor, 64);
  for (auto [axis, to, divisor] : {std::tuple(0, 0, 1), {3, 0, 1}, {0, -1, 1}, {0, 1, 0}}) {
    metadata.gridSplits[0].axis = axis, metadata.gridSplits[0].to = to;
    metadata.gridSplits[0].divisor = divisor;
    EXPECT_FALSE(KernelMetadata::fromJson(metadata.toJson(), back, error));
    EXPECT_NE(error.find("grid_splits"), std::string::npos) << error;
  }
}

LaunchSum sumOf(std::vector<LaunchSum::Term> terms) { return {std::move(terms)}; }

KernelMetadata withTensorMap() {
  KernelMetadata metadata;
  metadata.entry = "kernel";
  metadata.target = "sm_90a";
  KernelParameter &p = metadata.params.emplace_back();
  p.kind = Kind::TensorMap;
  p.index = 2, p.path = {1};
  p.map.type = "bf16";
  using Part = LaunchSum::Factor::Part;
  p.map.sizes = {sumOf({{1, {{3, {}, Part::Shape}}}}), sumOf({{2147483647, {}}}),
                 sumOf({{-2, {{4, {0, 2}}, {5, {}}}}, {7, {}}})};
  p.map.strides = {sumOf({{2, {{6, {}, Part::Stride, 1}}}}), sumOf({})};
  p.map.box = {64, 128, 1};
  p.map.swizzle = 128;
  p.map.stored = true;
  return metadata;
}

TEST(Metadata, TensorMapsAreWritten) {
  auto parsed = llvm::json::parse(withTensorMap().toJson());
  ASSERT_TRUE(bool(parsed));
  const llvm::json::Object &map = *(*parsed->getAsObject()->getArray("params"))[0].getAsObject();
  EXPECT_EQ(map, *llvm::json::parse(R"({
    "kind": "tensor_map", "index": 2, "path": [1], "type": "bf16", "rank": 3,
    "sizes": [{"sum": [{"coefficient": 1, "factors": [{"index": 3, "path": [],
                                                       "kind": "desc_shape", "dim": 0}]}]},
              2147483647,
              {"sum": [{"coefficient": -2, "factors": [{"index": 4, "path": [0, 2]},
                                                       {"index": 5, "path": []}]},
                       {"coefficient": 7, "factors": []}]}],
    "strides": [{"sum": [{"coefficient": 2, "factors": [{"index": 6, "path": [],
                                                         "kind": "desc_stride", "dim": 1}]}]}, 0],
    "box": [64, 128, 1], "element_strides": [1, 1, 1], "interleave": "none",
    "swizzle": "128B", "l2_promotion": "128B", "oob_fill": "zero", "stored": true})")
                      ->getAsObject());
}

TEST(Metadata, TensorMapsRoundTrip) {
  for (int swizzle : {0, 32, 64, 128}) {
    KernelMetadata metadata = withTensorMap(), back;
    metadata.params[0].map.swizzle = swizzle;
    std::string text = metadata.toJson(), error;
    ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
    EXPECT_EQ(back.toJson(), text);
    const TensorMap &map = back.params[0].map;
    EXPECT_EQ(map.swizzle, swizzle);
    EXPECT_EQ(map.box, (std::vector<int64_t>{64, 128, 1}));
    EXPECT_EQ(map.sizes[2].terms[0].factors[0].path, (std::vector<int>{0, 2}));
    EXPECT_EQ(map.sizes[2].terms[1].coefficient, 7);
    EXPECT_EQ(back.params[0].path, (std::vector<int>{1}));
  }
}

TEST(Metadata, TensorMapsMayBeStoredThroughUnlessTheySayThatTheyAreNot) {
  KernelMetadata metadata = withTensorMap(), back;
  metadata.params[0].map.stored = false;
  std::string text = metadata.toJson(), error;
  ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
  EXPECT_FALSE(back.params[0].map.stored);
  std::string key = "\"stored\"";
  text.replace(text.find(key), key.size(), "\"unknown\"");
  back = {};
  ASSERT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
  EXPECT_TRUE(back.params[0].map.stored);
}

TEST(Metadata, BadTensorMapsAreExplained) {
  auto errorFor = [](const char *from, const char *to) {
    std::string text = withTensorMap().toJson(), error;
    text.replace(text.find(from), std::string(from).size(), to);
    KernelMetadata back;
    EXPECT_FALSE(KernelMetadata::fromJson(text, back, error)) << text;
    return error;
  };
  using testing::HasSubstr;
  EXPECT_THAT(errorFor("\"sizes\"", "\"size\""), HasSubstr("sizes"));
  EXPECT_THAT(errorFor("\"sum\"", "\"product\""), HasSubstr("neither a number nor a sum"));
  EXPECT_THAT(errorFor("\"coefficient\"", "\"times\""), HasSubstr("coefficient"));
  EXPECT_THAT(errorFor("\"desc_shape\"", "\"desc_size\""), HasSubstr("`desc_stride`"));
  EXPECT_THAT(errorFor("64,", ""), HasSubstr("box"));
  EXPECT_THAT(errorFor("\"swizzle\": \"128B\"", "\"swizzle\": \"100B\""), HasSubstr("swizzle"));
}

TEST(Metadata, UnknownKeysAreIgnored) {
  std::string text = everything().toJson(), error;
  text.insert(text.find('{') + 1, "\"from_the_future\": [1, {}],");
  KernelMetadata back;
  EXPECT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
}

TEST(Metadata, BracketsInStringsAreNoNesting) {
  std::string text = everything().toJson(), error;
  text.insert(text.find('{') + 1, "\"note\": \"\\\"" + std::string(1000, '[') + "\",");
  KernelMetadata back;
  EXPECT_TRUE(KernelMetadata::fromJson(text, back, error)) << error;
}

TEST(Metadata, BadTextIsExplained) {
  auto errorFor = [](std::string text) {
    KernelMetadata back;
    std::string error;
    EXPECT_FALSE(KernelMetadata::fromJson(text, back, error)) << text;
    return error;
  };
  const std::string good = everything().toJson();
  auto replaced = [&](const char *from, const char *to) {
    std::string text = good;
    text.replace(text.find(from), std::string(from).size(), to);
    return text;
  };
  using testing::HasSubstr;
  EXPECT_THAT(errorFor(""), HasSubstr("not JSON"));
  EXPECT_THAT(errorFor("{"), HasSubstr("not JSON"));
  EXPECT_THAT(errorFor("[]"), HasSubstr("expected object"));
  EXPECT_THAT(errorFor(replaced("\"entry\"", "\"other\"")),
              HasSubstr("missing value at metadata.entry"));
  EXPECT_THAT(errorFor(replaced("\"threads\": 256", "\"threads\": \"many\"")),
              HasSubstr("metadata.threads"));
  EXPECT_THAT(errorFor(replaced("    2,\n    1,\n    1\n", "1, 1")), HasSubstr("three numbers"));
  EXPECT_THAT(errorFor(replaced("desc_base", "odd")), HasSubstr("metadata.params[2].kind"));
  EXPECT_THAT(errorFor(replaced("\"index\": 3", "\"index\": -3")), HasSubstr("negative"));
  EXPECT_THAT(errorFor(replaced("\"params\"", "\"p\"")), HasSubstr("metadata.params"));
  EXPECT_THAT(errorFor(replaced("\"value\": 0.5", "\"v\": 1")), HasSubstr("params[6].value"));
}

} // namespace
