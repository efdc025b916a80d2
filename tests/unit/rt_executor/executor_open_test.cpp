// Opening: each reason for a refusal has its status, and no bytes make kernels leave the memories (which AddressSanitizer
// would report).
#include <gtest/gtest.h>

#include <random>
#include <string>

#include "rt_executor/sample_program.h"

namespace intarsia::test {
namespace {

struct Opened {
  intarsia_status status;
  intarsia_refusal refusal;
  std::string name;
};

Opened open(const std::vector<uint8_t>& bytes, SampleImage& image) {
  const AlignedBytes memory(bytes);
  intarsia_executor executor{};
  Opened opened{};
  opened.status = intarsia_executor_open(&executor, memory.data(), memory.size(), &image.image,
                                         &opened.refusal);
  if (opened.refusal.name != nullptr) opened.name = opened.refusal.name;
  if (opened.status != INTARSIA_OK) {
    EXPECT_EQ(intarsia_executor_run(&executor), INTARSIA_ERROR_NOT_INITIALISED);
  }
  return opened;
}

Opened open(const PackageProgram& program, SampleImage& image) {
  return open(sample_package_of(program), image);
}

TEST(ExecutorOpen, RefusesAPackageThatGoesWithCSources) {
  SampleImage image;
  EXPECT_EQ(open(write_package("kws", sample_streams()), image).status,
            INTARSIA_ERROR_PACKAGE_PROGRAM);
}

TEST(ExecutorOpen, NamesAKernelThatIsNotLinkedIn) {
  SampleImage image;
  image.image.kernel_count = 1;
  const Opened opened = open(sample_program(), image);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_PACKAGE_KERNEL);
  EXPECT_EQ(opened.name, "count i32");
}

TEST(ExecutorOpen, SaysWhichMemoryIsTooSmall) {
  SampleImage small(64, 16);
  Opened opened = open(sample_program(), small);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_PACKAGE_MEMORY);
  EXPECT_EQ(opened.name, "ddr");
  EXPECT_EQ(opened.refusal.needed, 32u);
  EXPECT_EQ(opened.refusal.provided, 16u);
  SampleImage without;
  without.image.memories = &without.memories[1];
  without.image.memory_count = 1;
  opened = open(sample_program(), without);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_PACKAGE_MEMORY);
  EXPECT_EQ(opened.name, "ddr");
  EXPECT_EQ(opened.refusal.provided, 0u);
}

TEST(ExecutorOpen, RefusesAnotherConfigurationOfADevice) {
  SampleImage image;
  PackageProgram program = sample_program();
  program.devices = {"npu -macs=256"};
  EXPECT_EQ(open(program, image).status, INTARSIA_ERROR_DEVICE_ABSENT);
  intarsia_device device{};
  const intarsia_executor_device devices[] = {{"npu -macs=128", &device}};
  image.image.devices = devices;
  image.image.device_count = 1;
  const Opened opened = open(program, image);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_DEVICE_MISMATCH);
  EXPECT_EQ(opened.name, "npu -macs=256");
}

TEST(ExecutorOpen, TellsVersionsApart) {
  SampleImage image;
  std::vector<uint8_t> bytes = sample_package_of(sample_program());
  bytes[package_writer::kVersionAt] = INTARSIA_PACKAGE_VERSION + 1;
  Opened opened = open(bytes, image);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_PACKAGE_VERSION);
  EXPECT_EQ(opened.refusal.needed, INTARSIA_PACKAGE_VERSION + 1);
  EXPECT_EQ(opened.refusal.provided, INTARSIA_PACKAGE_VERSION);
  PackageProgram program = sample_program();
  ++program.runtime_version;
  opened = open(program, image);
  EXPECT_EQ(opened.status, INTARSIA_ERROR_RUNTIME_VERSION);
  EXPECT_EQ(opened.refusal.needed, opened.refusal.provided + 1);
}

TEST(ExecutorOpen, ModelsOfAnotherInterfaceOnlyWhereItIsNotAskedFor) {
  SampleImage image;
  image.image.interface_id = 77;
  EXPECT_EQ(open(sample_program(), image).status, INTARSIA_OK);
  image.image.interface_id = 78;
  EXPECT_EQ(open(sample_program(), image).status, INTARSIA_ERROR_PACKAGE_INTERFACE);
}

