// Whatever fails, and wherever the program is killed: the folder is the old one or the new one.
#include "packaging/replace_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <map>

#include "support/files.h"

namespace intarsia::packaging {
namespace {

namespace fs = std::filesystem;
using Contents = std::map<std::string, std::string>;

// Fails at one operation. Killed: at every one after it too, so that nothing is cleaned up.
class FailingOperations : public FileOperations {
 public:
  FailingOperations(int at, bool killed) : at_(at), killed_(killed) {}
  bool can_exchange = true, can_write_beside = true, can_move_in = true;
  bool failed = false;

  std::error_code make_folders(const fs::path& folder) override {
    if (!can_write_beside && folder.filename().string().starts_with(".out")) return kDenied;
    return fails() ? kDenied : FileOperations::make_folders(folder);
  }
  std::error_code write(const fs::path& file, const Content& content) override {
    if (!fails()) return FileOperations::write(file, content);
    // Half of it is there when the disk is full.
    (void)FileOperations::write(file, [&](const TextSink& sink) {
      std::string whole;
      content([&](std::string_view piece) { whole += piece; });
      sink(std::string_view(whole).substr(0, whole.size() / 2));
    });
    return kDenied;
  }
  std::error_code rename(const fs::path& from, const fs::path& to) override {
    // A mount point: what lies beside it is on another file system.
    if (!can_move_in && from.string().find("/.out.intarsia-new") != std::string::npos)
      return std::make_error_code(std::errc::cross_device_link);
    return fails() ? kDenied : FileOperations::rename(from, to);
  }
  std::error_code exchange(const fs::path& a, const fs::path& b) override {
    if (!can_exchange) return std::make_error_code(std::errc::invalid_argument);
    return fails() ? kDenied : FileOperations::exchange(a, b);
  }
  std::error_code link(const fs::path& from, const fs::path& to) override {
    return fails() ? kDenied : FileOperations::link(from, to);
  }
  std::error_code remove(const fs::path& path) override {
    return fails() ? kDenied : FileOperations::remove(path);
  }
  std::error_code remove_all(const fs::path& path) override {
    return fails() ? kDenied : FileOperations::remove_all(path);
  }

 private:
  bool fails() {
    const bool now = killed_ ? count_ >= at_ : count_ == at_;
    ++count_;
    failed = failed || now;
    return now;
  }
  inline static const std::error_code kDenied = std::make_error_code(std::errc::no_space_on_device);
  int at_, count_ = 0;
  bool killed_;
};

const Contents kOld = {{"manifest.json", "old manifest"},
                       {"kws.c", "old"},
                       {"only/old.c", "gone"},
                       {"notes/mine.txt", "mine"},
                       {"runtime/a.h", "same"}};
const Contents kNew = {{"manifest.json", "new manifest"},
                       {"kws.c", "new"},
                       {"new/b.c", "new too"},
                       {"notes/mine.txt", "mine"},
                       {"runtime/a.h", "same"}};

class ReplaceFolder : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> made = TemporaryFolder::make();
    ASSERT_TRUE(made.ok());
    owner_.emplace(std::move(made).value());
    folder_ = owner_->path() + "/out";
  }
  void put(const Contents& contents) {
    fs::remove_all(folder_);
    fs::remove_all(owner_->path() + "/.out.intarsia-new");
    for (const auto& [path, text] : contents) {
      fs::create_directories((fs::path(folder_) / path).parent_path());
      ASSERT_TRUE(write_file(folder_ + "/" + path, text).ok());
    }
  }
  // Without what an interrupted compilation leaves aside.
  Contents there() const {
    Contents contents;
    if (!fs::exists(folder_)) return contents;
    for (const auto& entry : fs::recursive_directory_iterator(folder_)) {
      const std::string path = fs::relative(entry.path(), folder_).generic_string();
      if (entry.is_regular_file() && !path.starts_with(".intarsia-new"))
        contents[path] = *read_text_file(entry.path().string());
    }
    return contents;
  }
  NewFolder wanted() const {
    NewFolder wanted;
    wanted.folder = folder_;
    for (const auto& [path, text] : kNew)
      if (path != "notes/mine.txt") wanted.files.push_back({path, text});
    wanted.earlier = {"manifest.json", "kws.c", "only/old.c", "runtime/a.h"};
    wanted.guard = "manifest.json";
    wanted.guard_text = "interrupted";
    return wanted;
  }

  std::optional<TemporaryFolder> owner_;
  std::string folder_;
};

