// No byte crosses a port for nothing: whatever a stream is, its cycles are no fewer than each port needs for its bytes.
#include <random>

#include <gtest/gtest.h>

#include "intarsia/targets/ethos_u/timeline.h"
#include "recorded_data.h"
#include "timed_vela.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;

TEST(PortBounds, HoldForEveryRecordedStream) {
  int streams = 0;
  for (const VelaFile& file : read_vela_files())
    for (const VelaOperator& op : file.operators) {
      SCOPED_TRACE(file.path);
      const TimedRun run = run_timed(op, file.memory_mode);
      ASSERT_EQ(run.problem, "");
      ++streams;
      for (size_t port = 0; port < sim::kPorts; ++port) {
        EXPECT_GE(run.totals.cycles, run.totals.port_cycles[port] - 1e-6) << "port " << port;
        // Counted apart: the clock leaves no bytes out.
        EXPECT_GE(run.totals.port_cycles[port], run.least_port_cycles[port] - 1e-6)
            << "port " << port;
      }
    }
  EXPECT_GE(streams, 23);
}

// Streams of any operations and transfers, dependent or not, in every configuration, mode and system.
class RandomStream {
 public:
  explicit RandomStream(uint32_t seed) : random_(seed) {}

  void run() {
    const sim::Configuration& configuration =
        sim::configurations()[below(static_cast<int32_t>(sim::configurations().size()))];
    const auto& npu = *isa::ethos_u::find_npu_timing(configuration.tag);
    const char* const modes[] = {"sram-only", "shared-sram", "dedicated-sram"};
    const char* const systems[] = {"Ethos_U55_High_End_Embedded", "Ethos_U55_Deep_Embedded",
                                   "Ethos_U65_High_End",          "Ethos_U65_Embedded",
                                   "Ethos_U65_Mid_End",           "Ethos_U65_Client_Server"};
    const int32_t system = npu.is_u65 ? 2 + below(4) : below(2);
    const auto memories =
        *isa::ethos_u::memory_system(npu, systems[system], modes[below(npu.is_u65 ? 3 : 2)]);
    sim::Memory memory(configuration);
    sim::Timeline timeline(configuration, memories);
    LeastBytes least(memories, timeline);
    const int32_t commands = 1 + below(40);
    for (int32_t i = 0; i < commands; ++i) {
      sim::DecodedCommand command;
      command.words = static_cast<uint32_t>(1 + below(40));
      least.command(command);
      switch (below(4)) {
        case 0:
          least.before(transfer(), memory);
          break;
        case 1:
          least.wait({0, below(2) == 0 ? sim::WaitKind::Kernel : sim::WaitKind::Dma, below(2)});
          break;
        default:
          least.before(operation(configuration), memory);
      }
    }
    least.stop({});
    const std::array<double, sim::kPorts> needed = least.port_cycles();
    for (size_t port = 0; port < sim::kPorts; ++port) {
      ASSERT_GE(timeline.totals().cycles, timeline.totals().port_cycles[port] - 1e-6);
      ASSERT_GE(timeline.totals().port_cycles[port], needed[port] - 1e-6);
    }
    for (const sim::TimedCommand& each : timeline.commands()) {
      ASSERT_LE(each.started, each.ended);
      ASSERT_LE(each.ended, timeline.totals().cycles + 1e-6);
    }
  }

 private:
  int32_t below(int32_t bound) {
    return static_cast<int32_t>(random_() % static_cast<uint32_t>(bound));
  }
  sim::FeatureMap map(int32_t height, int32_t width, int32_t depth) {
    sim::FeatureMap map;
    map.region = static_cast<uint32_t>(below(3));
    map.height = height, map.width = width, map.depth = depth;
    map.brick = below(2) == 0;
    map.stride_x = depth;
    return map;
  }
  sim::Operation operation(const sim::Configuration& configuration) {
    sim::Operation op;
    const sim::OperationKind kinds[] = {sim::OperationKind::Conv, sim::OperationKind::Conv,
                                        sim::OperationKind::Depthwise, sim::OperationKind::Pool,
                                        sim::OperationKind::Elementwise};
    op.kind = kinds[below(5)];
    const int32_t height = 1 + below(20), width = 1 + below(20), depth = 1 + below(200);
    op.ofm = map(height, width, depth);
    const bool windowed = op.kind != sim::OperationKind::Elementwise;
    op.kernel.height = windowed ? 1 + below(10) : 1;
    op.kernel.width = windowed ? 1 + below(10) : 1;
    op.ifm = map(height + op.kernel.height - 1, width + op.kernel.width - 1,
                 op.kind == sim::OperationKind::Conv ? 1 + below(200) : depth);
    op.upscaled_height = op.ifm.height;
    op.upscaled_width = op.ifm.width;
    if (!windowed && below(2) == 0) {
      op.has_ifm2 = true;
      op.ifm2 = map(height, width, depth);
    }
    op.ofm_block = {2 * (1 + below(8)), 2 * (1 + below(8)), 8 * (1 + below(8))};
    op.cores = configuration.cores;
    if (op.has_weights()) {
      op.weight_region = op.scale_region = static_cast<uint32_t>(below(3));
      for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
        op.weights[core].length = static_cast<uint64_t>(16 * (1 + below(2000)));
        op.scales[core].length = static_cast<uint64_t>(16 * (1 + below(60)));
      }
    }
    op.activation = {sim::ActivationFunction::Clamp, 0, {}, -128, 127};
    op.blockdep = below(4);
    return op;
  }
  sim::DmaTransfer transfer() {
    sim::DmaTransfer dma;
    dma.source_region = static_cast<uint32_t>(below(3));
    dma.target_region = static_cast<uint32_t>(1 + below(2));
    dma.target_internal = below(4) == 0;
    dma.length = static_cast<uint64_t>(16 * (1 + below(3000)));
    return dma;
  }

  std::mt19937 random_;
};

TEST(PortBounds, HoldForRandomStreams) {
  for (uint32_t seed = 0; seed < 2000; ++seed) {
    SCOPED_TRACE(seed);
    RandomStream(seed).run();
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace intarsia::test::ethos_u
