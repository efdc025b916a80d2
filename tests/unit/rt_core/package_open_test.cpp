// Opening: every kind of damage gets its own code, and nothing makes the check read out of bounds
// (which AddressSanitizer would report).
#include <gtest/gtest.h>

#include "intarsia/contract/package.h"
#include "package_writer/header.h"
#include "rt_core/sample_package.h"

namespace intarsia::test {
namespace {

std::vector<uint8_t> sample() {
  return write_package("kws", sample_streams());
}

intarsia_status open(const std::vector<uint8_t>& bytes) {
  const AlignedBytes memory(bytes);
  intarsia_package package = {memory.data(), 1, 1};
  const intarsia_status status = intarsia_package_open(&package, memory.data(), memory.size());
  if (status != INTARSIA_OK) {
    intarsia_stream stream;
    EXPECT_EQ(intarsia_package_stream(&package, 0, &stream), INTARSIA_ERROR_NOT_INITIALISED)
        << "a package that failed to open stays closed";
    return status;
  }
  // What it opens it must be able to use.
  unsigned sum = 0;
  for (uint32_t i = 0; i < package.function_count; ++i) {
    intarsia_stream stream;
    EXPECT_EQ(intarsia_package_stream(&package, i, &stream), INTARSIA_OK);
    for (uint32_t b = 0; b < stream.command_bytes; ++b) sum += stream.commands[b];
    for (uint32_t b = 0; b < stream.constant_bytes; ++b) sum += stream.constants[b];
  }
  EXPECT_NE(sum, 0xFFFFFFFFu);  // keeps the reads
  return status;
}

void seal(std::vector<uint8_t>& bytes) {
  const std::span<uint8_t> payload = std::span(bytes).subspan(package_writer::kHeaderBytes);
  package_writer::put_word(bytes, package_writer::kPayloadBytesAt,
                           static_cast<uint32_t>(payload.size()));
  package_writer::put_word(bytes, package_writer::kChecksumAt, package_writer::crc32(payload));
}

TEST(PackageOpen, AcceptsWhatTheWriterWrites) {
  EXPECT_EQ(open(sample()), INTARSIA_OK);
  EXPECT_EQ(open(write_package("", {})), INTARSIA_OK);
}

TEST(PackageOpen, BytesBehindThePackageDoNotMatter) {
  std::vector<uint8_t> bytes = sample();
  bytes.resize(bytes.size() + 5, 0xFF);
  EXPECT_EQ(open(bytes), INTARSIA_OK);
}

TEST(PackageOpen, NullArguments) {
  const AlignedBytes memory(sample());
  intarsia_package package;
  EXPECT_EQ(intarsia_package_open(nullptr, memory.data(), memory.size()),
            INTARSIA_ERROR_NULL_ARGUMENT);
  EXPECT_EQ(intarsia_package_open(&package, nullptr, 100), INTARSIA_ERROR_NULL_ARGUMENT);
}

TEST(PackageOpen, Misaligned) {
  for (size_t shift = 1; shift < 16; ++shift) {
    const AlignedBytes memory(sample(), shift);
    intarsia_package package;
    EXPECT_EQ(intarsia_package_open(&package, memory.data(), memory.size()),
              INTARSIA_ERROR_PACKAGE_MISALIGNED);
  }
}

TEST(PackageOpen, TruncatedAtEveryLength) {
  const std::vector<uint8_t> good = sample();
  for (size_t size = 0; size < good.size(); ++size)
    EXPECT_EQ(open({good.begin(), good.begin() + static_cast<ptrdiff_t>(size)}),
              INTARSIA_ERROR_PACKAGE_TRUNCATED)
        << size;
}

TEST(PackageOpen, TruncatedAtEveryLengthAndSealed) {
  const std::vector<uint8_t> good = sample();
  for (size_t size = package_writer::kHeaderBytes; size < good.size(); ++size) {
    std::vector<uint8_t> bytes(good.begin(), good.begin() + static_cast<ptrdiff_t>(size));
    seal(bytes);
    // Only padding may be missing at the end.
    EXPECT_TRUE(open(bytes) != INTARSIA_OK || size + 16 > good.size()) << size;
  }
}

TEST(PackageOpen, OtherVersionAndOtherFile) {
  std::vector<uint8_t> bytes = sample();
  bytes[package_writer::kVersionAt] = INTARSIA_PACKAGE_VERSION - 1;
  EXPECT_EQ(open(bytes), INTARSIA_ERROR_PACKAGE_VERSION);
  bytes = sample();
  bytes[0] = 'J';
  EXPECT_EQ(open(bytes), INTARSIA_ERROR_PACKAGE_FORMAT);
  bytes = sample();
  bytes[package_writer::kHeaderBytes + 4] = 'J';  // the flatbuffer's identifier
  EXPECT_EQ(open(bytes), INTARSIA_ERROR_PACKAGE_CHECKSUM);
  seal(bytes);
  EXPECT_EQ(open(bytes), INTARSIA_ERROR_PACKAGE_FORMAT);
}

TEST(PackageOpen, EveryFlippedBitIsSeen) {
  const std::vector<uint8_t> good = sample();
  for (size_t bit = 0; bit < 8 * good.size(); ++bit) {
    std::vector<uint8_t> bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    const intarsia_status status = open(bytes);
    EXPECT_NE(status, INTARSIA_OK) << "bit " << bit;
    EXPECT_TRUE(bit / 8 < package_writer::kHeaderBytes ||
                status == INTARSIA_ERROR_PACKAGE_CHECKSUM);
  }
}

TEST(PackageOpen, EveryFlippedBitWithAMatchingChecksumIsHarmless) {
  const std::vector<uint8_t> good = sample();
  size_t refused = 0;
  for (size_t bit = 8 * package_writer::kHeaderBytes; bit < 8 * good.size(); ++bit) {
    std::vector<uint8_t> bytes = good;
    bytes[bit / 8] ^= static_cast<uint8_t>(1u << bit % 8);
    seal(bytes);
    const intarsia_status status = open(bytes);
    EXPECT_TRUE(status == INTARSIA_OK || status == INTARSIA_ERROR_PACKAGE_FORMAT);
    refused += status != INTARSIA_OK;
    // Whatever the core lets through, flatbuffers' own verifier does too.
    EXPECT_TRUE(status != INTARSIA_OK || read_package(bytes, "damaged").ok()) << "bit " << bit;
  }
  EXPECT_GT(refused, good.size() / 4);
}

TEST(PackageOpen, EveryWordSetToItsExtremesIsHarmless) {
  const std::vector<uint8_t> good = sample();
  for (const uint32_t value : {0u, 1u, 4u, 0x7FFFFFFFu, 0x80000000u, 0xFFFFFFFCu, 0xFFFFFFFFu})
    for (size_t at = package_writer::kHeaderBytes; at + 4 <= good.size(); at += 2) {
      std::vector<uint8_t> bytes = good;
      package_writer::put_word(bytes, at, value);
      seal(bytes);
      const intarsia_status status = open(bytes);
      EXPECT_TRUE(status == INTARSIA_OK || status == INTARSIA_ERROR_PACKAGE_FORMAT);
    }
}

}  // namespace
}  // namespace intarsia::test
