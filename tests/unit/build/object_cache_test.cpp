#include "build/object_cache.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <optional>
#include <thread>

#include <gtest/gtest.h>

#include "support/files.h"

namespace intarsia::build {
namespace {

namespace fs = std::filesystem;

class Cache : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    owner_.emplace(std::move(folder).value());
    write("compiler", "#!/bin/sh\n");
    fs::permissions(path("compiler"), fs::perms::owner_all);
    write("a.c", "#include \"inner.h\"\n#include <stdint.h>\n");
    write("include/inner.h", "#include \"deep.def\"\n");
    write("include/deep.def", "X(1)\n");
    write("a.o", "object");
    write("a.ci", "graph");
    write("header.h", "of the system");
    write("a.d", "a.o: a.c include/inner.h \\\n " + path("header.h") + "\n");
  }
  std::string path(const std::string& name) const { return owner_->path() + "/" + name; }
  void write(const std::string& name, const std::string& text) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    ASSERT_TRUE(write_file(path(name), text).ok());
  }
  std::string key(std::vector<std::string> flags = {"-Os"}) const {
    flags.insert(flags.begin(), path("compiler"));
    return cache_.key_of({flags, "a.c", owner_->path(), {"include"}}).value_or("");
  }

  std::optional<TemporaryFolder> owner_;
  ObjectCache cache_{testing::TempDir() + "intarsia-cache-" + std::to_string(getpid())};
  void TearDown() override {
    fs::remove_all(testing::TempDir() + "intarsia-cache-" + std::to_string(getpid()));
  }
};

TEST_F(Cache, TheKeyIsOfAllThatIsRead) {
  const std::string before = key();
  ASSERT_EQ(before.size(), 32u);
  EXPECT_EQ(before, key());
  EXPECT_NE(before, key({"-O2"}));
  EXPECT_NE(before, key({"-O", "s"}));
  write("include/deep.def", "X(2)\n");
  const std::string deeper = key();
  EXPECT_NE(before, deeper);
  write("a.c", "#include \"inner.h\"\n#include <stdint.h>\nint x;\n");
  EXPECT_NE(deeper, key());
  write("compiler", "#!/bin/sh\n# another version\n");
  fs::permissions(path("compiler"), fs::perms::owner_all);
  EXPECT_NE(before, key());
}

TEST_F(Cache, GivesBackWhatWasPut) {
  EXPECT_FALSE(cache_.take(key(), path("b.o")));
  cache_.put(key(), path("a.o"));
  ASSERT_TRUE(cache_.take(key(), path("b.o")));
  EXPECT_EQ(*read_text_file(path("b.o")), "object");
  EXPECT_EQ(*read_text_file(path("b.ci")), "graph");
  EXPECT_FALSE(cache_.take(key({"-O2"}), path("b.o")));
}

TEST_F(Cache, AnotherHeaderOfTheSystemIsNotTheSame) {
  cache_.put(key(), path("a.o"));
  write("header.h", "of the system, in its next version");
  EXPECT_FALSE(cache_.take(key(), path("b.o")));
  cache_.put(key(), path("a.o"));  // takes its place
  EXPECT_TRUE(cache_.take(key(), path("b.o")));
}

TEST_F(Cache, OffOrBroken) {
  EXPECT_FALSE(ObjectCache("").key_of({{path("compiler")}, "a.c", owner_->path(), {}}));
  EXPECT_FALSE(cache_.key_of({{path("compiler")}, "absent.c", owner_->path(), {}}));
  EXPECT_FALSE(cache_.key_of({{"no-such-compiler"}, "a.c", owner_->path(), {}}));
  const ObjectCache nowhere("/proc/nowhere");
  nowhere.put("key", path("a.o"));
  EXPECT_FALSE(nowhere.take("key", path("b.o")));
  nowhere.trim();
}

TEST_F(Cache, SeveralAtATime) {
  const std::string found = key();
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 20; ++i) {
        cache_.put(found, path("a.o"));
        const std::string mine = path("t" + std::to_string(t) + ".o");
        if (cache_.take(found, mine)) {
          EXPECT_EQ(*read_text_file(mine), "object");
        }
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_TRUE(cache_.take(found, path("b.o")));
}

// The bound holds, and what was used last is what stays.
TEST_F(Cache, TheLongestUnusedGo) {
  const std::string folder = path("bounded");
  const ObjectCache bounded(folder, 13'000);
  write("a.o", std::string(1000, 'x'));
  for (int i = 0; i < 9; ++i) bounded.put("key" + std::to_string(i), path("a.o"));
  for (int i = 0; i < 9; ++i)
    fs::last_write_time(folder + "/objects/key" + std::to_string(i),
                        fs::file_time_type::clock::now() - std::chrono::hours(20 - i));
  bounded.trim();
  EXPECT_TRUE(bounded.take("key0", path("b.o"))) << "below the limit nothing goes";
  for (int i = 9; i < 12; ++i) bounded.put("key" + std::to_string(i), path("a.o"));
  bounded.trim();
  EXPECT_TRUE(bounded.take("key0", path("b.o"))) << "used a moment ago";
  EXPECT_FALSE(bounded.take("key1", path("b.o")));
  EXPECT_FALSE(bounded.take("key2", path("b.o")));
  EXPECT_TRUE(bounded.take("key11", path("b.o")));
}

}  // namespace
}  // namespace intarsia::build
