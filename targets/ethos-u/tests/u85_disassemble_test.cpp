// Streams for the Ethos-U85 as text: written by hand, and Vela's.
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

namespace fs = std::filesystem;

using testing::HasSubstr;
using testing::Not;

std::string u85_text(std::span<const uint8_t> bytes) {
  TargetRegistry registry;
  targets::ethos_u::add_kinds(registry);
  const auto result = registry.kind("ethos-u").disassemble(bytes);
  if (!result) return "nothing";
  return result->ok() ? **result : result->error().to_string();
}

constexpr uint32_t kConfig256 = 0x20000118, kArchitecture = 0x20000000;

// A payload with these commands.
std::string u85_text_of(const std::vector<uint32_t>& commands, uint32_t config = kConfig256,
                        uint32_t architecture = kArchitecture) {
  std::vector<uint32_t> words = {0x31504F43, 0x00100001, config, architecture,
                                 2u | static_cast<uint32_t>(commands.size()) << 16};
  words.insert(words.end(), commands.begin(), commands.end());
  std::vector<uint8_t> bytes;
  for (const uint32_t word : words)
    for (int i = 0; i < 4; ++i) bytes.push_back(static_cast<uint8_t>(word >> (8 * i)));
  return u85_text(bytes);
}

constexpr uint32_t kU85Stop = 0xFFFF0000;

// What an Ethos-U55 reads otherwise, or not at all.
TEST(DisassembleU85, FieldByField) {
  const std::string text =
      u85_text_of({0x5E450114,              // S32 bricks, C reversed, WCH, three tiles
                   0x00094024, 0x12345678,  // OFM_SCALE
                   0x00004027, 0xFFFFFFFE,  // OP_SCALAR
                   0x03610124,              // 2x2 micro-block, sums from IFM2, kept
                   0x00E70125,              // table 7 of 1 KiB
                   0x0011012E,              // FWD, sparse
                   0x07FF012C,              // RESIZE_X_OFFSET
                   0x08234096, 0x00020001,  // RESIZE_X
                   0x0D000130,              // gather
                   0x00024038, 0x7FFFFFFF,  // DMA0_IDX_MAX, with a bit that no field names
                   0x00014100, 0x00000040,  // OP_BRANCH
                   0x002A0006, kU85Stop});
  EXPECT_THAT(text, HasSubstr("stream of 18 words for ethos-u85-256, 2 ports to SRAM and 1 to "
                              "other memories, 1 weight decoder, architecture 2.0.0\n"));
  EXPECT_THAT(text, HasSubstr("SET_OFM_PRECISION      SIGNED B32 NHCWB16 PER_CHANNEL REVERSE_C "
                              "WCH TILE3X1\n"));
  EXPECT_THAT(text, HasSubstr("SET_OFM_SCALE          shift=9 dbl_rnd=0 DOUBLE_SYMMETRIC "
                              "scale=305419896\n"));
  EXPECT_THAT(text, HasSubstr("SET_OP_SCALAR          scalar=-2\n"));
  EXPECT_THAT(text, HasSubstr("SET_ACC_FORMAT         I48 FROM_IFM2 KEPT U2X2\n"));
  EXPECT_THAT(text, HasSubstr("SET_ACTIVATION         TABLE_S8_S32 table=7 CLIP\n"));
  EXPECT_THAT(text, HasSubstr("SET_WEIGHT_FORMAT      FWD SPARSE_2_4\n"));
  EXPECT_THAT(text, HasSubstr("resize_x_offset=2047\n"));
  EXPECT_THAT(text, HasSubstr("one_step_int=3 blk_step_int=130 one_step_mod=1 blk_step_mod=2\n"));
  EXPECT_THAT(text, HasSubstr("SET_DMA0_SRC_REGION    region=0 INTERNAL D3 INDEXED\n"));
  EXPECT_THAT(text, HasSubstr("undefined bits 0x00020000"));
  EXPECT_THAT(text, HasSubstr("OP_BRANCH              IF_TRUE branch_target=64\n"));
  EXPECT_THAT(text, HasSubstr("OP_ELEMENTWISE         AND_NOT ; and_not "));
  EXPECT_THAT(text, HasSubstr("OP_STOP                mask=65535\n"));
}

// What an operation works on, where that is no place in memory.
TEST(DisassembleU85, ChainsScalarsAndWhatIsNotStored) {
  const std::string text = u85_text_of({0x80090105, 0x0002010F,              // IFM: S32 chain 2
                                        0x00090185, 0x00080180,              // IFM2: a scalar
                                        0x00004027, 0x0000000C,              // 12
                                        0xC0050114,                          // OFM: S32, nowhere
                                        0x00080006,                          // SHR
                                        0x00000105, 0x00080108, 0x00010180,  // IFM the scalar
                                        0x00030112, 0x00020111, 0x00040006,  // MAX
                                        0x00010002, kU85Stop});              // CONV by IFM2
  EXPECT_THAT(text, HasSubstr("; shr 1x1x1 S32 chain 2 -> 1x1x1 S32 not stored, with 1x1x1 S32 "
                              "scalar 12\n"));
  EXPECT_THAT(text, HasSubstr("; max 1x1x1 U8 scalar 12 -> 4x3x1 S32 not stored, with 1x3x1 S32 "
                              "NHWC 0:0x0\n"));
  EXPECT_THAT(text, HasSubstr(", window 1x1, weights 1x1x1 S32 NHWC 0:0x0\n"));
}

