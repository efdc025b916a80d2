// What the writer writes, the runtime on the chip and the reader for tools both read back.
#include "package_writer/package_writer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/contract/package.h"
#include "package_writer/header.h"
#include "rt_core/sample_package.h"

namespace intarsia {
namespace {

using test::AlignedBytes;
using test::sample_streams;
using testing::HasSubstr;

void expect_bytes(const uint8_t* bytes, uint32_t count, const std::vector<uint8_t>& expected) {
  EXPECT_EQ(reinterpret_cast<uintptr_t>(bytes) % 16, 0u);
  EXPECT_EQ(bytes == nullptr, expected.empty());
  EXPECT_EQ(std::vector<uint8_t>(bytes, bytes + count), expected);
}

// Bit by bit, as it is defined.
uint32_t crc_of_bits(std::span<const uint8_t> bytes) {
  uint32_t crc = ~0u;
  for (const uint8_t byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0xEDB88320u : crc >> 1;
  }
  return ~crc;
}

TEST(Checksum, IsZlibsOfEveryLength) {
  const std::string digits = "123456789";
  EXPECT_EQ(package_writer::crc32({reinterpret_cast<const uint8_t*>(digits.data()), 9}),
            0xCBF43926u);
  std::vector<uint8_t> bytes;
  for (uint32_t i = 0; i < 70; ++i) {
    EXPECT_EQ(package_writer::crc32(bytes), crc_of_bits(bytes)) << i;
    bytes.push_back(static_cast<uint8_t>(i * 2654435761u >> 24));
  }
}

// Constants that several streams have are expected several times, and written once.
TEST(WritePackage, LargeConstantsOfSeveralStreamsAreThere) {
  std::vector<CommandStream> streams = sample_streams();
  for (CommandStream& stream : streams) stream.constants.assign(100'000, 7);
  const AlignedBytes bytes(write_package("kws", streams));
  EXPECT_LT(bytes.size(), 150'000u);
  intarsia_package package;
  ASSERT_EQ(intarsia_package_open(&package, bytes.data(), bytes.size()), INTARSIA_OK);
  for (uint32_t i = 0; i < package.function_count; ++i) {
    intarsia_stream stream;
    ASSERT_EQ(intarsia_package_stream(&package, i, &stream), INTARSIA_OK);
    expect_bytes(stream.constants, stream.constant_bytes, streams[i].constants);
  }
}

TEST(WritePackage, BytesDependOnTheArgumentsOnly) {
  EXPECT_EQ(write_package("kws", sample_streams()), write_package("kws", sample_streams()));
  EXPECT_NE(write_package("kws", sample_streams()), write_package("other", sample_streams()));
}

TEST(WritePackage, RuntimeFindsTheSameStreams) {
  const std::vector<CommandStream> streams = sample_streams();
  const AlignedBytes bytes(write_package("kws", streams));
  intarsia_package package;
  ASSERT_EQ(intarsia_package_open(&package, bytes.data(), bytes.size()), INTARSIA_OK);
  ASSERT_EQ(package.function_count, streams.size());
  for (uint32_t i = 0; i < package.function_count; ++i) {
    intarsia_stream stream;
    ASSERT_EQ(intarsia_package_stream(&package, i, &stream), INTARSIA_OK);
    expect_bytes(stream.commands, stream.command_bytes, streams[i].commands);
    expect_bytes(stream.constants, stream.constant_bytes, streams[i].constants);
  }
}

// All programs of one file of another compiler have its constants, megabytes of them.
TEST(WritePackage, EqualConstantsAreThereOnce) {
  constexpr size_t kBytes = 4096;
  std::vector<CommandStream> streams = sample_streams();
  const auto size_with = [&](uint8_t first, uint8_t second) {
    streams[0].constants.assign(kBytes, first);
    streams[1].constants.assign(kBytes, second);
    return write_package("kws", streams).size();
  };
  EXPECT_GE(size_with(1, 2) - size_with(1, 1), kBytes);
  const AlignedBytes bytes(write_package("kws", streams));
  intarsia_package package;
  ASSERT_EQ(intarsia_package_open(&package, bytes.data(), bytes.size()), INTARSIA_OK);
  intarsia_stream first, second;
  ASSERT_EQ(intarsia_package_stream(&package, 0, &first), INTARSIA_OK);
  ASSERT_EQ(intarsia_package_stream(&package, 1, &second), INTARSIA_OK);
  EXPECT_EQ(first.constants, second.constants);
  expect_bytes(second.constants, second.constant_bytes, streams[1].constants);
  const Result<StreamPackage> contents =
      read_package({bytes.data(), bytes.data() + bytes.size()}, "kws.pkg");
  ASSERT_TRUE(contents.ok()) << contents.error().to_string();
  EXPECT_EQ(contents->streams, streams);
}

TEST(ReadPackage, GivesBackEverything) {
  const std::vector<CommandStream> streams = sample_streams();
  const Result<StreamPackage> contents = read_package(write_package("kws", streams), "kws.pkg");
  ASSERT_TRUE(contents.ok()) << contents.error().to_string();
  EXPECT_EQ(contents->model, "kws");
  EXPECT_EQ(contents->streams, streams);
}

TEST(ReadPackage, GivesBackWhatIsSaidOfMemory) {
  const PackageContract contract = {3,
                                    {100, 64, 8},
                                    32,
                                    {{{33, 8, 90}, {1, 3, 2}, {{0, 16, 32}, {2, 0, 8}}, {}},
                                     {{64, 16}, {}, {}, {{1, 0, 64}}},
                                     {}}};
  const Result<StreamPackage> contents =
      read_package(write_package("kws", sample_streams(), contract), "kws.pkg");
  ASSERT_TRUE(contents.ok()) << contents.error().to_string();
  EXPECT_EQ(contents->contract, contract);
}

TEST(ReadPackage, SaysWhatIsWrong) {
  const std::vector<uint8_t> good = write_package("kws", sample_streams());
  const auto complaint = [](const std::vector<uint8_t>& bytes) {
    const Result<StreamPackage> contents = read_package(bytes, "kws.pkg");
    return contents.ok() ? std::string("accepted") : contents.error().to_string();
  };
  EXPECT_THAT(complaint({}), HasSubstr("kws.pkg: these bytes are not an Intarsia package"));
  std::vector<uint8_t> bad = good;
  bad[4] = 9;
  EXPECT_THAT(complaint(bad), HasSubstr("format version 9"));
  bad = good;
  bad.pop_back();
  EXPECT_THAT(complaint(bad), HasSubstr("cut short"));
  bad = good;
  bad[good.size() / 2] ^= 1;
  EXPECT_THAT(complaint(bad), HasSubstr("checksum"));
}

TEST(PackageSources, HoldEveryByteAndTheSize) {
  const std::vector<uint8_t> package = {0, 1, 255, 16};
  const std::vector<SourceFile> files = package_sources("kws", package);
  ASSERT_EQ(files.size(), 2u);
  EXPECT_EQ(files[0].path, "kws_package.h");
  EXPECT_THAT(files[0].text, HasSubstr("#define KWS_PACKAGE_BYTES 4u"));
  EXPECT_EQ(files[1].path, "kws_package.c");
  const std::string source = files[1].whole_text();
  EXPECT_THAT(source, HasSubstr("0,1,255,16,"));
  EXPECT_THAT(source, HasSubstr("_Alignas(16) const uint8_t kws_package[KWS_PACKAGE_BYTES]"));
}

}  // namespace
}  // namespace intarsia
