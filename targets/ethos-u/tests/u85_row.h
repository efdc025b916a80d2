// Streams of single operations of the Ethos-U85 on a row, written by hand.
#pragma once

#include <cstring>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u85/run.h"
#include "u85_editing.h"

namespace intarsia::test::ethos_u {

namespace sim85 = simulators::ethos_u85;
namespace value = sim85::value;
using sim85::Command;

// A configuration's registers for maps of a row in region 1, NHWC, signed.
class Row {
 public:
  static constexpr uint32_t kIfm = 0, kIfm2 = 256, kOfm = 512;

  Row(int32_t width, int32_t depth, int32_t ifm_bytes, int32_t ofm_bytes)
      : width_(width), depth_(depth) {
    const auto precision = [](int32_t bytes) { return bytes == 4 ? 2 : bytes == 2 ? 1 : 0; };
    const auto map = [&](Command base, Command stride_x, Command stride_y, Command stride_c,
                         uint32_t address, int32_t bytes) {
      stream_.address(base, address)
          .address(stride_c, static_cast<uint32_t>(bytes))
          .address(stride_x, static_cast<uint32_t>(bytes * depth))
          .address(stride_y, static_cast<uint32_t>(bytes * depth * width));
    };
    map(Command::SET_IFM_BASE0, Command::SET_IFM_STRIDE_X, Command::SET_IFM_STRIDE_Y,
        Command::SET_IFM_STRIDE_C, kIfm, ifm_bytes);
    map(Command::SET_IFM2_BASE0, Command::SET_IFM2_STRIDE_X, Command::SET_IFM2_STRIDE_Y,
        Command::SET_IFM2_STRIDE_C, kIfm2, ifm_bytes);
    map(Command::SET_OFM_BASE0, Command::SET_OFM_STRIDE_X, Command::SET_OFM_STRIDE_Y,
        Command::SET_OFM_STRIDE_C, kOfm, ofm_bytes);
    for (const Command tile :
         {Command::SET_IFM_HEIGHT0_M1, Command::SET_IFM_HEIGHT1_M1, Command::SET_IFM_WIDTH0_M1,
          Command::SET_IFM2_HEIGHT0_M1, Command::SET_IFM2_HEIGHT1_M1, Command::SET_IFM2_WIDTH0_M1,
          Command::SET_OFM_HEIGHT0_M1, Command::SET_OFM_HEIGHT1_M1, Command::SET_OFM_WIDTH0_M1})
      stream_.set(tile, 63);
    for (const Command region :
         {Command::SET_IFM_REGION, Command::SET_IFM2_REGION, Command::SET_OFM_REGION})
      stream_.set(region, 1);
    for (const Command zero :
         {Command::SET_IFM_ZERO_POINT, Command::SET_IFM2_ZERO_POINT, Command::SET_OFM_ZERO_POINT,
          Command::SET_IFM_BROADCAST, Command::SET_IFM2_BROADCAST, Command::SET_IFM_UPSCALE,
          Command::SET_IFM_PAD_TOP, Command::SET_IFM_PAD_LEFT, Command::SET_IFM_PAD_RIGHT,
          Command::SET_IFM_PAD_BOTTOM, Command::SET_KERNEL_STRIDE, Command::SET_KERNEL_HEIGHT_M1,
          Command::SET_KERNEL_WIDTH_M1, Command::SET_OFM_HEIGHT_M1, Command::SET_OFM_BLK_HEIGHT_M1,
          Command::SET_BLOCKDEP})
      stream_.set(zero, 0);
    stream_.set(Command::SET_OFM_BLK_WIDTH_M1, 1);
    stream_.set(Command::SET_IFM_PRECISION, 1 | precision(ifm_bytes) << 2)
        .set(Command::SET_IFM2_PRECISION, 1 | precision(ifm_bytes) << 2);
    ofm_precision_ = 1 | precision(ofm_bytes) << 1 | 1 << 8;
    stream_.set(Command::SET_OFM_PRECISION, ofm_precision_)
        .set(Command::SET_IFM_DEPTH_M1, depth - 1)
        .set(Command::SET_OFM_DEPTH_M1, depth - 1)
        .set(Command::SET_OFM_WIDTH_M1, width - 1)
        .set(Command::SET_OFM_BLK_DEPTH_M1, 15)
        .set(Command::SET_ACC_FORMAT, value::microblock_U1X2 << 8)
        .set(Command::SET_ACTIVATION, ofm_bytes == 4 ? 1 << 12 : 0)
        .set(Command::SET_ACTIVATION_MIN, ofm_bytes == 1 ? -128 : -32768)
        .set(Command::SET_ACTIVATION_MAX, ofm_bytes == 1 ? 127 : 32767);
    for (const Command scale :
         {Command::SET_IFM_SCALE, Command::SET_IFM2_SCALE, Command::SET_OFM_SCALE})
      stream_.set(scale, 0, 1);
  }

  U85StreamWriter& stream() { return stream_; }
  int32_t ofm_precision() const { return ofm_precision_; }

  template <typename Element>
  Row& put(uint32_t at, const std::vector<Element>& values) {
    std::memcpy(arena_.data() + at, values.data(), values.size() * sizeof(Element));
    return *this;
  }
  std::vector<uint8_t>& arena() { return arena_; }

  // What the stream fails with; empty: it ends.
  std::string run(sim85::Observer* observer = nullptr) {
    U85StreamWriter whole = stream_;
    whole.set(Command::OP_STOP, 0xFFFF);
    sim85::Memory memory(sim85::kTableMemoryBytes);
    memory.regions[1] = {arena_.data(), arena_.size()};
    const auto outcome =
        sim85::run(whole.bytes(), *sim85::find_configuration("ethos-u85-256"), memory, observer);
    return outcome.fault ? outcome.fault->to_string() : "";
  }
  // The OFM; a failure is the test's.
  template <typename Element>
  std::vector<Element> ofm() {
    EXPECT_EQ(run(), "");
    std::vector<Element> values(static_cast<size_t>(width_ * depth_));
    std::memcpy(values.data(), arena_.data() + kOfm, values.size() * sizeof(Element));
    return values;
  }

 private:
  int32_t width_, depth_, ofm_precision_ = 0;
  U85StreamWriter stream_;
  std::vector<uint8_t> arena_ = std::vector<uint8_t>(1024);
};

// `size0` times `length` bytes from 0 on, 8 apart, to 512 on, 16 apart.
inline void transfer(U85StreamWriter& stream, uint32_t length, int32_t size0) {
  stream.set(Command::SET_DMA0_SRC_REGION, 1 | value::dma_stride_mode_D2 << 9)
      .set(Command::SET_DMA0_DST_REGION, 1)
      .set(Command::SET_DMA0_SIZE0, size0)
      .address(Command::SET_DMA0_SRC, 0)
      .address(Command::SET_DMA0_DST, Row::kOfm)
      .address(Command::SET_DMA0_LEN, length)
      .address(Command::SET_DMA0_SRC_STRIDE0, 8)
      .address(Command::SET_DMA0_DST_STRIDE0, 16)
      .set(Command::OP_DMA_START, 0);
}

}  // namespace intarsia::test::ethos_u
