// How far the compiler's estimate and the simulator's clock are apart, which are written apart from each other: both for
// the same streams. The estimate is in closed form, the clock plays every block; what they share is the tables of isa/.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "compiled.h"
#include "intarsia/npu/timeline.h"
#include "intarsia/targets/ethos_u/weight_stream.h"
#include "recorded_data.h"
#include "schedule/operation_timing.h"
#include "timed_compiled.h"
#include "timed_vela.h"
#include "vela_file.h"

namespace intarsia::test::ethos_u {
namespace {

namespace sim = simulators::ethos_u;
namespace timing = targets::ethos_u::operation_timing;

timing::Work work_of(const sim::Operation& op) {
  switch (op.kind) {
    case sim::OperationKind::Conv:
      return timing::Work::Conv;
    case sim::OperationKind::Depthwise:
      return timing::Work::Depthwise;
    case sim::OperationKind::Pool:
      return op.pooling == sim::PoolingMode::Max         ? timing::Work::MaxPool
             : op.pooling == sim::PoolingMode::ReduceSum ? timing::Work::ReduceSum
                                                         : timing::Work::OtherPool;
    case sim::OperationKind::Elementwise:
      break;
  }
  if (op.elementwise == sim::ElementwiseMode::Mul) return timing::Work::Multiply;
  const bool adds =
      op.elementwise == sim::ElementwiseMode::Add || op.elementwise == sim::ElementwiseMode::Sub;
  if (!adds) return timing::Work::OtherElementwise;
  return op.operand_scale == sim::OperandScale::Both16 ? timing::Work::SimpleAddSub
                                                       : timing::Work::AddSub;
}

// Asks the compiler's formulas for each operation of a stream, and its timeline for what overlaps.
class Estimate final : public sim::Observer {
 public:
  Estimate(const isa::ethos_u::NpuTiming& npu, const isa::ethos_u::MemorySystem& memories)
      : npu_(npu),
        memories_(memories),
        timeline_({static_cast<int32_t>(npu.outstanding_kernels),
                   static_cast<int32_t>(npu.outstanding_dma),
                   {commands(20), commands(10)}}) {}

  void before(const sim::Operation& op, const sim::Memory& memory) override {
    timing::OperationTiming described = describe(op);
    if (op.has_weights())
      for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
        const sim::Range& range = op.weights[core];
        const uint8_t* bytes = memory.read(op.weight_region, range.base, range.length);
        const auto headers = sim::weight_headers({bytes, range.length}, size_t{1} << 24);
        if (range.length == 0 || !headers) continue;
        described.weight_headers = std::max(
            described.weight_headers,
            static_cast<double>(headers->slices) * isa::ethos_u::kAssumed.slice_header +
                static_cast<double>(headers->palettes) * isa::ethos_u::kAssumed.palette_header +
                static_cast<double>(headers->entries) * isa::ethos_u::kAssumed.palette_entry);
      }
    const timing::OperationCycles cycles = timing::operation_cycles(npu_, described);
    npu::OperationCost cost;
    cost.pipeline = cycles.pipeline;
    cost.first_fetch = cycles.first_fetch;
    cost.drain = cycles.drain;
    cost.start = cycles.start;
    cost.ports[port(op.ifm.region)] += cycles.ifm.cycles;
    if (op.has_ifm2) cost.ports[port(op.ifm2.region)] += cycles.ifm2.cycles;
    if (op.has_weights())
      cost.ports[port(op.weight_region)] += cycles.weights.cycles + cycles.scales.cycles;
    cost.ports[port(op.ofm.region)] += cycles.ofm.cycles;
    timeline_.operation(cost, op.blockdep == 0);
  }
  void before(const sim::DmaTransfer& dma, const sim::Memory&) override {
    const auto place = [&](uint32_t region, bool internal) {
      return internal ? static_cast<size_t>(isa::ethos_u::kShramPort) : port(region);
    };
    const size_t from = place(dma.source_region, dma.source_internal),
                 to = place(dma.target_region, dma.target_internal);
    npu::TransferCost cost;
    cost.cycles = timing::dma_cycles(memories_.ports[from], memories_.ports[to],
                                     static_cast<int64_t>(dma.length));
    cost.ports[from] += static_cast<double>(dma.length) / memories_.ports[from].bytes_per_cycle;
    cost.ports[to] += static_cast<double>(dma.length) / memories_.ports[to].bytes_per_cycle;
    cost.cycles = std::max(cost.cycles, *std::max_element(cost.ports.begin(), cost.ports.end()));
    last_transfer_ = timeline_.transfer(cost);
  }
  void wait(const sim::Wait& wait) override {
    if (wait.kind == sim::WaitKind::Kernel)
      timeline_.wait_for_operations(wait.outstanding);
    else if (last_transfer_ - wait.outstanding >= 0)
      timeline_.wait_for(last_transfer_ - wait.outstanding);
  }
  double cycles() { return timeline_.finish(); }

