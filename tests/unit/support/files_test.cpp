#include "support/files.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "support/bounded_read.h"

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

// A pipe gets the bytes and stays a pipe; a device that takes none is said by name and stays a device.
TEST(Files, DevicesAndPipesAreWrittenInto) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string pipe = folder->path() + "/pipe", full = folder->path() + "/full";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const int reader = open(pipe.c_str(), O_RDONLY | O_NONBLOCK);
  ASSERT_GE(reader, 0);
  EXPECT_TRUE(write_file(pipe, "piped").ok());
  char bytes[8] = {};
  EXPECT_EQ(read(reader, bytes, sizeof(bytes)), 5);
  EXPECT_STREQ(bytes, "piped");
  close(reader);
  EXPECT_TRUE(fs::is_fifo(pipe));

  if (!fs::is_character_file("/dev/full")) return;
  fs::create_symlink("/dev/full", full);
  const Result<void> refused = write_file(full, "more than none");
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(
      refused.error().to_string(),
      full +
          ": cannot be written: No space left on device; make room there, or name another place\n");
  EXPECT_TRUE(fs::is_symlink(full));
}

// A link stays one, and what it leads to is replaced, whether it is there already or not.
TEST(Files, AreWrittenWhereLinksLead) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string link = folder->path() + "/link", file = folder->path() + "/there/file";
  fs::create_directory(folder->path() + "/there");
  fs::create_symlink("there/link", link);
  fs::create_symlink("file", folder->path() + "/there/link");
  for (const char* text : {"new", "newer"}) {
    ASSERT_TRUE(write_file(link, text).ok());
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::is_symlink(file));
    EXPECT_EQ(*read_text_file(file), text);
  }
  fs::create_symlink("turns", folder->path() + "/turns");
  EXPECT_TRUE(write_file(folder->path() + "/turns", "round").ok());
  EXPECT_EQ(*read_text_file(folder->path() + "/turns"), "round");
}

// As /dev/stdout is, where the shell has led it to a file.
TEST(Files, WhatIsOpenIsWrittenTo) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string file = folder->path() + "/file", link = folder->path() + "/stdout";
  const int opened = open(file.c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(opened, 0);
  ASSERT_EQ(write(opened, "before ", 7), 7);
  fs::create_symlink("/proc/self/fd/" + std::to_string(opened), link);
  EXPECT_TRUE(write_file(link, "text").ok());
  ASSERT_EQ(write(opened, " behind", 7), 7);
  close(opened);
  EXPECT_TRUE(fs::is_symlink(link));
  EXPECT_EQ(*read_text_file(file), "before text behind");
  EXPECT_FALSE(write_file(link, "text").ok());
}

// Each of them whole, and none of them refused.
TEST(Files, MayBeWrittenByTwoAtATime) {
  Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string file = folder->path() + "/file";
  std::vector<std::thread> writers;
  std::atomic<int> refused{0};
  for (const char letter : {'a', 'b', 'c', 'd'})
    writers.emplace_back([&, letter] {
      const std::vector<SourceFile> files = {{"folder.txt", std::string(5000, letter)}};
      for (int i = 0; i < 100; ++i) {
        const bool whole = write_file(file, std::string(50'000, letter)).ok() &&
                           write_folder(folder->path(), files).ok();
        if (!whole) ++refused;
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(refused, 0);
  const std::string text = *read_text_file(file);
  EXPECT_EQ(text, std::string(50'000, text[0]));
  EXPECT_EQ(std::distance(fs::directory_iterator(folder->path()), {}), 2);
}

// Sets TMPDIR, and puts back what it was.
class TemporaryFolders : public testing::Test {
 protected:
  void TearDown() override {
    if (before_.empty())
      unsetenv("TMPDIR");
    else
      setenv("TMPDIR", before_.c_str(), 1);
  }

 private:
  const std::string before_ = std::getenv("TMPDIR") != nullptr ? std::getenv("TMPDIR") : "";
};

TEST_F(TemporaryFolders, AreMadeWhereTmpdirSays) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  setenv("TMPDIR", folder->path().c_str(), 1);
  EXPECT_EQ(fs::path(TemporaryFolder::make()->path()).parent_path(), folder->path());
  setenv("TMPDIR", fs::relative(folder->path()).c_str(), 1);
  EXPECT_TRUE(fs::path(TemporaryFolder::make()->path()).is_absolute());

  setenv("TMPDIR", "", 1);
  EXPECT_TRUE(TemporaryFolder::make().ok());

  setenv("TMPDIR", "/absent/folder", 1);
  const Result<TemporaryFolder> refused = TemporaryFolder::make();
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().to_string(),
            "TMPDIR: '/absent/folder' is not a folder; name a folder that is there, or leave "
            "TMPDIR unset\n");
}

TEST(BoundedRead, NoMoreThanAskedForAndOne) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string path = folder->path() + "/file";
  ASSERT_TRUE(write_file(path, std::string(200'000, 'x')).ok());
  EXPECT_EQ(known_size(path), 200'000u);
  EXPECT_EQ(known_size("/dev/zero"), std::nullopt);
  for (const size_t most : {size_t{0}, size_t{1}, size_t{65'536}, size_t{199'999}})
    EXPECT_EQ(read_beginning(path, most)->size(), most + 1);
  for (const size_t most : {size_t{200'000}, size_t{1} << 40, SIZE_MAX})
    EXPECT_EQ(read_beginning(path, most)->size(), 200'000u);
  EXPECT_EQ(read_beginning("/dev/zero", 100'000)->size(), 100'001u);
  EXPECT_TRUE(read_beginning("/dev/null", 10)->empty());
}

}  // namespace
}  // namespace intarsia
