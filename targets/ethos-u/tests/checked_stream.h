// A stream without mistakes for tests that break it, and what the checker then says.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "editable_stream.h"
#include "intarsia/targets/ethos_u/checker.h"

namespace intarsia::test::ethos_u {

using namespace simulators::ethos_u;

inline constexpr uint32_t kNhwc8 = 1, kNhwc16 = 1 | 1 << 2,
                          kBricks8 = 1 | 1 << 6;  // IFM_PRECISION, signed

struct Map {
  uint32_t region = 1;
  uint64_t base = 0;
  uint32_t height = 1, width = 1, depth = 1;
};

// Where things are in the arena, region 1, of 0x2000 bytes. The network's input comes first.
inline constexpr uint64_t kInput = 0, kFirst = 0x400, kSecond = 0x800, kThird = 0x900,
                          kWeights = 0x1000;
inline constexpr uint64_t kTableAddress = 22 * 1024;  // U55-128: the last two of 24 banks

inline void put_map(EditableStream& stream, const std::string& name, const Map& map) {
  const std::string set = "SET_" + name + "_";
  stream.put(set + "REGION", map.region).put_wide(set + "BASE0", map.base);
  stream.put(set + "HEIGHT0_M1", map.height - 1).put(set + "HEIGHT1_M1", map.height - 1);
  stream.put(set + "WIDTH0_M1", map.width - 1);
  stream.put_wide(set + "STRIDE_X", map.depth).put_wide(set + "STRIDE_Y", map.depth * map.width);
  stream.put_wide(set + "STRIDE_C", 1).put(set + "ZERO_POINT", 0);
}

inline void put_ofm(EditableStream& stream, const Map& map) {
  put_map(stream, "OFM", map);
  stream.put("SET_OFM_HEIGHT_M1", map.height - 1).put("SET_OFM_WIDTH_M1", map.width - 1);
  stream.put("SET_OFM_DEPTH_M1", map.depth - 1).put("SET_OFM_PRECISION", 1);
}

inline void put_ifm(EditableStream& stream, const Map& map) {
  put_map(stream, "IFM", map);
  stream.put("SET_IFM_DEPTH_M1", map.depth - 1)
      .put("SET_IFM_PRECISION", kNhwc8)
      .put("SET_IFM_UPSCALE", 0);
}

inline void put_window(EditableStream& stream, uint32_t size, uint32_t stride) {
  for (const char* side : {"TOP", "LEFT", "RIGHT", "BOTTOM"})
    stream.put(std::string("SET_IFM_PAD_") + side, 0);
  stream.put("SET_KERNEL_WIDTH_M1", size - 1).put("SET_KERNEL_HEIGHT_M1", size - 1);
  stream.put("SET_KERNEL_STRIDE", stride == 2 ? 3 : 0);
}

inline void put_block(EditableStream& stream, uint32_t width, uint32_t height, uint32_t depth,
                      uint32_t ib_end, uint32_t ab_start) {
  stream.put("SET_OFM_BLK_WIDTH_M1", width - 1).put("SET_OFM_BLK_HEIGHT_M1", height - 1);
  stream.put("SET_OFM_BLK_DEPTH_M1", depth - 1)
      .put("SET_IFM_IB_END", ib_end)
      .put("SET_AB_START", ab_start);
}

// A pointwise convolution whose weights come by DMA, a pool of what it made, and an absolute value
// through a table on top. OP commands: DMA 0, CONV, POOL, DMA 1, ELEMENTWISE.
inline EditableStream good_stream() {
  EditableStream s;
  s.put("SET_DMA0_SRC_REGION", 0).put_wide("SET_DMA0_SRC", 0x100).put("SET_DMA0_DST_REGION", 1);
  s.put_wide("SET_DMA0_DST", kWeights).put_wide("SET_DMA0_LEN", 0x200).put("OP_DMA_START");
  put_ifm(s, {1, kInput, 8, 8, 16});
  put_ofm(s, {1, kFirst, 8, 8, 16});
  put_window(s, 1, 1);
  s.put("SET_WEIGHT_REGION", 1)
      .put_wide("SET_WEIGHT_BASE", kWeights)
      .put_wide("SET_WEIGHT_LENGTH", 0x100);
  s.put("SET_SCALE_REGION", 1)
      .put_wide("SET_SCALE_BASE", kWeights + 0x100)
      .put_wide("SET_SCALE_LENGTH", 160);
  s.put("SET_ACTIVATION", 0).put("SET_ACTIVATION_MIN", 0xFF80).put("SET_ACTIVATION_MAX", 127);
  put_block(s, 8, 2, 16, 6, 14);
  s.put("SET_ACC_FORMAT", 0).put("SET_BLOCKDEP", 0).put("OP_DMA_WAIT", 0).put("OP_CONV");

  put_ifm(s, {1, kFirst, 8, 8, 16});
  put_ofm(s, {1, kSecond, 4, 4, 16});
  put_window(s, 2, 2);
  put_block(s, 4, 2, 16, 6, 14);
  s.put("SET_BLOCKDEP", 1).put("OP_POOL", 0);

  s.put_wide("SET_DMA0_SRC", 0x600)
      .put("SET_DMA0_DST_REGION", 1 << 8)
      .put_wide("SET_DMA0_DST", kTableAddress);
  s.put_wide("SET_DMA0_LEN", 256).put("OP_DMA_START");
  put_ifm(s, {1, kSecond, 4, 4, 16});
  put_ofm(s, {1, kThird, 4, 4, 16});
  s.put("SET_ACTIVATION", 16).put_wide("SET_OFM_SCALE", 1);
  put_block(s, 4, 4, 16, 22, 22);
  s.put("SET_BLOCKDEP", 0).put("OP_DMA_WAIT", 0).put("OP_ELEMENTWISE", 6);
  return s.put("OP_STOP", 0xFFFF);
}

inline FindingList check(const EditableStream& stream, const char* tag = "ethos-u55-128") {
  const Configuration& configuration = *find_configuration(tag);
  const std::vector<uint8_t> bytes = stream.bytes();
  std::vector<uint8_t> constants(0x800), arena(0x2000);
  Memory memory(configuration);
  memory.regions[0] = {constants.data(), constants.size(), false};
  memory.regions[1] = {arena.data(), arena.size(), true};
  Checker checker(configuration, bytes,
                  {[](uint32_t offset) { return offset > 0x200 ? "late" : "early"; }});
  checker.forget(1, arena.size());
  checker.set(1, kInput, 8 * 8 * 16);
  RunOptions options;
  options.execute = false;  // the weights are no weights
  checker.finish(run(bytes, configuration, memory, &checker, options));
  return checker.findings();
}

// Exactly one finding, of this kind at this command.
inline void expect_one(const EditableStream& stream, FindingKind kind, const char* operation, int n,
                       const std::string& part, const char* tag = "ethos-u55-128") {
  const FindingList findings = check(stream, tag);
  std::string all;
  for (const Finding& finding : findings.all()) all += finding.to_string() + "\n";
  ASSERT_EQ(findings.all().size(), 1u) << all;
  const Finding& finding = findings.all()[0];
  EXPECT_EQ(finding.kind, kind) << all;
  EXPECT_EQ(finding.offset, stream.offset(operation, n)) << all;
  EXPECT_TRUE(finding.command.starts_with(operation)) << all;
  EXPECT_EQ(finding.node, finding.offset > 0x200 ? "late" : "early");
  EXPECT_THAT(finding.what, testing::HasSubstr(part));
}

// This one among those that follow from the same mistake.
inline void expect_among(const EditableStream& stream, FindingKind kind, const char* operation,
                         int n, const std::string& part) {
  const FindingList findings = check(stream);
  std::string all;
  bool found = false;
  for (const Finding& finding : findings.all()) {
    all += finding.to_string() + "\n";
    found |= finding.kind == kind && finding.offset == stream.offset(operation, n) &&
             finding.what.find(part) != std::string::npos;
  }
  EXPECT_TRUE(found) << all;
}

}  // namespace intarsia::test::ethos_u