 private:
  size_t port(uint32_t region) const {
    return static_cast<size_t>(memories_.port_of_region(region));
  }
  npu::TransferCost commands(double words) const {
    const auto at = static_cast<size_t>(memories_.constants);
    npu::TransferCost cost;
    cost.ports[at] = 4 * words / memories_.ports[at].bytes_per_cycle;
    cost.cycles = std::max(cost.ports[at], words);
    return cost;
  }
  timing::OperationTiming describe(const sim::Operation& op) const {
    const auto map = [&](const sim::FeatureMap& from) {
      const int64_t pixel = from.depth * sim::element_bytes(from.type);
      return timing::MapTiming{{from.height, from.width, from.depth},
                               8 * sim::element_bytes(from.type),
                               from.brick,
                               from.stride_x == pixel || from.width == 1,
                               memories_.memory_of_region(from.region)};
    };
    timing::OperationTiming out;
    out.work = work_of(op);
    out.ifm = map(op.ifm);
    out.ofm = map(op.ofm);
    if (op.has_ifm2) out.ifm2 = map(op.ifm2);
    out.is_binary = op.has_ifm2 || op.has_scalar;
    out.ofm_block = {op.ofm_block.height, op.ofm_block.width, op.ofm_block.depth};
    out.kernel_height = op.kernel.height;
    out.kernel_width = op.kernel.width;
    out.stride_y = op.kernel.stride_y;
    out.stride_x = op.kernel.stride_x;
    out.dilation_y = op.kernel.dilation_y;
    out.dilation_x = op.kernel.dilation_x;
    out.upscale = op.upscale == sim::Upscale::None ? 1 : 2;
    out.part_kernel_first = op.kernel.part_kernel_first;
    out.acc40 = op.accumulators == sim::AccumulatorFormat::I40;
    out.uses_table = op.activation.function != sim::ActivationFunction::Clamp;
    out.uses_clamp = !out.uses_table && op.ofm.type != sim::ElementType::S32 &&
                     (op.activation.minimum > sim::lowest(op.ofm.type) ||
                      op.activation.maximum < sim::highest(op.ofm.type));
    out.constants = memories_.memory_of_region(op.has_weights() ? op.weight_region : op.ifm.region);
    if (op.has_weights())
      for (size_t core = 0; core < static_cast<size_t>(op.cores); ++core) {
        out.weight_bytes += static_cast<int64_t>(op.weights[core].length);
        out.scale_bytes += static_cast<int64_t>(op.scales[core].length);
      }
    return out;
  }

