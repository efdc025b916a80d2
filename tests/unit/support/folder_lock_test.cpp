#include "support/folder_lock.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>
#include <vector>

#include "support/files.h"

namespace intarsia {
namespace {

namespace fs = std::filesystem;

TEST(FolderLock, OneAtATimeAndNothingIsLeft) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const std::string target = folder->path() + "/deep/out";
  std::atomic<int> inside{0}, most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const FolderLock alone(round % 2 == 0 ? target : target + "/");
        const int now = ++inside;
        if (now > most) most = now;
        std::this_thread::yield();
        --inside;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
  EXPECT_TRUE(fs::is_empty(folder->path() + "/deep"));
}

TEST(FolderLock, OtherFoldersDoNotWait) {
  const Result<TemporaryFolder> folder = TemporaryFolder::make();
  ASSERT_TRUE(folder.ok());
  const FolderLock one(folder->path() + "/one"), two(folder->path() + "/two");
  EXPECT_FALSE(fs::is_empty(folder->path()));
}

TEST(FolderLock, WhereThereCanBeNoneThereIsNone) {
  const FolderLock nowhere("/proc/nowhere/out"), root("/");
}

}  // namespace
}  // namespace intarsia