// Whom the payload says it is for, against what there is.
TEST(DisassembleU85, AnotherConfigurationOrVersionIsSaid) {
  const auto first_line = [](uint32_t config, uint32_t architecture) {
    const std::string text = u85_text_of({kU85Stop}, config, architecture);
    return text.substr(0, text.find('\n'));
  };
  for (const uint32_t config : {0x20000117u, kConfig256, 0x20001119u, 0x2000251Au, 0x2000261Bu})
    EXPECT_THAT(first_line(config, kArchitecture), Not(HasSubstr(";"))) << config;
  EXPECT_THAT(first_line(0x2000261B, kArchitecture),
              HasSubstr("ethos-u85-2048, 4 ports to SRAM and 2 to other memories, 4 weight "
                        "decoders, architecture 2.0.0"));
  EXPECT_THAT(first_line(0x20000119, kArchitecture),
              HasSubstr("; an ethos-u85-512 has 2, 1 and 2 of these"));
  EXPECT_THAT(first_line(0x20000116, kArchitecture),
              HasSubstr("; there is no Ethos-U85 of so many MACs"));
  EXPECT_THAT(first_line(0x20000128, kArchitecture),
              HasSubstr("; commands of version 2, read as version 1"));
  EXPECT_THAT(first_line(kConfig256, 0x30000000), HasSubstr("; read as architecture 2"));
}

TEST(DisassembleU85, CommandsOfAnEthosU55AreUnknown) {
  EXPECT_THAT(u85_text_of({0x0000012D, kU85Stop}),
              HasSubstr("SET_RESIZE_Y_OFFSET"));                           // AB_START there
  EXPECT_THAT(u85_text_of({0x0000018D, kU85Stop}), HasSubstr("unknown"));  // IFM2_IB_START there
  EXPECT_THAT(u85_text_of({0x00004020}), HasSubstr("cut off before its payload"));
}

TEST(DisassembleU85, TheRecordedStreamLineByLine) {
  const fs::path file = golden_folder() / "npu-streams/ethos-u85/residual_s8" /
                        "ethos-u85-1024-Dedicated_Sram_384KB-Size.tflite";
  const std::string text = u85_text(read_bytes(file));
  EXPECT_THAT(text, HasSubstr("stream of 1424 words for ethos-u85-1024, 2 ports to SRAM and 2 to "
                              "other memories, 4 weight decoders, architecture 2.0.0\n"));
  for (const char* line :
       {"000024: 00000010           OP_DMA_START           ; 0:0x0 -> 2:0x1900, 928 bytes\n",
        "0002e4: 00000002           OP_CONV                WEIGHTS_STREAM ; conv 20x20x16 S8 "
        "NHCWB16 2:0x1900 -> 20x20x16 S8 chain 0, window 3x3, weights 2:0x4ba0 624 bytes\n",
        "000378: 00010006           OP_ELEMENTWISE         ADD ; add 20x20x16 S8 NHCWB16 2:0x0 -> "
        "20x20x16 S8 NHCWB16 2:0x3200, with 20x20x16 S8 chain 0\n",
        "0007e4: 00010005           OP_POOL                AVERAGE ; average pool 5x5x32 S8 "
        "NHCWB16 2:0x960 -> 1x1x32 S8 NHCWB16 2:0x0, window 5x5\n",
        "00094c: 00000010           OP_DMA_START           ; 0:0x5d40 -> tables:0x0, 1024 bytes\n",
        "000b84: 00020006           OP_ELEMENTWISE         SUB ; sub 1x1x1 S32 scalar 35 -> 1x1x1 "
        "S32 NHCWB16 2:0x40, with 1x1x1 S32 NHCWB16 2:0x100\n",
        "00163c: ffff0000           OP_STOP                mask=65535\n"})
    EXPECT_THAT(text, HasSubstr(line));
}

class U85Files : public ::testing::TestWithParam<fs::path> {};

TEST_P(U85Files, HoldNothingUnknown) {
  const std::vector<uint8_t> bytes = read_bytes(GetParam());
  const std::string text = u85_text(bytes);
  const std::string_view all(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (all.find("ethos-u") == std::string_view::npos) {  // Vela left all of it to the CPU
    EXPECT_FALSE(is_own(GetParam()));
    EXPECT_EQ(text, "nothing");
    return;
  }
  EXPECT_THAT(text, Not(HasSubstr("unknown")));
  EXPECT_THAT(text, Not(HasSubstr("undefined")));
  EXPECT_THAT(text, Not(HasSubstr("?")));
  EXPECT_THAT(text, Not(HasSubstr("behind OP_STOP")));
  EXPECT_THAT(text, HasSubstr("for " + stream_tag(GetParam()) + ","));
  EXPECT_THAT(text, HasSubstr("architecture 2.0.0\n"));
}

INSTANTIATE_TEST_SUITE_P(Recorded, U85Files, ::testing::ValuesIn(vela_streams("ethos-u85")),
                         [](const auto& info) { return stream_test_name(info.param); });

}  // namespace
}  // namespace intarsia::test::ethos_u
