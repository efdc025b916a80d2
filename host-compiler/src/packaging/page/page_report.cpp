#include "packaging/page/page_report.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "support/strict_json.h"

namespace intarsia::packaging::page {
namespace {

using nlohmann::json;

constexpr size_t kColours = 6;  // of page.css

// Whatever somebody has written into the file: what is not there or is of another type is nothing.
std::string text(const json& object, const char* key) {
  if (!object.is_object()) return "";
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double real(const json& object, const char* key) {
  if (!object.is_object()) return 0;
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}

// Within what sums of many stay whole numbers.
int64_t amount(const json& object, const char* key) {
  constexpr double kMost = 1e15;
  return static_cast<int64_t>(std::clamp(real(object, key), 0.0, kMost));
}

bool flag(const json& object, const char* key) {
  if (!object.is_object()) return false;
  const auto found = object.find(key);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

const json& value(const json& object, const char* key) {
  static const json nothing;
  if (!object.is_object()) return nothing;
  const auto found = object.find(key);
  return found != object.end() ? *found : nothing;
}

const json& list(const json& object, const char* key) {
  static const json nothing = json::array();
  const json& found = value(object, key);
  return found.is_array() ? found : nothing;
}

std::vector<std::string> texts(const json& object, const char* key) {
  std::vector<std::string> result;
  for (const json& each : list(object, key))
    if (each.is_string()) result.push_back(each.get<std::string>());
  return result;
}

std::vector<TensorInfo> tensors(const json& object, const char* key) {
  std::vector<TensorInfo> result;
  for (const json& each : list(object, key)) {
    TensorInfo& tensor = result.emplace_back();
    tensor.name = text(each, "name");
    tensor.type = data_type_from_string(text(each, "type")).value_or(DataType::Int8);
    for (const json& extent : list(each, "shape"))
      if (extent.is_number_integer()) tensor.shape.push_back(extent.get<int64_t>());
    for (const json& scale : list(each, "scale"))
      if (scale.is_number()) tensor.quantization.scale.push_back(scale.get<float>());
    for (const json& zero : list(each, "zero_point"))
      if (zero.is_number_integer()) tensor.quantization.zero_point.push_back(zero.get<int64_t>());
    tensor.bytes = amount(each, "bytes");
  }
  return result;
}

OperatorRow operator_row(const json& row) {
  OperatorRow result;
  result.name = text(row, "name");
  result.origin = text(row, "what");
  result.kind = text(row, "kind");
  result.shapes = text(row, "shapes");
  result.device = text(row, "member");
  result.region = text(row, "region");
  result.macs = amount(row, "macs");
  result.weight_bytes = amount(row, "weight_bytes");
  result.table_bytes = amount(row, "table_bytes");
  result.stream_bytes = amount(row, "stream_bytes");
  result.kernels = texts(row, "kernels");
  result.placement = text(row, "placement");
  if (value(row, "cycles_alone").is_number()) result.cycles_alone = amount(row, "cycles_alone");
  for (const json& each : list(row, "constants"))
    result.constants.push_back({text(each, "name"), text(each, "use"), amount(each, "bytes")});
  return result;
}

PoolRow pool_row(const json& pool) {
  PoolRow row;
  row.name = text(pool, "name");
  row.size = amount(pool, "size");
  row.peak = amount(pool, "peak");
  row.lower_bound = amount(pool, "lower_bound");
  row.proven_optimal = flag(pool, "proven_optimal");
  row.method = text(pool, "method");
  const json& fullest = value(pool, "fullest");
  row.fullest_at = text(fullest, "at");
  row.fullest_bytes = amount(fullest, "bytes");
  row.fullest_step = amount(fullest, "step");
  return row;
}

BufferRow buffer_row(const json& each) {
  BufferRow row;
  row.name = text(each, "name");
  row.use = text(each, "use");
  row.tensor = text(each, "tensor");
  row.pool = text(each, "pool");
  row.begin = amount(each, "begin");
  row.end = std::max(row.begin, amount(each, "end"));
  row.first_step = amount(each, "first_step");
  row.last_step = std::max(row.first_step, amount(each, "last_step"));
  row.alias = text(each, "alias");
  row.written_by = text(each, "written_by");
  row.read_by = texts(each, "read_by");
  return row;
}

void read_measured(const json& from, Report& report) {
  report.not_measured = text(from, "not_measured");
  const json& flash = value(from, "flash");
  if (!flash.is_object()) return;
  const json& stack = value(from, "stack");
  report.measured = Measurements{text(from, "compiler"),
                                 amount(flash, "code_bytes"),
                                 amount(flash, "constant_bytes_linked"),
                                 amount(flash, "stream_bytes_linked"),
                                 amount(stack, "bytes"),
                                 texts(stack, "chain")};
}

void read_cycles(const json& estimated, Report& report) {
  std::map<std::string, double> clocks;
  for (const json& device : list(estimated, "devices")) {
    const double mhz = real(device, "assumed_mhz");
    clocks[text(device, "member")] = mhz;
    report.device_cycles.push_back({text(device, "member"), mhz, amount(device, "cycles")});
  }
  for (const json& row : list(estimated, "operators")) {
    const std::string device = text(row, "member");
    report.cycles.push_back({text(row, "name"), device, amount(row, "operators"),
                             amount(row, "cycles"), clocks[device]});
  }
}

CycleEstimate cycle_estimate(const json& from) {
  return {real(from, "optimistic"), real(from, "nominal"), real(from, "pessimistic")};
}

void read_counted(const json& from, Report& report) {
  if (!from.is_object()) return;
  RunCycles& run = report.counted.emplace();
  run.instructions = static_cast<uint64_t>(amount(from, "instructions"));
  run.cycles = cycle_estimate(from);
  for (const json& row : list(from, "operators"))
    run.operators.push_back({text(row, "name"), static_cast<uint64_t>(amount(row, "instructions")),
                             cycle_estimate(row)});
}

Report read_report(const json& from) {
  Report report;
  report.model = text(from, "model");
  report.target = text(from, "target");
  report.board = text(from, "board");
  report.inputs = tensors(from, "inputs");
  report.outputs = tensors(from, "outputs");
  const json& totals = value(from, "totals");
  report.macs = amount(totals, "macs");
  report.weight_bytes = amount(totals, "weight_bytes");
  report.table_bytes = amount(totals, "table_bytes");
  report.stream_bytes = amount(totals, "stream_bytes");
  report.transfers = amount(totals, "transfers");
  report.transfer_bytes = amount(totals, "transfer_bytes");
  report.search_note = text(from, "partition_search");
  report.search.steps = amount(value(from, "search"), "steps");
  report.search.ended_early = flag(value(from, "search"), "ended_early");
  for (const json& pool : list(from, "pools")) report.pools.push_back(pool_row(pool));
  for (const json& row : list(from, "operators")) report.operators.push_back(operator_row(row));
  for (const json& row : list(from, "buffers")) report.buffers.push_back(buffer_row(row));
  for (const json& row : list(from, "regions"))
    report.regions.push_back({text(row, "name"), text(row, "member"), amount(row, "operators"),
                              amount(row, "macs"), amount(row, "stream_bytes")});
  const json& steps = value(from, "steps");
  report.steps = amount(steps, "count");
  for (const json& row : list(steps, "runs"))
    report.step_rows.push_back({amount(row, "first"),
                                std::max(amount(row, "first"), amount(row, "last")),
                                text(row, "name"), text(row, "member")});
  const json& graph = value(from, "graph");
  for (const json& row : list(graph, "operators"))
    report.graph.push_back({text(row, "name"), text(row, "kind"), text(row, "member"),
                            text(row, "region"), text(row, "shapes")});
  for (const json& row : list(graph, "edges"))
    report.edges.push_back(
        {text(row, "from"), text(row, "to"), text(row, "tensor"), amount(row, "bytes")});
  read_measured(from, report);
  read_cycles(value(from, "estimated_cycles"), report);
  read_counted(value(from, "counted_cycles"), report);
  return report;
}

// A function of several operators was estimated as a whole: they get its cycles in proportion to what each would take
// alone.
void divide_cycles(const std::vector<CycleRow>& rows, Part& part) {
  std::map<std::string, const CycleRow*> by_name;
  for (const CycleRow& row : rows) by_name.try_emplace(row.name, &row);
  const std::vector<OperatorRow>& operators = part.report.operators;
  std::map<std::string, double> alone;  // of regions
  std::map<std::string, int64_t> count;
  for (const OperatorRow& row : operators) {
    alone[row.region] += static_cast<double>(row.cycles_alone.value_or(0));
    ++count[row.region];
  }
  if (rows.empty()) return;
  part.times.resize(operators.size());
  for (size_t i = 0; i < operators.size(); ++i) {
    const OperatorRow& row = operators[i];
    const auto own = by_name.find(row.name);
    const auto region = by_name.find(row.region);
    double cycles = 0, clock = 0;
    if (own != by_name.end() && own->second->device == row.device) {
      cycles = static_cast<double>(own->second->cycles);
      clock = own->second->clock_mhz;
    } else if (region != by_name.end() && region->second->device == row.device) {
      const double share =
          alone[row.region] > 0
              ? static_cast<double>(row.cycles_alone.value_or(0)) / alone[row.region]
              : 1.0 / static_cast<double>(count[row.region]);
      cycles = static_cast<double>(region->second->cycles) * share;
      clock = region->second->clock_mhz;
      part.times[i].is_share = count[row.region] > 1;
    }
    part.times[i].cycles = std::llround(cycles);
    part.times[i].microseconds = clock > 0 ? cycles / clock : 0;
  }
}

void place_counted(Part& part) {
  if (!part.report.counted) return;
  part.counted.resize(part.report.operators.size());
  for (const RunCycles::Operator& each : part.report.counted->operators)
    if (const auto at = part.numbers.find(each.name); at != part.numbers.end())
      part.counted[at->second] = each;
}

void finish(PageReport& page) {
  const auto meet = [&](const std::string& device) {
    if (!device.empty() &&
        std::find(page.devices.begin(), page.devices.end(), device) == page.devices.end())
      page.devices.push_back(device);
  };
  for (Part& part : page.parts) {
    for (size_t i = 0; i < part.report.operators.size(); ++i)
      part.numbers.try_emplace(part.report.operators[i].name, i);
    divide_cycles(page.whole.cycles, part);
    place_counted(part);
    for (const OperatorRow& row : part.report.operators) meet(row.device);
    for (const GraphRow& row : part.report.graph) meet(row.device);
  }
}

}  // namespace

std::string Part::id(const std::string& name) const {
  const auto found = numbers.find(name);
  return found == numbers.end() ? "" : fmt::format("{}.{}", number, found->second);
}

double Part::microseconds() const {
  double sum = 0;
  for (const Time& time : times) sum += time.microseconds;
  return sum;
}

std::string PageReport::colour(const std::string& device) const {
  const auto found = std::find(devices.begin(), devices.end(), device);
  if (found == devices.end()) return "d-none";
  return fmt::format("d{}", static_cast<size_t>(found - devices.begin()) % kColours);
}

Result<PageReport> read_page_report(const std::string& from, const std::string& where) {
  constexpr const char* kWanted =
      "name the report.json in the folder that 'compile' wrote, or the folder";
  INTARSIA_TRY(const json report, parse_strict_json(from, where, kWanted));
  const char* again = "compile the model again for a report of this version";
  if (!report.is_object() || !report.contains("model") || !report.contains("target"))
    return Diagnostics(where, "is no report.json of 'intarsia compile'", kWanted);
  if (value(report, "format") != kReportFormat)
    return Diagnostics(
        where,
        report.contains("format")
            ? fmt::format("is a report of another format; this version reads {}", kReportFormat)
            : "is the report of an earlier version",
        again);
  PageReport page;
  page.whole = read_report(report);
  if (report.contains("stages")) {
    page.mailbox_bytes = amount(report, "mailbox_bytes");
    for (const json& block : list(report, "blocks"))
      page.blocks.push_back({text(block, "member"), text(block, "name"), text(block, "pool"),
                             amount(block, "bytes"),
                             static_cast<int64_t>(list(block, "stages").size())});
    page.whole.transfers = amount(report, "transfers");
    page.whole.transfer_bytes = amount(report, "transfer_bytes");
    for (const json& stage : list(report, "stages")) {
      Part& part = page.parts.emplace_back();
      part.cpu = text(stage, "member");
      part.number = page.parts.size() - 1;
      part.report = read_report(stage);
      page.whole.macs += part.report.macs;
      page.whole.weight_bytes += part.report.weight_bytes;
      page.whole.table_bytes += part.report.table_bytes;
      page.whole.stream_bytes += part.report.stream_bytes;
    }
  } else {
    page.parts.emplace_back().report = page.whole;
  }
  finish(page);
  return page;
}

}  // namespace intarsia::packaging::page
