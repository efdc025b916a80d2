// Which bytes go to the GPU and which come back, from launches made by hand.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "compiler/cuda_kind.h"
#include "intarsia/plugin/tir.h"

namespace intarsia::targets::cuda {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using tir::Access;
using tir::BufferId;

// @f has %a, %b and %c of its caller: %a and %c are the model's, %b is its own.
tir::Module schedule() {
  const Result<tir::Module> module = tir::parse(R"(module m entry=@main
func @f(%a: i8[64] read, %b: i8[64] readwrite, %c: i8[64] write) {
}
func @main(%in: i8[64] read, %out: i8[64] write) {
  local %scratch: i8[64]
  call @f(%in, %scratch, %out)
}
)");
  INTARSIA_CHECK(module.ok(), module.ok() ? "" : module.error().to_string());
  return *module;
}

gpu::Use use(int32_t buffer, int64_t offset, int64_t bytes, Access access) {
  return {{0, offset}, bytes, access, BufferId{buffer}};
}

Transfers transfers(std::vector<std::vector<gpu::Use>> launches) {
  const tir::Module module = schedule();
  gpu::Launches all;
  all.uses = std::move(launches);
  all.stream.regions = {{StreamRegion::Kind::Pool, 0}};
  return transfers_of(module, module.funcs.at(0), all);
}

TEST(Transfers, AreOfWhatIsReadFirstAndOfWhatOthersRead) {
  const Transfers found =
      transfers({{use(0, 0, 64, Access::Read), use(1, 64, 64, Access::Write)},
                 {use(1, 64, 64, Access::Read), use(2, 128, 64, Access::Write)}});
  EXPECT_THAT(found.in, ElementsAre(Copy{0, 0, 64}));
  EXPECT_THAT(found.out, ElementsAre(Copy{0, 128, 64}));
}

TEST(Transfers, LeaveOutWhatTheLaunchesHaveWritten) {
  const Transfers found =
      transfers({{use(2, 16, 16, Access::Write)}, {use(2, 0, 64, Access::Read)}});
  EXPECT_THAT(found.in, ElementsAre(Copy{0, 0, 16}, Copy{0, 32, 32}));
  EXPECT_THAT(found.out, ElementsAre(Copy{0, 16, 16}));
}

TEST(Transfers, JoinWhatTouches) {
  const Transfers found = transfers({{use(0, 32, 32, Access::Read)},
                                     {use(0, 0, 32, Access::Read), use(0, 128, 8, Access::Read)},
                                     {use(0, 16, 32, Access::Read)}});
  EXPECT_THAT(found.in, ElementsAre(Copy{0, 0, 64}, Copy{0, 128, 8}));
  EXPECT_THAT(found.out, IsEmpty());
}

TEST(Transfers, ReadWhatIsReadAndWrittenAtOnce) {
  const Transfers found = transfers({{use(2, 0, 64, Access::ReadWrite)}});
  EXPECT_THAT(found.in, ElementsAre(Copy{0, 0, 64}));
  EXPECT_THAT(found.out, ElementsAre(Copy{0, 0, 64}));
}

TEST(Transfers, ScratchStaysOnTheGpu) {
  const Transfers found = transfers({{use(1, 0, 64, Access::ReadWrite)}});
  EXPECT_THAT(found.in, IsEmpty());
  EXPECT_THAT(found.out, IsEmpty());
}

}  // namespace
}  // namespace intarsia::targets::cuda
