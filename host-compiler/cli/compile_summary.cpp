#include "compile_summary.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include <fmt/format.h>

#include "support/amounts.h"
#include "support/shown_text.h"

namespace intarsia::cli {
namespace {

constexpr size_t kColumns = 80, kLabel = 10;
// Rows of each kind; what is more is counted. Together with the others they are a screen.
constexpr size_t kMostMemories = 4, kMostDevices = 3, kMostEdges = 2;

class SummaryWriter {
 public:
  explicit SummaryWriter(const Terminal& terminal) : terminal_(terminal) {}

  void title(const std::string& text) {
    text_ += tinted(terminal_, Tint::Heading, clipped(text, kColumns)) + "\n\n";
  }
  // Rows of one label say it once.
  void row(const std::string& label, const std::string& text) {
    const std::string shown = label == label_ ? "" : label;
    label_ = label;
    text_ += tinted(terminal_, Tint::Name, fmt::format("{:<{}}", shown, kLabel)) +
             clipped(text, kColumns - kLabel) + "\n";
  }
  // A name that one wants to copy is never cut.
  void path(const std::string& label, const std::string& path) {
    text_ += tinted(terminal_, Tint::Name, fmt::format("{:<{}}", label, kLabel)) + path + "\n";
  }
  std::string take() { return std::move(text_); }

