#include "work.h"

#include <algorithm>
#include <map>

#include "foreign/compiled_stream.h"
#include "hardware/memory_systems.h"
#include "schedule/cost.h"

namespace intarsia::targets::ethos_u {
namespace {

// The ways to memory; the third port is SHRAM, which is part of the NPU.
constexpr size_t kMemoryWays = 2;

const char* word_of(OperationKind kind) {
  switch (kind) {
    case OperationKind::Conv:
      return "Conv2D";
    case OperationKind::Depthwise:
      return "DepthwiseConv2D";
    case OperationKind::MaxPool:
      return "MaxPool";
    case OperationKind::AveragePool:
      return "AvgPool";
    case OperationKind::ReduceSum:
      return "ReduceSum";
    case OperationKind::Mul:
      return "Mul";
    case OperationKind::Add:
      return "Add";
    case OperationKind::Sub:
      return "Sub";
    case OperationKind::Minimum:
      return "Minimum";
    case OperationKind::Maximum:
      return "Maximum";
    case OperationKind::LeakyRelu:
      return "LeakyRelu";
    case OperationKind::Abs:
      return "Abs";
    case OperationKind::CountLeadingZeros:
      return "CLZ";
    case OperationKind::ShiftRight:
      return "Asr";
    case OperationKind::ShiftLeft:
      return "SHL";
  }
  return "";
}

class ScheduleWork {
 public:
  ScheduleWork(const Target& device, const Schedule& schedule)
      : schedule_(schedule), cost_(hardware_of(device), memory_system_of(device)) {
    work_.macs_per_cycle = hardware_of(device).macs;
    for (size_t way = 0; way < kMemoryWays; ++way) {
      const isa::ethos_u::MemoryTiming& memory = cost_.system().ports[way];
      work_.memories.push_back({std::string(memory.name), memory.bytes_per_cycle});
    }
  }

  DeviceWork run() && {
    const std::vector<int64_t> live = live_bytes();
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      const Step& step = schedule_.steps[i];
      step.operation < 0 ? add_transfer(step) : add_operation(step, live[i]);
    }
    return std::move(work_);
  }

 private:
  const Storage& storage(int32_t id) const {
    return schedule_.storages.at(static_cast<size_t>(id));
  }
  Memory memory_of(int32_t id) const {
    const Storage& of = storage(id);
    if (of.kind == Storage::Kind::Constant) return Memory::Constants;
    return of.fast ? Memory::Cache : Memory::Arena;
  }

  // A transfer is for an operation that comes behind it.
  void add_transfer(const Step& step) {
    std::vector<MemoryTraffic>& waiting = waiting_[step.node];
    waiting.resize(kMemoryWays);
    const Memory from = memory_of(step.from.storage);
    const auto to = step.to.storage < 0 ? std::nullopt : std::optional(memory_of(step.to.storage));
    const TransferCost cost = cost_.transfer(from, to, step.from.bytes);
    const auto bytes = static_cast<double>(step.from.bytes);
    waiting[cost_.port(from)].constants_read += bytes;
    if (to) waiting[cost_.port(*to)].constants_written += bytes;
    for (size_t way = 0; way < kMemoryWays; ++way) waiting[way].cycles += cost.ports[way];
  }