TEST(ExecutorOpen, ArgumentsAndAlignment) {
  SampleImage image;
  const std::vector<uint8_t> bytes = sample_package_of(sample_program());
  intarsia_executor executor{};
  const AlignedBytes memory(bytes), shifted(bytes, 4);
  EXPECT_EQ(intarsia_executor_open(nullptr, memory.data(), memory.size(), &image.image, nullptr),
            INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_executor_open(&executor, nullptr, 9, &image.image, nullptr),
            INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_executor_open(&executor, memory.data(), memory.size(), nullptr, nullptr),
            INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(
      intarsia_executor_open(&executor, shifted.data(), shifted.size(), &image.image, nullptr),
      INTARSIA_ERROR_PACKAGE_MISALIGNED);
  image.memories[0].base = image.ddr.data() + 4;
  EXPECT_EQ(open(bytes, image).status, INTARSIA_ERROR_MISALIGNED);
}

// One instruction that is wrong, and what would go wrong with it.
TEST(ExecutorOpen, RefusesInstructionsThatLeaveTheirBounds) {
  const auto head = [](uint32_t operation, uint32_t words) { return operation | words << 8; };
  const std::vector<std::vector<uint32_t>> wrong = {
      {head(INTARSIA_PROGRAM_CALL, 7), 2, 0, 0, 1, 0, 1, 0},            // no such kernel
      {head(INTARSIA_PROGRAM_CALL, 5), 0, 0, 0, 1, 0},                  // an operand too few
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 1, 0},                  // ends early
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 1, 17, 1, 0},           // reads behind a memory
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 1, 0xFFFFFFF8u, 1, 0},  // wraps around
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 0xFFFF, 25, 1, 0},    // reads behind the constants
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 1, 0, 0xFFFF, 0},     // writes to constants
      {head(INTARSIA_PROGRAM_CALL, 7), 0, 0, 0, 1, 0, 2, 0},          // no such memory
      {head(INTARSIA_PROGRAM_CALL, 7), 1, 0, 34, 0xFFFF, 16, 0, 36},  // misaligned
      {head(INTARSIA_PROGRAM_STREAM, 2), 0, 0},                       // no such function
      {head(INTARSIA_PROGRAM_END, 0)},                                // of nothing
      {head(INTARSIA_PROGRAM_ELSE, 0)},
      {head(INTARSIA_PROGRAM_IF, 2), 0, 0},  // has no end
      {head(INTARSIA_PROGRAM_IF, 2), 0, 64, head(INTARSIA_PROGRAM_END, 0)},
      {head(INTARSIA_PROGRAM_LOOP, 3), 2, 0xFFFFFFFF, 0, head(INTARSIA_PROGRAM_ELSE, 0),
       head(INTARSIA_PROGRAM_END, 0)},
      {head(INTARSIA_PROGRAM_LOOP, 3), 0xFFFFFFFF, 0xFFFFFFFF, 0, head(INTARSIA_PROGRAM_END, 0)},
      {head(INTARSIA_PROGRAM_COPY, 4), 1, 16, 17, 0},
      {head(INTARSIA_PROGRAM_COPY, 4), 1, 16, 16, 25},
      {head(INTARSIA_PROGRAM_FILL, 5), 1, 0, 9, 4, 0},
      {head(INTARSIA_PROGRAM_FILL, 5), 1, 0, 2, 3, 0},
      {head(INTARSIA_PROGRAM_FILL, 5), 0xFFFF, 0, 2, 1, 0},
      {head(99, 0)},
  };
  SampleImage image;
  for (const std::vector<uint32_t>& code : wrong) {
    PackageProgram program = sample_program();
    program.code = code;
    EXPECT_EQ(open(program, image).status, INTARSIA_ERROR_PACKAGE_FORMAT)
        << ::testing::PrintToString(code);
    program = sample_program();
    program.reset = code;
    EXPECT_EQ(open(program, image).status, INTARSIA_ERROR_PACKAGE_FORMAT);
  }
  PackageProgram program = sample_program();
  program.outputs[0].offset = 49;
  EXPECT_EQ(open(program, image).status, INTARSIA_ERROR_PACKAGE_FORMAT);
}

TEST(ExecutorOpen, DeepNestingIsRefused) {
  SampleImage image;
  PackageProgram program = sample_program();
  program.code.clear();
  for (uint32_t i = 0; i <= INTARSIA_PROGRAM_MAX_DEPTH; ++i)
    program.code.insert(program.code.end(), {INTARSIA_PROGRAM_IF | 2u << 8, 0, 0});
  for (uint32_t i = 0; i <= INTARSIA_PROGRAM_MAX_DEPTH; ++i)
    program.code.push_back(INTARSIA_PROGRAM_END);
  EXPECT_EQ(open(program, image).status, INTARSIA_ERROR_PACKAGE_FORMAT);
  program.code.pop_back();
  program.code.erase(program.code.begin(), program.code.begin() + 3);
  EXPECT_EQ(open(program, image).status, INTARSIA_OK);
}

TEST(ExecutorOpen, AnyDamagedBitIsRefused) {
  SampleImage image;
  const std::vector<uint8_t> good = sample_package_of(sample_program());
  for (size_t at = 0; at < good.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::vector<uint8_t> bytes = good;
      bytes[at] ^= static_cast<uint8_t>(1 << bit);
      EXPECT_NE(open(bytes, image).status, INTARSIA_OK) << at;
    }
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_NE(open({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)}, image).status,
              INTARSIA_OK);
}

// A checksum that is right protects from nothing: 10,000 packages with one to four other bytes.
TEST(ExecutorOpen, DamageWithARightChecksumStaysInTheMemories) {
  std::mt19937 random(3);
  const std::vector<uint8_t> good = sample_package_of(sample_program());
  int ran = 0;
  for (int n = 0; n < 10000; ++n) {
    std::vector<uint8_t> bytes = good;
    for (unsigned k = random() % 4 + 1; k > 0; --k)
      bytes[package_writer::kHeaderBytes +
            random() % (bytes.size() - package_writer::kHeaderBytes)] =
          static_cast<uint8_t>(random());
    seal(bytes);
    SampleImage image;
    const AlignedBytes memory(bytes);
    intarsia_executor executor{};
    if (intarsia_executor_open(&executor, memory.data(), memory.size(), &image.image, nullptr) !=
        INTARSIA_OK)
      continue;
    ++ran;
    EXPECT_EQ(intarsia_executor_run(&executor), INTARSIA_OK);
    intarsia_executor_tensor tensor{};
    for (uint32_t i = 0; intarsia_executor_input(&executor, i, &tensor) == INTARSIA_OK; ++i)
      if (tensor.bytes != 0) std::memset(tensor.data, 1, tensor.bytes);
  }
  EXPECT_GT(ran, 100) << "names and constants may be others";
}

}  // namespace
}  // namespace intarsia::test
