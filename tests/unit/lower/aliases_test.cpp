#include "lowering/aliases.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace intarsia::lowering {
namespace {

using testing::HasSubstr;
using tir::BufferId;

// in, out: 8 bytes, of the model; between: 8 bytes; two arenas.
tir::Func schedule(int64_t first_arena, int64_t second_arena) {
  tir::Func func;
  func.name = "main";
  func.parameters = {{tir::Access::Read}, {tir::Access::Write}};
  const auto add = [&](const char* name, int64_t bytes, tir::Scope scope) {
    func.buffers.push_back({name, DataType::Int8, {bytes}, scope, {}, {}, 16});
  };
  add("in", 8, tir::Scope::Parameter);
  add("out", 8, tir::Scope::Parameter);
  add("between", 8, tir::Scope::Local);
  add("first", first_arena, tir::Scope::Local);
  add("second", second_arena, tir::Scope::Local);
  return func;
}

constexpr BufferId kIn{0}, kOut{1}, kBetween{2}, kFirst{3}, kSecond{4};

TEST(Aliases, OneArenaHoldsItsTensors) {
  tir::Func func = schedule(64, 64);
  ASSERT_TRUE(fulfil_aliases(func, {{kIn, kFirst, 16}, {kOut, kFirst, 0}}).ok());
  EXPECT_EQ(func.buffers.size(), 5u);
  EXPECT_EQ(func.buffer(kIn).alias, kFirst);
  EXPECT_EQ(func.buffer(kIn).alias_offset, 16);
  EXPECT_EQ(func.buffer(kOut).alias, kFirst);
  EXPECT_EQ(func.buffer(kOut).alias_offset, 0);
  EXPECT_FALSE(func.buffer(kFirst).alias.valid());
  EXPECT_FALSE(func.buffer(kSecond).alias.valid());
}

TEST(Aliases, ATensorBetweenTwoArenasMakesThemOne) {
  tir::Func func = schedule(64, 128);
  ASSERT_TRUE(
      fulfil_aliases(func, {{kIn, kFirst, 16}, {kBetween, kFirst, 32}, {kBetween, kSecond, 32}})
          .ok());
  EXPECT_EQ(func.buffers.size(), 5u);
  EXPECT_EQ(func.buffer(kFirst).alias, kSecond);  // the larger one holds the other
  EXPECT_EQ(func.buffer(kFirst).alias_offset, 0);
  EXPECT_EQ(tir::alias_root(func, kIn).buffer, kSecond);
  EXPECT_EQ(tir::alias_root(func, kIn).offset, 16);
}

TEST(Aliases, ShiftedArenasGetACommonOne) {
  tir::Func func = schedule(64, 64);
  ASSERT_TRUE(fulfil_aliases(func, {{kBetween, kFirst, 32}, {kBetween, kSecond, 0}}).ok());
  ASSERT_EQ(func.buffers.size(), 6u);
  EXPECT_EQ(func.buffers[5].name, "arena");
  EXPECT_EQ(func.buffers[5].bytes(), 96);
  EXPECT_EQ(func.buffers[5].alignment, 16);
  EXPECT_EQ(func.buffer(kSecond).alias_offset, 32);
  EXPECT_EQ(func.buffer(kBetween).alias_offset, 32);
  EXPECT_EQ(func.buffer(kFirst).alias_offset, 0);
}

TEST(Aliases, KeepsThoseThatWereThere) {
  tir::Func func = schedule(64, 64);
  func.buffers[2].alias = kSecond;
  func.buffers[2].alias_offset = 48;
  ASSERT_TRUE(fulfil_aliases(func, {{kIn, kSecond, 16}}).ok());
  EXPECT_EQ(func.buffer(kBetween).alias_offset, 48);
  EXPECT_EQ(func.buffer(kIn).alias_offset, 16);
}

TEST(Aliases, RefusesTwoPlaces) {
  tir::Func func = schedule(64, 64);
  const Result<void> result = fulfil_aliases(
      func, {{kIn, kFirst, 16}, {kBetween, kFirst, 0}, {kBetween, kSecond, 0}, {kIn, kSecond, 32}});
  ASSERT_FALSE(result.ok());
  EXPECT_THAT(result.error().to_string(), HasSubstr("buffer 'in': would have to be at two places"));
}

}  // namespace
}  // namespace intarsia::lowering
