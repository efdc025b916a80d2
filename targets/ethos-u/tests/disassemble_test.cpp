// The disassembler on streams written by hand, and on Vela's.
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "recorded_data.h"

namespace intarsia::targets::ethos_u {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::ethos_u {
namespace {

using testing::HasSubstr;
using testing::Not;

std::optional<Result<std::string>> disassemble(std::span<const uint8_t> bytes) {
  TargetRegistry registry;
  targets::ethos_u::add_kinds(registry);
  return registry.kind("ethos-u").disassemble(bytes);
}

std::vector<uint8_t> bytes_of(const std::vector<uint32_t>& words) {
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words)
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  return bytes;
}

std::string text_of(const std::vector<uint32_t>& words) {
  const auto result = disassemble(bytes_of(words));
  if (!result) return "nothing";
  return result->ok() ? **result : result->error().to_string();
}

constexpr uint32_t kStop = 0xFFFF0000;

TEST(Disassemble, APlainStreamFieldByField) {
  const std::string text = text_of({0x00160122,  // strides 1 and 2, part kernel first, dilated in y
                                    0x02400122,  // strides of 3: the upper bits
                                    0x81450114,  // S32 bricks, global scale, round NATURAL
                                    0xFF800109,  // zero point -128
                                    0x00024025, 0x00004000,  // OPA_SCALE
                                    0x00124000, 0x89ABCDEF,  // IFM_BASE0, 40 bits
                                    0x00FF4015, 0xFFFFFFC0,  // OFM_STRIDE_Y, below zero
                                    0x00870180,              // scalar, broadcast everywhere
                                    0x00020005,              // reduce sum
                                    0x00010012, kStop});
  EXPECT_THAT(text,
              HasSubstr("000000: 00160122           SET_KERNEL_STRIDE      stride_x=1 stride_y=2 "
                        "PART_KERNEL_FIRST dilation_x=1 dilation_y=2 D8X8\n"));
  EXPECT_THAT(text, HasSubstr("stride_x=3 stride_y=3 DEPTH_FIRST"));
  EXPECT_THAT(text, HasSubstr("SET_OFM_PRECISION      SIGNED B32 NHCWB16 GLOBAL NATURAL\n"));
  EXPECT_THAT(text, HasSubstr("zero_point=-128\n"));
  EXPECT_THAT(text, HasSubstr("000010: 00024025 00004000  SET_OPA_SCALE          16384 shift=2\n"));
  EXPECT_THAT(text, HasSubstr("000018: 00124000 89abcdef  SET_IFM_BASE0          0x1289abcdef\n"));
  EXPECT_THAT(text, HasSubstr("SET_OFM_STRIDE_Y       -64\n"));
  EXPECT_THAT(text, HasSubstr("broadcast_h broadcast_w broadcast_c ORDER_B broadcast_constant\n"));
  EXPECT_THAT(text, HasSubstr("OP_POOL                REDUCE_SUM ; reduce_sum pool "));
  EXPECT_THAT(text, HasSubstr("OP_KERNEL_WAIT         n=1\n"));
  EXPECT_THAT(text, HasSubstr("OP_STOP                mask=65535\n"));
}

TEST(Disassemble, OtherBytesAreNotItsOwn) {
  EXPECT_EQ(text_of({}), "nothing");
  EXPECT_EQ(text_of({0x00000130}), "nothing");         // no OP_STOP
  EXPECT_EQ(text_of({0x000003FF, kStop}), "nothing");  // no such code
  EXPECT_EQ(text_of({0xFFFF0011, kStop}), "nothing");  // bits that no field names
  EXPECT_FALSE(disassemble(std::vector<uint8_t>(7, 0)).has_value());
}

constexpr uint32_t kMagic = 0x31504F43;

TEST(Disassemble, PayloadsSayForWhomAndPrintEvenWhatNobodyKnows) {
  const std::string text = text_of({kMagic, 0x00100001, 0x10003009, 0x10060000, 5, 5, 5, 0x00030002,
                                    0x000003FF, kStop, 0x00010012});
  EXPECT_THAT(
      text,
      HasSubstr("stream of 3 words for ethos-u65-512, 48 KiB of SHRAM, architecture 1.0.6\n"));
  EXPECT_THAT(text, HasSubstr("000000: 000003ff           unknown\n"));
  EXPECT_THAT(text, HasSubstr("OP_KERNEL_WAIT         n=1  ; behind OP_STOP\n"));
  EXPECT_THAT(
      text_of({kMagic, 0x00100001, 0x30004008, 0x20000000, 0x00020002, 0x00004000, 0}),
      HasSubstr("an NPU of product number 3 with 256 MACs, 64 KiB of SHRAM, architecture 2.0.0"));
}

// A file of TFLite with two payloads, the second behind bytes that are none.
TEST(Disassemble, EveryPayloadOfAFileBeginsALine) {
  constexpr uint32_t kTflite = 0x334C4654;
  const std::string text =
      text_of({0, kTflite, kMagic, 0x00100001, 0x10003009, 0x10060000, 0x00010002, kStop, 7, kMagic,
               0x00100001, 0x10003009, 0x10060000, 0x00020002, 0x00010012, kStop});
  EXPECT_THAT(text, testing::StartsWith("operator 0 of kind ethos-u, payload at byte 0x8: "));
  EXPECT_THAT(text, HasSubstr("\noperator 1 of kind ethos-u, payload at byte 0x24: "));
  EXPECT_THAT(text, Not(HasSubstr("operator 2")));
}

// The driver's payload in its second form.
TEST(Disassemble, PayloadsOfBothForms) {
  std::vector<uint32_t> words = {0x32504F43, 1,          56, 0,          1,          48,
                                 36,         0x4D554556, 1,  20,         0x10003009, 0x10066001,
                                 1,          0,          0,  0xFFFFFFFF, 0x00010012, kStop};
  EXPECT_EQ(text_of(words),
            "stream of 2 words for ethos-u65-512, 48 KiB of SHRAM, architecture 1.0.6\n"
            "000000: 00010012           OP_KERNEL_WAIT         n=1\n"
            "000004: ffff0000           OP_STOP                mask=65535\n\n");
  words.pop_back();
  EXPECT_THAT(text_of(words), HasSubstr("cut short: it announces 18 words and ends after 17"));
  EXPECT_THAT(text_of({0x32504F43, 1}), HasSubstr("ends before it says for which device it is"));
}

TEST(Disassemble, BrokenPayloadsAreNamed) {
  EXPECT_THAT(text_of({kMagic}), HasSubstr("the payload has no command stream"));
  EXPECT_THAT(text_of({kMagic, 0x00100001, 0}), HasSubstr("ends inside its configuration"));
  EXPECT_THAT(text_of({kMagic, 0x00090002, kStop}),
              HasSubstr("announces a stream of 9 words and ends after 1"));
  EXPECT_THAT(text_of({kMagic, 0x00000077}),
              HasSubstr("word 1 of the payload, 0x00000077, is no action"));
  EXPECT_THAT(text_of({kMagic, 0x00010002, 0x00004000}), HasSubstr("cut off before its payload"));
}

// Offsets, words and fields as an independent decoder reads them.
struct KnownFile {
  std::filesystem::path path;
  int words = 0, commands = 0;
  std::vector<std::string> lines;
};

class KnownStreams : public ::testing::TestWithParam<KnownFile> {};

TEST_P(KnownStreams, ReadAsTheyWereMeant) {
  const auto result = disassemble(read_bytes(GetParam().path));
  ASSERT_TRUE(result && result->ok());
  const std::string& text = **result;
  EXPECT_THAT(text, HasSubstr("stream of " + std::to_string(GetParam().words) +
                              " words for ethos-u55-128, 24 KiB of SHRAM, architecture 1.0.6"));
  // One line a command, which begins with its offset.
  int lines = 0;
  for (size_t at = text.find('\n'); at + 9 < text.size(); at = text.find('\n', at + 1))
    lines += text.compare(at + 7, 2, ": ") == 0;
  EXPECT_EQ(lines, GetParam().commands);
  for (const std::string& line : GetParam().lines) EXPECT_THAT(text, HasSubstr(line));
}

std::vector<KnownFile> known_files() {
  constexpr char kName[] = "ethos-u55-128-Shared_Sram-Performance";
  std::vector<KnownFile> files = {
      {vela_stream(golden_folder(), std::string("separable_s8/") + kName),
       1041,
       716,
       {"000020: 00000010           OP_DMA_START           ; 0:0x12f0 -> 1:0x500, 720 bytes\n",
        "000148: 00000002           OP_CONV                ; conv 32x10x4 S8 NHWC 1:0x0 -> "
        "16x10x16 S8 NHCWB16 1:0xa00, window 5x2 stride 2x1, weights 1:0x5a0 560 bytes\n",
        "0001d8: 00000003           OP_DEPTHWISE           ; depthwise 16x10x16 S8 NHCWB16 1:0xa00 "
        "-> 16x10x16 S8 NHCWB16 1:0x0, window 3x3, weights 1:0x14a0 192 bytes\n",
        "00086c: 001f4024 00000001  SET_OFM_SCALE          1 shift=31\n",
        "000a44: 01030131           SET_DMA0_DST_REGION    region=3 INTERNAL D1\n",
        "000a58: 00000010           OP_DMA_START           ; 0:0xe50 -> shram:0x5800, 1024 bytes\n",
        "000ab0: 30100125           SET_ACTIVATION         TABLE_0 FORCE_INT8\n",
        "000af4: 00020006           OP_ELEMENTWISE         SUB ; sub 1x1x12 S8 NHWC 1:0x40 -> "
        "1x1x12 S32 NHCWB16 1:0x0, with 1x1x1 S8 NHCWB16 1:0x50\n",
        "001040: ffff0000           OP_STOP                mask=65535\n"}}};
  const auto kws = vela_stream(shared_folder(), std::string("kws_ref_model/") + kName);
  if (std::filesystem::exists(kws))
    files.push_back(
        {kws,
         829,
         578,
         {"000020: 00000010           OP_DMA_START           ; 0:0x1ba0 -> 1:0x2e20, 1120 bytes\n",
          "000148: 00000002           OP_CONV                ; conv 49x5x2 S8 NHWC 1:0x1f40 -> "
          "25x5x16 S8 NHCWB16 1:0x0, window 10x3 stride 2x1, weights 1:0x2ec0 960 bytes\n",
          "000238: 00000003           OP_DEPTHWISE           ; depthwise 25x5x64 S8 NHCWB16 1:0x0 "
          "-> 25x5x64 S8 NHCWB16 1:0x1f40, window 3x3, weights 1:0x4100 688 bytes\n",
          "0005c0: 00264024 83126e98  SET_OFM_SCALE          2199023256 shift=38\n",
          "0006cc: 01030131           SET_DMA0_DST_REGION    region=3 INTERNAL D1\n",
          "0006e0: 00000010           OP_DMA_START           ; 0:0x1700 -> shram:0x5800, 1024 "
          "bytes\n",
          "000738: 30100125           SET_ACTIVATION         TABLE_0 FORCE_INT8\n",
          "0007a4: 00020006           OP_ELEMENTWISE         SUB ; sub 1x1x12 S8 NHWC 1:0x40 -> "
          "1x1x12 S32 NHCWB16 1:0x0, with 1x1x1 S8 NHCWB16 1:0x50\n",
          "000cf0: ffff0000           OP_STOP                mask=65535\n"}});
  return files;
}

INSTANTIATE_TEST_SUITE_P(Recorded, KnownStreams, ::testing::ValuesIn(known_files()),
                         [](const auto& info) { return stream_test_name(info.param.path); });

class VelaFiles : public ::testing::TestWithParam<std::filesystem::path> {};

TEST_P(VelaFiles, HoldNothingUnknown) {
  const std::vector<uint8_t> bytes = read_bytes(GetParam());
  const auto result = disassemble(bytes);
  // Vela left some models to the CPU.
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (all.find("ethos-u") == std::string_view::npos) {
    EXPECT_FALSE(is_own(GetParam()));
    EXPECT_FALSE(result.has_value());
    return;
  }
  ASSERT_TRUE(result && result->ok());
  EXPECT_THAT(**result, Not(HasSubstr("unknown")));
  EXPECT_THAT(**result, Not(HasSubstr("undefined")));
  EXPECT_THAT(**result, Not(HasSubstr("?")));
  EXPECT_THAT(**result, Not(HasSubstr("behind OP_STOP")));
  EXPECT_THAT(**result, HasSubstr("for " + stream_tag(GetParam()) + ","));
}

INSTANTIATE_TEST_SUITE_P(Recorded, VelaFiles, ::testing::ValuesIn(vela_streams()),
                         [](const auto& info) { return stream_test_name(info.param); });

}  // namespace
}  // namespace intarsia::test::ethos_u
