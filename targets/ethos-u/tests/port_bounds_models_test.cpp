// The bounds of port_bounds_test.cpp for what our own compiler makes of every network, on every configuration in every
// memory mode.
#include <gtest/gtest.h>

#include "compiled.h"
#include "recorded_data.h"
#include "timed_compiled.h"

namespace intarsia::test::ethos_u {
namespace {

constexpr const char* kModes[] = {"sram-only", "shared-sram", "dedicated-sram"};

TEST(PortBoundsOfModels, Hold) {
  int streams = 0;
  for (const std::filesystem::path& model : recorded_models())
    for (const isa::ethos_u::NpuTiming& npu : isa::ethos_u::kNpuTimings)
      for (const char* mode : kModes) {
        if (!npu.is_u65 && std::string_view(mode) == "dedicated-sram") continue;
        const std::string tag(npu.tag);
        SCOPED_TRACE(model.filename().string() + " " + tag + " " + mode);
        const auto compiled =
            compile_for(read_bytes(model / "model.tflite"), {.target = tag, .memory_mode = mode});
        ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
        for (const CommandStream& stream : compiled->program().emitted.streams) {
          const TimedRun run = run_timed(*compiled, stream, mode);
          ASSERT_EQ(run.problem, "");
          ++streams;
          for (size_t port = 0; port < simulators::ethos_u::kPorts; ++port) {
            EXPECT_GE(run.totals.cycles, run.totals.port_cycles[port] - 1e-6);
            EXPECT_GE(run.totals.port_cycles[port], run.least_port_cycles[port] - 1e-6);
          }
        }
      }
  EXPECT_GT(streams, 14 * 3);
}

}  // namespace
}  // namespace intarsia::test::ethos_u
