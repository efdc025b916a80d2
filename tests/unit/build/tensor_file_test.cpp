// Tensor files: .npy headers are checked against the tensor, shape and all.
#include <optional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/build.h"
#include "support/files.h"

namespace intarsia {
namespace {

class TensorFile : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    owner_.emplace(std::move(folder).value());
  }
  // "" when a file of this shape is taken for [1,49,10], else what is said.
  std::string taken(const std::string& shape, size_t elements, int32_t slices = 1) const {
    std::string header = "{'descr': '|i1', 'fortran_order': False, 'shape': " + shape + ", }";
    header.resize(117, ' ');
    header += '\n';
    std::string text = std::string("\x93NUMPY\x01\x00", 8);
    text += static_cast<char>(header.size());
    text += '\0';
    text += header + std::string(elements, 'x');
    const std::string path = owner_->path() + "/a.npy";
    EXPECT_TRUE(write_file(path, text).ok());
    const TensorInfo tensor{"audio", DataType::Int8, {1, 49, 10}, {}, 490};
    const auto bytes = read_tensor_file(path, tensor, slices);
    if (!bytes.ok()) return bytes.error().to_string();
    EXPECT_EQ(bytes->size(), elements);
    return "";
  }

  std::optional<TemporaryFolder> owner_;
};

TEST_F(TensorFile, TheShapeIsTheTensors) {
  EXPECT_EQ(taken("(1, 49, 10)", 490), "");
  EXPECT_EQ(taken("(49, 10)", 490), "");
  EXPECT_THAT(taken("(1, 10, 49)", 490),
              testing::HasSubstr("is an array of shape [1,10,49], input 'audio' needs [1,49,10]"));
  EXPECT_EQ(taken("(490,)", 490), "");
  EXPECT_EQ(taken("(49, 10, 1)", 490), "");
  EXPECT_NE(taken("(a)", 490), "");
}

TEST_F(TensorFile, SeveralSlicesAreARow) {
  EXPECT_EQ(taken("(3, 49, 10)", 1470, 3), "");
  EXPECT_EQ(taken("(3, 1, 49, 10)", 1470, 3), "");
  EXPECT_NE(taken("(3, 49, 10)", 1470), "");
  EXPECT_NE(taken("(3, 10, 49)", 1470, 3), "");
  EXPECT_EQ(taken("(3, 49, 10)", 1470, kAnySlices), "");
  EXPECT_EQ(taken("(49, 10)", 490, kAnySlices), "");
  EXPECT_NE(taken("(49, 10, 3)", 1470, kAnySlices), "");
}

// A device that never ends is read no further than a tensor goes.
TEST_F(TensorFile, WhatNeverEndsIsRefused) {
  const TensorInfo tensor{"audio", DataType::Int8, {1, 49, 10}, {}, 490};
  for (const int32_t slices : {1, 3}) {
    const auto bytes = read_tensor_file("/dev/zero", tensor, slices);
    ASSERT_FALSE(bytes.ok());
    EXPECT_THAT(bytes.error().to_string(),
                testing::HasSubstr(slices == 1 ? "/dev/zero: is longer than the 490 bytes that "
                                                 "input 'audio' (i8[1,49,10]) takes"
                                               : "/dev/zero: is longer than the 1470 bytes"));
  }
  const std::string path = owner_->path() + "/long.bin";
  EXPECT_TRUE(write_file(path, std::string(100'000, 'x')).ok());
  const auto bytes = read_tensor_file(path, tensor, 1);
  ASSERT_FALSE(bytes.ok());
  EXPECT_THAT(bytes.error().to_string(),
              testing::HasSubstr("has 100000 bytes, input 'audio' (i8[1,49,10]) takes 490"));
}

}  // namespace
}  // namespace intarsia
