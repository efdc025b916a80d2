// A program with everything in it that a package can say, an image that it runs on, and what it computes.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "intarsia/contract/version.h"
#include "intarsia/executor/executor.h"
#include "package_writer/header.h"
#include "package_writer/package_writer.h"
#include "rt_core/sample_package.h"

namespace intarsia::test {

inline constexpr uint32_t kElements = 16;

// out = a + b; a is as long as the factors that it is multiplied with.
inline void add_kernel(void* const* operands) {
  const auto* a = static_cast<const int8_t*>(operands[0]);
  const auto* b = static_cast<const int8_t*>(operands[1]);
  auto* out = static_cast<int8_t*>(operands[2]);
  for (uint32_t i = 0; i < kElements; ++i) out[i] = static_cast<int8_t>(a[i] + b[i]);
}
// The flag is set as long as the counter has not come to its limit.
inline void count_kernel(void* const* operands) {
  auto* counter = static_cast<int32_t*>(operands[0]);
  const auto* limit = static_cast<const int32_t*>(operands[1]);
  *static_cast<uint8_t*>(operands[2]) = ++*counter < *limit;
}

inline constexpr intarsia_kernel_operand kAddOperands[] = {
    {kElements, 0, 0}, {kElements, 0, 0}, {kElements, 1, 0}};
inline constexpr intarsia_kernel_operand kCountOperands[] = {{4, 1, 2}, {4, 0, 2}, {1, 1, 0}};
inline constexpr uint64_t kAdd = 0x0000000100000007, kCount = 0x0000000200000001;
inline constexpr intarsia_kernel kKernels[] = {{7, 1, 3, kAddOperands, add_kernel},
                                               {1, 2, 3, kCountOperands, count_kernel}};

// Memories of exactly the bytes that are said, so that AddressSanitizer sees the first byte behind them.
struct SampleImage {
  explicit SampleImage(uint32_t sram_bytes = 64, uint32_t ddr_bytes = 32)
      : sram(std::vector<uint8_t>(sram_bytes, 0xEE)), ddr(std::vector<uint8_t>(ddr_bytes, 0xEE)) {
    memories = {{{"ddr", ddr.data(), ddr_bytes}, {"sram", sram.data(), sram_bytes}}};
    image = {kKernels, 2, memories.data(), 2, nullptr, 0, 0};
  }
  AlignedBytes sram, ddr;
  std::array<intarsia_executor_memory, 2> memories;
  intarsia_executor_image image;
};

// out = in + state; state = state + in, three times over, or until the counter is at its limit; with a branch.
//   sram: in 0, out 16, counter 32, flag 36, scratch 48;  ddr: state 0, copied 16
//   constants: ones 0 (16 bytes), limit 16, yes 20, no 21, initial 32 (8 bytes)
inline PackageProgram sample_program() {
  constexpr uint32_t kSram = 0, kDdr = 1, kConstants = INTARSIA_PROGRAM_CONSTANTS;
  PackageProgram program;
  program.kernels = {{kAdd, "add i8[16]"}, {kCount, "count i32"}};
  program.constants.assign(40, 1);
  program.constants[16] = 2;
  program.constants[17] = program.constants[18] = program.constants[19] = 0;
  program.constants[21] = 0;
  const auto head = [](intarsia_program_operation operation, uint32_t words) {
    return static_cast<uint32_t>(operation) | words << 8;
  };
  program.code = {
      head(INTARSIA_PROGRAM_LOOP, 3),
      3,
      INTARSIA_PROGRAM_NO_SEGMENT,
      0,
      head(INTARSIA_PROGRAM_CALL, 7),
      0,
      kSram,
      0,
      kDdr,
      0,
      kDdr,
      0,  // state += in
      head(INTARSIA_PROGRAM_END, 0),
      head(INTARSIA_PROGRAM_IF, 2),
      kConstants,
      21,
      head(INTARSIA_PROGRAM_CALL, 7),
      0,
      kSram,
      0,
      kSram,
      0,
      kSram,
      16,  // not done
      head(INTARSIA_PROGRAM_ELSE, 0),
      head(INTARSIA_PROGRAM_CALL, 7),
      0,
      kDdr,
      0,
      kConstants,
      0,
      kSram,
      16,  // out = state + 1
      head(INTARSIA_PROGRAM_END, 0),
      head(INTARSIA_PROGRAM_LOOP, 3),
      100,
      kSram,
      36,
      head(INTARSIA_PROGRAM_CALL, 7),
      0,
      kSram,
      16,
      kConstants,
      0,
      kSram,
      16,  // ++out
      head(INTARSIA_PROGRAM_CALL, 7),
      1,
      kSram,
      32,
      kConstants,
      16,
      kSram,
      36,
      head(INTARSIA_PROGRAM_END, 0),
  };
  program.reset = {
      head(INTARSIA_PROGRAM_FILL, 5), kDdr,  0,  8, 2,  0x0101,
      head(INTARSIA_PROGRAM_FILL, 5), kSram, 32, 1, 4,  0,
      head(INTARSIA_PROGRAM_FILL, 5), kSram, 36, 1, 1,  1,
      head(INTARSIA_PROGRAM_COPY, 4), kDdr,  16, 8, 32,
  };
  program.memories = {"sram", "ddr"};
  program.inputs = {{"in", "i8", kSram, 0, kElements, {16}, {0.5f}, {-1}}};
  program.outputs = {{"out", "i8", kSram, 16, kElements, {4, 4}, {}, {}}};
  program.target = "c";
  program.interface_id = 77;
  program.runtime_version = INTARSIA_RUNTIME_VERSION;
  return program;
}

inline std::vector<uint8_t> sample_package_of(const PackageProgram& program,
                                              const PackageContract& contract = {1, {64, 32}, 16},
                                              const std::vector<CommandStream>& streams = {}) {
  return write_package("sample", streams, contract, &program);
}

// What the first run makes of an input of these.
inline std::vector<int8_t> expected_output(const std::vector<int8_t>& in) {
  std::vector<int8_t> out(kElements);
  for (uint32_t i = 0; i < kElements; ++i)
    out[i] =
        static_cast<int8_t>(1 + 3 * in[i] + 1 + 2);  // state, one more, and twice in the last loop
  return out;
}

inline void seal(std::vector<uint8_t>& bytes) {
  const std::span<uint8_t> payload = std::span(bytes).subspan(package_writer::kHeaderBytes);
  package_writer::put_word(bytes, package_writer::kPayloadBytesAt,
                           static_cast<uint32_t>(payload.size()));
  package_writer::put_word(bytes, package_writer::kChecksumAt, package_writer::crc32(payload));
}

}  // namespace intarsia::test