  const isa::ethos_u::NpuTiming& npu_;
  const isa::ethos_u::MemorySystem& memories_;
  npu::Timeline timeline_;
  int64_t last_transfer_ = -1;
};

// Streams that take less are for single small operators: what they take is the beginning and the end, latencies and
// starts, of which the estimate sees a part. So it is where every operation is as small, as in the steps of an LSTM. They are
// counted and printed apart.
constexpr double kShort = 20'000, kShortOperation = 1'000;

// Estimates divided by the clock's cycles.
class Distances {
 public:
  void add(const std::string& name, double estimate, double clock) {
    const double ratio = estimate / clock;
    ratios_.push_back(ratio);
    sum_ += std::log(ratio);
    if (std::fabs(std::log(ratio)) > std::fabs(std::log(worst_)))
      worst_ = ratio, worst_name_ = name;
  }
  // How many of all lie within so many percent.
  double within(double percent) const {
    const auto near = std::count_if(ratios_.begin(), ratios_.end(), [&](double ratio) {
      return std::fabs(std::log(ratio)) <= std::log(1 + percent / 100);
    });
    return static_cast<double>(near) / static_cast<double>(ratios_.size());
  }
  double mean() const { return std::exp(sum_ / static_cast<double>(ratios_.size())); }
  double worst() const { return worst_; }
  size_t count() const { return ratios_.size(); }
  void print(const std::string& what) const {
    std::printf(
        "%s: %zu streams, estimate / clock %.3f in the mean, %.0f%% within 10%%, %.0f%% within "
        "20%%, farthest %.2f (%s)\n",
        what.c_str(), count(), mean(), 100 * within(10), 100 * within(20), worst_,
        worst_name_.c_str());
  }

 private:
  std::vector<double> ratios_;
  double sum_ = 0, worst_ = 1;
  std::string worst_name_;
};

struct ByLength {
  Distances longer, shorter;
  void add(const std::string& name, double estimate, const TimedRun& run) {
    const double clock = run.totals.cycles;
    const bool is_short =
        clock < kShort || clock < kShortOperation * static_cast<double>(run.commands.size());
    (is_short ? shorter : longer).add(name, estimate, clock);
  }
  void expect_near(const std::string& what) const {
    longer.print(what);
    shorter.print(what + ", short");
    EXPECT_NEAR(longer.mean(), 1, 0.05);
    EXPECT_GE(longer.within(10), 0.8);
    EXPECT_GE(longer.within(20), 0.95);
    EXPECT_LE(std::fabs(std::log(longer.worst())), std::log(1.4));
    // The part that the estimate does not see is up to a quarter of them. There is nothing that it sees and the clock does not.
    EXPECT_GE(shorter.mean(), 0.75);
    EXPECT_LE(shorter.mean(), 1);
  }
};

TEST(EstimateAndClock, AreNearEachOtherForStreamsOfVela) {
  ByLength distances;
  for (const VelaFile& file : read_vela_files())
    for (const VelaOperator& op : file.operators) {
      SCOPED_TRACE(file.path);
      const auto* npu = isa::ethos_u::find_npu_timing(file.tag);
      const auto memories = *isa::ethos_u::memory_system(*npu, "", file.memory_mode);
      Estimate estimate(*npu, memories);
      const TimedRun run = run_timed(op, file.memory_mode, &estimate);
      ASSERT_EQ(run.problem, "");
      distances.add(file.name, estimate.cycles(), run);
    }
  distances.expect_near("Vela");
}

TEST(EstimateAndClock, AreNearEachOtherForOurStreams) {
  ByLength distances;
  for (const std::filesystem::path& model : recorded_models())
    for (const isa::ethos_u::NpuTiming& npu : isa::ethos_u::kNpuTimings)
      for (const char* mode : {"sram-only", "shared-sram", "dedicated-sram"}) {
        if (!npu.is_u65 && std::string_view(mode) == "dedicated-sram") continue;
        const std::string tag(npu.tag);
        const auto compiled =
            compile_for(read_bytes(model / "model.tflite"), {.target = tag, .memory_mode = mode});
        ASSERT_TRUE(compiled.ok()) << compiled.error().to_string();
        const auto memories = *isa::ethos_u::memory_system(npu, "", mode);
        for (const CommandStream& stream : compiled->program().emitted.streams) {
          Estimate estimate(npu, memories);
          const TimedRun run = run_timed(*compiled, stream, mode, &estimate);
          ASSERT_EQ(run.problem, "");
          distances.add(model.filename().string() + " " + tag + " " + mode, estimate.cycles(), run);
        }
      }
  distances.expect_near("ours");
}

}  // namespace
}  // namespace intarsia::test::ethos_u
