#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "intarsia/report.h"
#include "packaging/report_text.h"
#include "support/shown_text.h"

namespace intarsia {
namespace {

std::string elimination_text(const Report& report) {
  if (report.eliminated.empty()) return "";
  const EliminationFigures &a = report.before_elimination, &b = report.after_elimination;
  return fmt::format(
      "reduced without changing a result ({} step{}, see 'intarsia explain'): {} of {} "
      "multiply-accumulates, {} of {} weight bytes remain\n",
      report.eliminated.size(), report.eliminated.size() == 1 ? "" : "s", b.macs, a.macs,
      b.weight_bytes, a.weight_bytes);
}

std::string pools_text(const Report& report) {
  std::string text = "Memory for activations\n";
  for (const PoolRow& pool : report.pools) {
    const std::string of = pool.size > 0 ? fmt::format(" of {}", pool.size) : "";
    const std::string proof =
        pool.proven_optimal
            ? "proven: no plan is smaller for this order of operators and these in-place pairs"
            : fmt::format("lower bound {}, gap {} bytes", pool.lower_bound,
                          pool.peak - pool.lower_bound);
    text += fmt::format("  {:<12} {:>9}{} bytes ({})\n", pool.name, pool.peak, of, proof);
  }
  return text + search_text(report.search);
}

std::string constant_memories_text(const Report& report) {
  if (report.constant_memories.empty()) return "";
  std::string text = "Memory for constants\n";
  for (const ConstantMemoryRow& row : report.constant_memories)
    text += fmt::format("  {:<12} {:>9} of {} bytes ({} constant{})\n", row.name, row.bytes,
                        row.size, row.constants, row.constants == 1 ? "" : "s");
  return text;
}

// The trade: what it saves, and that it costs moves but no multiply-accumulates.
std::string row_tiles_text(const Report& report) {
  if (!report.ram_budget) return "";
  const RamBudgetOutcome& outcome = *report.ram_budget;
  if (outcome.tiled.empty())
    return fmt::format("  within the budget of {} bytes as it is: nothing runs by row tiles\n",
                       outcome.budget);
  std::string text = fmt::format(
      "  within the budget of {} bytes by row tiles: {} instead of {} bytes, no "
      "multiply-accumulate is done twice\n",
      outcome.budget, outcome.after, outcome.before);
  for (const std::string& part : outcome.tiled) text += fmt::format("    {}\n", part);
  return text;
}

// Devices that gave up speed for the plan.
std::string scheduled_again_text(const Report& report) {
  std::string text;
  for (const ScheduledAgain& each : report.scheduled_again)
    text += fmt::format(
        "  {} on {} was scheduled again to fit: at most {} bytes alive at once were asked for, {} "
        "instead of {} are\n",
        each.function, each.device, each.limit, each.after, each.before);
  return text;
}

std::string flash_text(const Report& report) {
  std::string text = "Flash\n";
  if (report.measured)
    text += fmt::format("  {:<12} {:>9} bytes ({})\n", "code", report.measured->code_bytes,
                        report.measured->compiler);
  else
    text += fmt::format("  code: not measured: {}\n", report.not_measured);
  text += fmt::format("  {:<12} {:>9} bytes\n  {:<12} {:>9} bytes\n", "weights",
                      report.weight_bytes, "tables", report.table_bytes);
  if (report.stream_bytes > 0)
    text += fmt::format("  {:<12} {:>9} bytes\n", "streams", report.stream_bytes);
  if (report.measured)
    text += fmt::format("Stack\n  {:<12} {:>9} bytes ({})\n", "bound", report.measured->stack_bytes,
                        fmt::join(report.measured->stack_chain, " > "));
  return text;
}

// Where devices run streams, a column says which one an operator is in, and a table what each of them takes.
std::string operators_text(const Report& report) {
  const bool streams = !report.regions.empty();
  size_t name_width = 8, device_width = 6, region_width = 6;
  for (const OperatorRow& row : report.operators) {
    name_width = std::max(name_width, row.name.size());
    device_width = std::max(device_width, row.device.size());
    region_width = std::max(region_width, row.region.size());
  }
  name_width = std::min<size_t>(name_width, 40);
  region_width = std::min<size_t>(region_width, 30);
  const auto region_column = [&](const std::string& region) {
    return streams ? fmt::format(" {:<{}}", region.substr(0, region_width), region_width) : "";
  };
  std::map<std::string, double> counted;
  if (report.counted)
    for (const RunCycles::Operator& each : report.counted->operators)
      counted[each.name] = each.cycles.nominal;
  const bool has_cycles = !report.cycles.empty();
  // In cycles of the device's clock: estimated before anything ran, and as counted.
  const auto cycles_columns = [&](const std::string& estimated, const std::string& count) {
    return (has_cycles ? fmt::format(" {:>10}", estimated) : "") +
           (report.counted ? fmt::format(" {:>10}", count) : "");
  };
  std::string text =
      fmt::format("Operators\n  {:<{}} {:<{}}{} {:>10}{} {:>8} {:>7}  memory\n", "operator",
                  name_width, "device", device_width, region_column("region"), "MACs",
                  cycles_columns("cycles", "counted"), "weights", "tables");
  for (const OperatorRow& row : report.operators) {
    const auto count = counted.find(row.name);
    const std::string cycles =
        cycles_columns(row.cycles_alone ? fmt::format("{}", *row.cycles_alone) : "-",
                       count != counted.end() ? fmt::format("{:.0f}", count->second) : "-");
    text += fmt::format("  {:<{}} {:<{}}{} {:>10}{} {:>8} {:>7} ", row.name.substr(0, name_width),
                        name_width, row.device, device_width, region_column(row.region), row.macs,
                        cycles, row.weight_bytes, row.table_bytes);
    for (const OperatorRow::Range& range : row.memory)
      text += fmt::format(" {} {}[{:#x},{:#x})", range.what, range.pool, range.begin, range.end);
    text += "\n";
  }
  if (!streams) return text;
  text += fmt::format("\nStreams (their weights are in them; memory: with the first operator)\n");
  for (const RegionRow& region : report.regions)
    text += fmt::format("  {} on {}: {} operator{}, {} multiply-accumulates, {} bytes\n",
                        region.name, region.device, region.operators,
                        region.operators == 1 ? "" : "s", region.macs, region.stream_bytes);
  return text;
}

// Which functions compute how many operators. Operators of devices have neither kernels nor loops.
std::string kernels_text(const Report& report) {
  std::map<std::string, int> uses;
  int loops = 0;
  for (const OperatorRow& row : report.operators) {
    for (const std::string& kernel : row.kernels) ++uses[kernel];
    if (row.kernels.empty() && row.stream_bytes == 0) ++loops;
  }
  if (uses.empty()) return "";
  std::string text = "Kernels\n";
  for (const auto& [kernel, count] : uses)
    text += fmt::format("  {:<40} {:>3} operator{}\n", kernel, count, count == 1 ? "" : "s");
  if (loops > 0)
    text += fmt::format("  {:<40} {:>3} operator{}\n", "loops of their own", loops,
                        loops == 1 ? "" : "s");
  return text;
}

std::string counted_text(const Report& report) {
  if (!report.counted) return "";
  const RunCycles& run = *report.counted;
  return fmt::format(
      "Cycles{}, counted in the emulator of the board\n  {:<12} {:>9.0f} (between {:.0f} and "
      "{:.0f})\n  {:<12} {:>9}\n",
      report.regions.empty() ? "" : " of the CPU", "cycles", run.cycles.nominal,
      run.cycles.optimistic, run.cycles.pessimistic, "instructions", run.instructions);
}

}  // namespace

std::string search_text(const SearchFigures& search) {
  if (!search.ended_early) return "";
  return fmt::format("  the search for a smaller plan ended after {} steps: one may exist\n",
                     search.steps);
}

std::string packaging::edges_text(const std::vector<TensorInfo>& inputs,
                                  const std::vector<TensorInfo>& outputs) {
  std::string text = "Inputs and outputs\n";
  const auto add = [&](const char* edge, const std::vector<TensorInfo>& tensors) {
    for (const TensorInfo& tensor : tensors) {
      const graph::Quantization& quantization = tensor.quantization;
      std::string real;
      if (quantization.per_channel())
        real = fmt::format(" with a scale for each index of axis {}", quantization.axis);
      else if (quantization.present())
        real = fmt::format(" real = {:.9g} * (q - {})", quantization.scale[0],
                           quantization.zero_point[0]);
      text += fmt::format("  {:<6} '{}' {}[{}]{}\n", edge, shown_text(tensor.name),
                          to_string(tensor.type), fmt::join(tensor.shape, ","), real);
    }
  };
  add("input", inputs);
  add("output", outputs);
  return text;
}

std::string packaging::cycles_text(const std::vector<DeviceCycles>& devices) {
  if (devices.empty()) return "";
  std::string text = "Cycles, estimated\n";
  for (const DeviceCycles& device : devices)
    text +=
        fmt::format("  {:<12} {:>9} at {:g} MHz\n", device.device, device.cycles, device.clock_mhz);
  return text;
}

std::string report_text(const Report& report) {
  std::string text = fmt::format("{} for {} on board {}\n{} multiply-accumulates", report.model,
                                 report.target, report.board, report.macs);
  if (report.transfers > 0)
    text += fmt::format("; {} transfers between devices, {} bytes", report.transfers,
                        report.transfer_bytes);
  if (!report.search_note.empty()) text += "\n" + report.search_note;
  return text + "\n" + elimination_text(report) + "\n" +
         packaging::edges_text(report.inputs, report.outputs) + pools_text(report) +
         row_tiles_text(report) + scheduled_again_text(report) + constant_memories_text(report) +
         flash_text(report) + packaging::cycles_text(report.device_cycles) + counted_text(report) +
         "\n" + operators_text(report) + kernels_text(report);
}

}  // namespace intarsia