TEST_F(ReplaceFolder, IsTheNewOneAndKeepsWhatIsNotOurs) {
  put(kOld);
  FileOperations operations;
  ASSERT_TRUE(replace_folder(wanted(), operations).ok());
  EXPECT_EQ(there(), kNew);
  EXPECT_FALSE(fs::exists(folder_ + "/only")) << "nothing but an earlier file was in it";
  EXPECT_EQ(std::distance(fs::directory_iterator(owner_->path()), {}), 1) << "nothing aside";
}

TEST_F(ReplaceFolder, IsOldOrNewWhereverItIsKilledOrFails) {
  for (const bool killed : {true, false})
    for (const bool exists : {true, false})
      for (int at = 0;; ++at) {
        put(exists ? kOld : Contents());
        Contents fresh = kNew;
        if (!exists) fresh.erase("notes/mine.txt");
        FailingOperations operations(at, killed);
        const bool done = replace_folder(wanted(), operations).ok();
        const Contents now = there();
        if (done) {
          EXPECT_EQ(now, fresh) << at;
        } else {
          EXPECT_TRUE(now == (exists ? kOld : Contents()) || now == fresh)
              << at << (killed ? " killed" : " failed");
        }
        if (!operations.failed) break;
        // What is left does not disturb the next one.
        FileOperations working;
        ASSERT_TRUE(replace_folder(wanted(), working).ok()) << at;
        EXPECT_EQ(there(), fresh);
        EXPECT_EQ(std::distance(fs::directory_iterator(owner_->path()), {}), 1);
        ASSERT_LT(at, 100);
      }
}

// Where folders cannot change places: then the guard says that the folder is neither.
TEST_F(ReplaceFolder, OneByOneTheGuardTellsThatItIsNotWhole) {
  for (const bool beside : {true, false})
    for (int at = 0;; ++at) {
      put(kOld);
      FailingOperations operations(at, true);
      operations.can_exchange = false;
      operations.can_write_beside = beside;
      operations.can_move_in = false;
      const bool done = replace_folder(wanted(), operations).ok();
      const Contents now = there();
      EXPECT_EQ(now.at("notes/mine.txt"), "mine") << at;
      EXPECT_TRUE(now == kOld || now == kNew || now.at("manifest.json") == "interrupted") << at;
      if (done) {
        EXPECT_EQ(now, kNew);
      }
      if (!operations.failed) {
        EXPECT_TRUE(done);
        break;
      }
      FileOperations working;
      NewFolder again = wanted();
      again.earlier.insert("new/b.c");  // as the guard lists
      ASSERT_TRUE(replace_folder(again, working).ok()) << at;
      EXPECT_EQ(there(), kNew) << at;
      ASSERT_LT(at, 100);
    }
}

TEST_F(ReplaceFolder, WhatIsNotOursIsNotOverwritten) {
  put({{"kws.c", "mine"}});
  NewFolder first = wanted();
  first.earlier.clear();
  FileOperations operations;
  const Result<void> refused = replace_folder(first, operations);
  ASSERT_FALSE(refused.ok());
  EXPECT_NE(refused.error().to_string().find("kws.c: is not of an earlier 'intarsia compile'"),
            std::string::npos)
      << refused.error().to_string();
  EXPECT_EQ(there(), (Contents{{"kws.c", "mine"}}));
  first.overwrite = true;
  EXPECT_TRUE(replace_folder(first, operations).ok());
  put({{"kws.c", "new"}});
  first.overwrite = false;
  EXPECT_TRUE(replace_folder(first, operations).ok()) << "the same bytes are in nobody's way";
}

TEST_F(ReplaceFolder, LinksAndFoldersOfOthersStay) {
  put(kOld);
  fs::create_directories(folder_ + "/build/empty");
  fs::create_symlink("notes/mine.txt", folder_ + "/link");
  fs::create_directory_symlink(folder_, owner_->path() + "/door");
  NewFolder through = wanted();
  through.folder = owner_->path() + "/door";
  FileOperations operations;
  ASSERT_TRUE(replace_folder(through, operations).ok());
  EXPECT_TRUE(fs::is_directory(folder_ + "/build/empty"));
  EXPECT_TRUE(fs::is_symlink(folder_ + "/link"));
  EXPECT_TRUE(fs::is_symlink(owner_->path() + "/door"));
  EXPECT_EQ(*read_text_file(folder_ + "/kws.c"), "new");
}

}  // namespace
}  // namespace intarsia::packaging