 private:
  const Terminal& terminal_;
  std::string text_, label_;
};

std::string operators_text(int64_t count) {
  return fmt::format("{} operator{}", count, count == 1 ? "" : "s");
}

std::string and_more(size_t count, const char* one, const char* several) {
  return fmt::format("and {} {} more", count, count == 1 ? one : several);
}

// "392 bytes" or "22.1K".
std::string needed(int64_t bytes) {
  const std::string text = readable_bytes(bytes);
  return text.back() >= '0' && text.back() <= '9' ? text + " bytes" : text;
}

std::string proof_of(const PoolRow& pool, const Report& part) {
  if (pool.peak == 0) {
    const auto held =
        std::ranges::find(part.constant_memories, pool.name, &ConstantMemoryRow::name);
    if (held == part.constant_memories.end() || held->bytes == 0) return "unused";
    return fmt::format("constants of {}, no activations", needed(held->bytes));
  }
  if (pool.proven_optimal) return "proven: no plan is smaller";
  return fmt::format("at least {}", needed(pool.lower_bound));
}

// Of a model in parts: the blocks that the parts are given, and what lies between them.
void add_blocks(const ProgramReport& report, SummaryWriter& writer) {
  constexpr size_t kMostBlocks = kMostMemories - 1;
  std::vector<requests::PartBlock> blocks = report.blocks;
  if (blocks.size() > kMostBlocks)  // the largest where not all are shown
    std::ranges::stable_sort(blocks, std::greater<>(), &requests::PartBlock::bytes);
  const auto name_of = [](const requests::PartBlock& block) {
    return block.cpu + ": " + block.memory;
  };
  size_t name_width = columns_of("mailbox");
  for (const requests::PartBlock& block : blocks)
    name_width = std::max(name_width, columns_of(name_of(block)));
  name_width = std::min<size_t>(name_width, 24);
  const auto row = [&](const std::string& name, int64_t bytes, const std::string& note) {
    writer.row("RAM", fmt::format("{:<{}}  {:>10}  {}", clipped(name, name_width), name_width,
                                  needed(bytes), note));
  };
  for (size_t i = 0; i < std::min(blocks.size(), kMostBlocks); ++i)
    row(name_of(blocks[i]), blocks[i].bytes,
        blocks[i].stages == 1 ? "for one stage"
                              : fmt::format("for {} stages in turn", blocks[i].stages));
  if (blocks.size() > kMostBlocks)
    writer.row("RAM", and_more(blocks.size() - kMostBlocks, "block", "blocks"));
  row("mailbox", report.mailbox_bytes, "between the parts");
}

void add_memories(const CompileSummary& made, SummaryWriter& writer) {
  if (made.report.cpus > 1) return add_blocks(made.report, writer);
  struct Row {
    std::string name;
    const PoolRow* pool;
    const Report* part;
  };
  std::vector<Row> rows;
  for (const Report& part : made.report.parts)
    for (const PoolRow& pool : part.pools)
      rows.push_back({made.report.parts.size() == 1 ? pool.name : part.model + ": " + pool.name,
                      &pool, &part});
  // The fullest first where not all are shown.
  if (rows.size() > kMostMemories)
    std::stable_sort(rows.begin(), rows.end(),
                     [](const Row& a, const Row& b) { return a.pool->peak > b.pool->peak; });
  size_t name_width = 0;
  for (const Row& row : rows) name_width = std::max(name_width, columns_of(row.name));
  name_width = std::min<size_t>(name_width, 24);
  for (size_t i = 0; i < std::min(rows.size(), kMostMemories); ++i) {
    const PoolRow& pool = *rows[i].pool;
    const std::string of = pool.size > 0 ? " of " + readable_room(pool.size) : "";
    writer.row("RAM",
               fmt::format("{:<{}}  {:>10}{:<9}  {}", clipped(rows[i].name, name_width), name_width,
                           needed(pool.peak), of, proof_of(pool, *rows[i].part)));
  }
  if (rows.size() > kMostMemories)
    writer.row("RAM", and_more(rows.size() - kMostMemories, "memory", "memories"));
}

// " (bram 2.0M, sram 1.2M)", where more than one memory holds constants; of all parts together.
std::string memories_of_constants(const CompileSummary& made) {
  std::vector<ConstantMemoryRow> rows;
  for (const Report& part : made.report.parts)
    for (const ConstantMemoryRow& row : part.constant_memories) {
      if (row.bytes == 0) continue;
      const auto known = std::ranges::find(rows, row.name, &ConstantMemoryRow::name);
      if (known == rows.end())
        rows.push_back(row);
      else
        known->bytes += row.bytes;
    }
  if (rows.size() < 2) return "";
  std::vector<std::string> texts;
  for (const ConstantMemoryRow& row : rows)
    texts.push_back(row.name + " " + readable_bytes(row.bytes));
  return fmt::format(" ({})", fmt::join(texts, ", "));
}

// In two lines at most.
void add_lines(const char* label, const std::string& text, SummaryWriter& writer) {
  const std::string lines = wrapped(text, kColumns - kLabel, 0);
  const size_t end = lines.find('\n');
  writer.row(label, lines.substr(0, end));
  if (end == std::string::npos) return;
  std::string rest = lines.substr(end + 1);
  std::replace(rest.begin(), rest.end(), '\n', ' ');
  writer.row(label, rest);
}

void add_flash(const CompileSummary& made, SummaryWriter& writer) {
  int64_t weights = 0, tables = 0, streams = 0;
  for (const Report& part : made.report.parts)
    weights += part.weight_bytes, tables += part.table_bytes, streams += part.stream_bytes;
  std::string parts;
  const auto add = [&](const char* what, int64_t bytes, const std::string& where = "") {
    if (bytes == 0) return;
    parts +=
        fmt::format("{}{} {}{}", parts.empty() ? "" : ", ", what, readable_bytes(bytes), where);
  };
  if (const std::optional<Measurements>& measured = made.report.measured) {
    add("code", measured->code_bytes);
    add("weights and tables", measured->constant_bytes, memories_of_constants(made));
    add("command streams", measured->stream_bytes);
    add_lines("Flash", fmt::format("{}: {}", needed(measured->flash_bytes()), parts), writer);
    writer.row("Stack",
               fmt::format("{} at most, below the run function", needed(measured->stack_bytes)));
    return;
  }
  add("weights", weights);
  add("tables", tables);
  add("command streams", streams);
  add_lines("Flash",
            fmt::format("{}code, which is not measured", parts.empty() ? "" : parts + "; and "),
            writer);
  add_lines("Flash", fmt::format("({})", made.report.not_measured), writer);
}

void add_devices(const CompileSummary& made, SummaryWriter& writer) {
  struct Row {
    std::string device;
    int64_t operators = 0;
    const DeviceCycles* cycles = nullptr;
  };
  std::vector<Row> rows;
  const auto row_of = [&](const std::string& device) -> Row& {
    const auto found = std::find_if(rows.begin(), rows.end(),
                                    [&](const Row& row) { return row.device == device; });
    return found != rows.end() ? *found : rows.emplace_back(Row{device});
  };
  int64_t macs = 0;
  for (const Report& part : made.report.parts) macs += part.macs;
  for (const OperatorRow& row : made.report.operators) ++row_of(row.device).operators;
  for (const DeviceCycles& cycles : made.report.device_cycles)
    row_of(cycles.device).cycles = &cycles;
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& a, const Row& b) { return a.operators > b.operators; });
  size_t name_width = 0;
  for (const Row& row : rows) name_width = std::max(name_width, columns_of(row.device));
  name_width = std::min<size_t>(name_width, 24);
  for (size_t i = 0; i < std::min(rows.size(), kMostDevices); ++i) {
    const Row& row = rows[i];
    std::string cycles;
    if (row.cycles != nullptr && row.cycles->cycles > 0)  // 0: streams of another compiler's
      cycles = fmt::format("  about {} cycles at {:g} MHz", readable_count(row.cycles->cycles),
                           row.cycles->clock_mhz);
    writer.row("Runs on", fmt::format("{:<{}}  {}{}", clipped(row.device, name_width), name_width,
                                      operators_text(row.operators), cycles));
  }
  if (rows.size() > kMostDevices)
    writer.row("Runs on", and_more(rows.size() - kMostDevices, "device", "devices"));
  const bool has_streams = std::ranges::any_of(
      made.report.parts, [](const Report& part) { return !part.regions.empty(); });
  if (const std::optional<RunCycles>& run = made.report.counted)
    writer.row("Counted", fmt::format("about {} cycles and {} instructions{}, in the emulator",
                                      readable_count(std::llround(run->cycles.nominal)),
                                      readable_count(static_cast<int64_t>(run->instructions)),
                                      has_streams ? " of the CPU" : ""));
  if (macs > 0 || !has_streams)
    writer.row("Work", fmt::format("{} multiply-accumulates", readable_count(macs)));
}

