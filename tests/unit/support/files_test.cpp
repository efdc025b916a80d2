#include "support/files.h"

#include <gtest/gtest.h>

#include <filesystem>

namespace intarsia {
namespace {

namespace fs = std::filesystem;

// A second name of the old file tells whether the new one was written into it: a reader that has it open, or a
// program that is killed in the middle, would see the same.
TEST(Files, AreReplacedAndNotWrittenInto) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string file = folder->path() + "/a.txt", other = folder->path() + "/b.txt";
  ASSERT_TRUE(write_file(file, "old").ok());
  fs::create_hard_link(file, other);
  ASSERT_TRUE(write_file(file, "new").ok());
  EXPECT_EQ(*read_text_file(file), "new");
  EXPECT_EQ(*read_text_file(other), "old");

  ASSERT_TRUE(write_folder(folder->path(), {{"b.txt", "newer"}}).ok());
  fs::create_hard_link(other, folder->path() + "/c.txt");
  ASSERT_TRUE(write_folder(folder->path(), {{"b.txt", "newest"}, {"d/e.txt", "e"}}).ok());
  EXPECT_EQ(*read_text_file(other), "newest");
  EXPECT_EQ(*read_text_file(folder->path() + "/c.txt"), "newer");
  EXPECT_EQ(*read_text_file(folder->path() + "/d/e.txt"), "e");
}

}  // namespace
}  // namespace intarsia