  void add_operation(const Step& step, int64_t live) {
    const Operation& operation = schedule_.operations.at(static_cast<size_t>(step.operation));
    CostModel::Places places;
    places.ifm = memory_of(step.ifm.span.storage);
    places.ofm = memory_of(step.ofm.span.storage);
    if (step.ifm2) places.ifm2 = memory_of(step.ifm2->span.storage);
    for (const Span& span : step.weights)
      if (span.storage >= 0) places.weights = memory_of(span.storage);
    for (const Span& span : step.scales)
      if (span.storage >= 0) places.scales = memory_of(span.storage);
    const auto bytes_of = [](const std::vector<Span>& spans) {
      int64_t bytes = 0;
      for (const Span& span : spans) bytes += span.bytes;
      return bytes;
    };
    const CostModel::Traffic traffic =
        cost_.traffic(operation, step, places, bytes_of(step.weights), bytes_of(step.scales));

    OperationWork work{.node = step.node,
                       .kind = word_of(operation.kind),
                       .computing = traffic.pipeline,
                       .macs = traffic.macs,
                       .fast_bytes = live,
                       .memories = std::move(waiting_[step.node])};
    waiting_.erase(step.node);
    work.memories.resize(kMemoryWays);
    const auto read = [&](const FeatureMap& map, Memory memory, const CostModel::Traffic::Way& of) {
      MemoryTraffic& way = work.memories[cost_.port(memory)];
      const bool is_constant = storage(map.span.storage).kind == Storage::Kind::Constant;
      (is_constant ? way.constants_read : way.maps_read) += of.bytes;
      way.cycles += of.cycles;
    };
    read(step.ifm, places.ifm, traffic.ifm);
    if (step.ifm2) read(*step.ifm2, places.ifm2, traffic.ifm2);
    const auto read_constants = [&](Memory memory, const CostModel::Traffic::Way& of) {
      MemoryTraffic& way = work.memories[cost_.port(memory)];
      way.constants_read += of.bytes;
      way.cycles += of.cycles;
    };
    read_constants(places.weights, traffic.weights);
    read_constants(places.of_scales(), traffic.scales);
    MemoryTraffic& results = work.memories[cost_.port(places.ofm)];
    results.maps_written += traffic.ofm.bytes;
    results.cycles += traffic.ofm.cycles;
    work_.operations.push_back(std::move(work));
  }

  // Bytes of what lies in the fastest memory, step by step. Operands of the function are there from its beginning, or to its end.
  std::vector<int64_t> live_bytes() const {
    struct Life {
      size_t first = 0, last = 0;
      bool is_used = false;
    };
    std::vector<Life> lives(schedule_.storages.size());
    for (size_t i = 0; i < schedule_.steps.size(); ++i) {
      const auto use = [&](int32_t id) {
        if (id < 0) return;
        Life& life = lives[static_cast<size_t>(id)];
        if (!life.is_used) life = {i, i, true};
        life.last = i;
      };
      const Step& step = schedule_.steps[i];
      if (step.operation < 0) {
        use(step.to.storage);
        continue;
      }
      use(step.ifm.span.storage);
      use(step.ofm.span.storage);
      if (step.ifm2) use(step.ifm2->span.storage);
      for (const Span& span : step.weights) use(span.storage);
      for (const Span& span : step.scales) use(span.storage);
    }
    std::vector<int64_t> bytes(schedule_.steps.size(), 0);
    for (size_t id = 0; id < lives.size(); ++id) {
      Life life = lives[id];
      const Storage& of = schedule_.storages[id];
      if (!life.is_used || of.kind == Storage::Kind::Constant ||
          cost_.port(memory_of(static_cast<int32_t>(id))) != cost_.port(Memory::Cache))
        continue;
      if (is_there_before(of.kind)) life.first = 0;
      if (is_there_after(of.kind)) life.last = bytes.size() - 1;
      for (size_t i = life.first; i <= life.last; ++i) bytes[i] += of.bytes;
    }
    return bytes;
  }

  const Schedule& schedule_;
  CostModel cost_;
  DeviceWork work_;
  std::map<std::string, std::vector<MemoryTraffic>> waiting_;  // by node: of transfers
};

}  // namespace

DeviceWork work_of(FunctionSchedules& schedules, const Target& device, const graph::Module& module,
                   const graph::Function& function, const LoweringOptions& options) {
  if (is_compiled_stream(function)) return {};
  const auto made = schedules.of(device, module, function, options);
  if (!made.ok()) return {};
  return ScheduleWork(device, (*made)->schedule).run();
}

}  // namespace intarsia::targets::ethos_u