std::string edge_text(const TensorInfo& tensor) {
  std::string real;
  const graph::Quantization& quantization = tensor.quantization;
  if (quantization.present() && !quantization.per_channel())
    real = fmt::format("  real = {:.6g} * (q - {})", quantization.scale[0],
                       quantization.zero_point[0]);
  return fmt::format("'{}' {}[{}]{}", shown_text(tensor.name), to_string(tensor.type),
                     fmt::join(tensor.shape, ","), real);
}

void add_edges(const char* label, const std::vector<TensorInfo>& tensors, SummaryWriter& writer) {
  for (size_t i = 0; i < std::min(tensors.size(), kMostEdges); ++i)
    writer.row(label, edge_text(tensors[i]));
  if (tensors.size() > kMostEdges)
    writer.row(label, fmt::format("and {} more", tensors.size() - kMostEdges));
}

}  // namespace

std::string compile_summary(const CompileSummary& made, const Terminal& terminal) {
  const ProgramReport& report = made.report;
  SummaryWriter writer(terminal);
  const std::string parts = report.cpus == 1 ? "" : fmt::format(" in {} parts", report.cpus);
  writer.title(
      fmt::format("{}{} for {} on board {}", report.model, parts, made.target, made.board));
  add_memories(made, writer);
  add_flash(made, writer);
  add_devices(made, writer);
  add_edges("Input", report.inputs, writer);
  add_edges("Output", report.outputs, writer);
  if (report.eliminated_steps > 0)
    writer.row("Reduced",
               fmt::format("{} step{} without changing a result; 'intarsia explain' lists them",
                           report.eliminated_steps, report.eliminated_steps == 1 ? "" : "s"));
  writer.path("Written", made.folder);
  writer.row("Report", "report.txt and report.json in that folder");
  return writer.take();
}

}  // namespace intarsia::cli
