// The file in which a program shows what its operators computed.
#include <cstring>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "intarsia/build.h"
#include "support/files.h"

namespace intarsia {
namespace {

void add(std::vector<uint8_t>& bytes, int32_t index, const std::string& name,
         const std::vector<uint8_t>& tensor) {
  const int32_t head[3] = {index, static_cast<int32_t>(name.size()),
                           static_cast<int32_t>(tensor.size())};
  const auto* begin = reinterpret_cast<const uint8_t*>(head);
  bytes.insert(bytes.end(), begin, begin + sizeof head);
  bytes.insert(bytes.end(), name.begin(), name.end());
  bytes.insert(bytes.end(), tensor.begin(), tensor.end());
}

Result<std::vector<std::vector<ShownResult>>> read(const std::vector<uint8_t>& bytes) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  INTARSIA_CHECK(folder.ok() && write_file(folder->path() + "/results.bin", bytes).ok(),
                 "a file can be written");
  return read_shown_results(folder->path() + "/results.bin");
}

TEST(ShownResults, AreByRunInOrder) {
  std::vector<uint8_t> bytes;
  add(bytes, -1, "", {});
  add(bytes, 0, "stem", {1, 2, 3});
  add(bytes, 1, "split", {4});
  add(bytes, 1, "split", {5, 6});
  add(bytes, -1, "", {});
  add(bytes, 0, "stem", {});
  const auto runs = read(bytes);
  ASSERT_TRUE(runs.ok());
  ASSERT_EQ(runs->size(), 2u);
  ASSERT_EQ((*runs)[0].size(), 3u);
  EXPECT_EQ((*runs)[0][0].name, "stem");
  EXPECT_EQ((*runs)[0][0].bytes, (std::vector<uint8_t>{1, 2, 3}));
  EXPECT_EQ((*runs)[0][1].index, 1);
  EXPECT_EQ((*runs)[0][2].bytes, (std::vector<uint8_t>{5, 6}));
  EXPECT_EQ((*runs)[1].at(0).bytes.size(), 0u);
}

TEST(ShownResults, WhatIsCutShortOrHasNoRunIsRefused) {
  std::vector<uint8_t> whole;
  add(whole, -1, "", {});
  add(whole, 0, "stem", {1, 2, 3});
  EXPECT_TRUE(read(whole).ok());
  for (size_t size = 13; size < whole.size(); ++size)
    EXPECT_FALSE(read({whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)}).ok()) << size;
  EXPECT_FALSE(read({whole.begin() + 12, whole.end()}).ok());
  whole[16] = 0xFF;  // bytes of the name: negative
  whole[17] = whole[18] = whole[19] = 0xFF;
  EXPECT_FALSE(read(whole).ok());
  EXPECT_TRUE(read({}).ok());
}

}  // namespace
}  // namespace intarsia
