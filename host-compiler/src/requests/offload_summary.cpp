// Names, units and columns are Vela's, so that scripts which read its summaries read ours.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cctype>

#include "requests/offload_model.h"

namespace intarsia::requests {
namespace {

constexpr double kKilobyte = 1024, kMegabyte = 1024 * kKilobyte, kGigabyte = 1024 * kMegabyte;

// Memories as the tables have them: in its text, and at the beginning of its columns.
struct MemoryName {
  const char *text, *column;
};
enum MemoryIndex : uint8_t { kSram, kDram, kOnChipFlash, kOffChipFlash };
constexpr std::array<MemoryName, 4> kMemories = {{{"SRAM", "sram"},
                                                  {"DRAM", "dram"},
                                                  {"On-chip Flash", "on_chip_flash"},
                                                  {"Off-chip Flash", "off_chip_flash"}}};

struct Names {
  std::string accelerator, system, memory_mode;
  bool is_dedicated = false, is_on_chip = false;
};

// "shared-sram" -> "Shared_Sram".
std::string in_words(const std::string& tag) {
  std::string text = tag;
  bool begins = true;
  for (char& c : text) {
    if (c == '-') c = '_';
    if (begins) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
    begins = c == '_';
  }
  return text;
}

Names names_of(const TargetSpec& target) {
  const Target& npu = target.beside_host().front();
  const std::string mode = npu.get_string("memory-mode");
  // Of the device's name and its product, "x-u" and "u55", the letter is said once: "X_U55_128".
  return {fmt::format("{}{}_{}", in_words(npu.name), npu.get_string("product").substr(1),
                      npu.get_int("macs")),
          npu.get_string("system"), in_words(mode), mode.starts_with("dedicated"),
          mode == "sram-only"};
}

// "OffChipFlash" -> kOffChipFlash. Of a system in numbers, whose ports have no memory's name, the second has what the first has not.
MemoryIndex memory_of(const std::string& name, const Names& names) {
  std::string plain;
  for (const char c : name) plain += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (size_t i = 0; i < kMemories.size(); ++i) {
    std::string column = kMemories[i].column;
    std::erase(column, '_');
    if (column == plain) return static_cast<MemoryIndex>(i);
  }
  if (plain.ends_with('0')) return kSram;
  return names.is_dedicated ? kDram : names.is_on_chip ? kOnChipFlash : kOffChipFlash;
}

// What a memory holds, and what goes over the way to it.
struct MemoryFigures {
  double used = 0;       // bytes
  double bandwidth = 0;  // bytes a second at most; 0: there is no such memory
  MemoryTraffic traffic;
};

struct Figures {
  Names names;
  std::array<MemoryFigures, kMemories.size()> memories = {};
  MemoryIndex weights = kOffChipFlash, maps = kSram;  // where they lie
  double seconds = 0;
  double computing = 0;  // cycles

  const MemoryFigures& of(MemoryIndex memory) const { return memories[memory]; }
};

Figures figures_of(const OffloadedFile& file) {
  Figures figures;
  figures.names = names_of(file.selection.target);
  const double hertz = file.clock_mhz * 1e6;
  if (file.cycles > 0) figures.seconds = file.cycles / hertz;
  for (size_t way = 0; way < file.work.memories.size(); ++way) {
    MemoryFigures& memory =
        figures.memories[memory_of(file.work.memories[way].name, figures.names)];
    memory.bandwidth = file.work.memories[way].bytes_per_cycle * hertz;
    for (const OperationWork& operation : file.work.operations)
      memory.traffic += operation.memories[way];
  }
  for (const OperationWork& operation : file.work.operations)
    figures.computing += operation.computing;
  // The modes say where constants and feature maps lie.
  const auto arena = static_cast<double>(file.arena_bytes),
             constants = static_cast<double>(file.encoded_bytes);
  if (figures.names.is_dedicated) {
    figures.weights = figures.maps = kDram;
    figures.memories[kSram].used = static_cast<double>(file.fast_bytes);
    figures.memories[kDram].used = arena + constants;
  } else {
    figures.weights = figures.names.is_on_chip ? kOnChipFlash : kOffChipFlash;
    figures.memories[kSram].used = arena;
    figures.memories[figures.weights].used = constants;
  }
  return figures;
}

std::string cell(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (const char c : text) quoted += c == '"' ? std::string("\"\"") : std::string(1, c);
  return quoted + "\"";
}

// Columns in their order, and a row of cells.
class Row {
 public:
  void add(std::string column, const std::string& text) {
    columns_.push_back(std::move(column));
    cells_.push_back(cell(text));
  }
  void add(std::string column, double value) { add(std::move(column), fmt::format("{}", value)); }
  void add(std::string column, int64_t value) { add(std::move(column), fmt::format("{}", value)); }
  std::string header() const { return fmt::format("{}\n", fmt::join(columns_, ",")); }
  std::string line() const { return fmt::format("{}\n", fmt::join(cells_, ",")); }

 private:
  std::vector<std::string> columns_, cells_;
};

int64_t whole(double value) {
  return static_cast<int64_t>(value + 0.5);
}

std::string memory_lines(const MemoryName& name, const MemoryFigures& memory, double seconds) {
  const MemoryTraffic& traffic = memory.traffic;
  std::string text =
      fmt::format("{:<48} {:>9.2f} GB/s\n", fmt::format("Average {} bandwidth", name.text),
                  seconds > 0 ? traffic.bytes() / seconds / kGigabyte : 0);
  for (const auto& [what, bytes] :
       {std::pair("Input  ", traffic.maps_read),
        std::pair("Weight ", traffic.constants_read + traffic.constants_written),
        std::pair("Output ", traffic.maps_written), std::pair("Total  ", traffic.bytes())})
    text += fmt::format("{:<48} {:>9.2f} MB/batch\n",
                        fmt::format("{} {} bandwidth", what, name.text), bytes / kMegabyte);
  return text + "\n";
}

}  // namespace

std::string offload_summary(const OffloadedFile& file, const std::string& name) {
  const Figures figures = figures_of(file);
  std::string text = fmt::format("\nNetwork summary for {}\n", name);
  const auto add_name = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<33} {:>24}\n", label, value);
  };
  add_name("Accelerator configuration", figures.names.accelerator);
  add_name("System configuration", figures.names.system);
  add_name("Memory mode", figures.names.memory_mode);
  const auto add = [&](const std::string& label, double value, const char* unit, int digits = 2) {
    text += fmt::format("{:<48} {:>9.{}f} {}\n", label, value, digits, unit);
  };
  if (file.clock_mhz > 0) add("Accelerator clock", file.clock_mhz, "MHz", 0);
  for (size_t i = 0; i < kMemories.size(); ++i)
    if (figures.memories[i].bandwidth > 0)
      add(fmt::format("Design peak {} bandwidth", kMemories[i].text),
          figures.memories[i].bandwidth / kGigabyte, "GB/s");
  text += "\n";
  for (size_t i = 0; i < kMemories.size(); ++i)
    if (figures.memories[i].used > 0)
      add(fmt::format("Total {} used", kMemories[i].text), figures.memories[i].used / kKilobyte,
          "KiB");
  const auto on_cpu = std::ssize(file.on_cpu);
  const double all = std::max(1.0, static_cast<double>(on_cpu + file.npu_operators));
  text += fmt::format("\nCPU operators = {} ({:.1f}%)\nNPU operators = {} ({:.1f}%)\n", on_cpu,
                      100 * static_cast<double>(on_cpu) / all, file.npu_operators,
                      100 * static_cast<double>(file.npu_operators) / all);
  for (const KeptOperator& op : file.on_cpu)
    text += fmt::format("  {} is on the CPU: {}\n", op.label, op.reason);
  text += "\n";
  for (size_t i = 0; i < kMemories.size(); ++i)
    if (figures.memories[i].traffic.bytes() > 0)
      text += memory_lines(kMemories[i], figures.memories[i], figures.seconds);
  text += fmt::format("{:<48} {:>9} MACs/batch\n", "Neural network macs", file.macs);
  if (file.cycles <= 0) return text;
  add("Network Tops/s", 2 * static_cast<double>(file.macs) / figures.seconds / 1e12, "Tops/s");
  text += "\nCycles are estimates; the parts run beside each other.\n";
  const auto add_cycles = [&](const std::string& label, double cycles) {
    add(label, cycles, "cycles/batch", 0);
  };
  if (!file.work.operations.empty()) {
    add_cycles("NPU cycles", figures.computing);
    for (size_t i = 0; i < kMemories.size(); ++i)
      add_cycles(fmt::format("{} Access cycles", kMemories[i].text),
                 figures.memories[i].traffic.cycles);
  }
  add_cycles("Total cycles", file.cycles);
  return text + fmt::format("\n{:<33} {:>7.2f} ms, {:.2f} inferences/s (batch size 1)\n",
                            "Batch Inference time", 1000 * figures.seconds, 1 / figures.seconds);
}

std::string offload_csv(const OffloadedFile& file, const std::string& name) {
  const Figures figures = figures_of(file);
  const auto per_second = [&](double of) { return figures.seconds > 0 ? of / figures.seconds : 0; };
  Row row;
  row.add("experiment", std::string("default"));
  row.add("network", name);
  row.add("accelerator_configuration", figures.names.accelerator);
  row.add("system_config", figures.names.system);
  row.add("memory_mode", figures.names.memory_mode);
  row.add("core_clock", file.clock_mhz * 1e6);
  row.add("arena_cache_size",
          static_cast<double>(figures.names.is_dedicated ? file.fast_bytes : file.arena_bytes) /
              kKilobyte);
  for (size_t i = 0; i < kMemories.size(); ++i)
    row.add(fmt::format("{}_bandwidth", kMemories[i].column),
            figures.memories[i].bandwidth / kGigabyte);
  row.add("weights_storage_area", std::string(kMemories[figures.weights].text));
  row.add("feature_map_storage_area", std::string(kMemories[figures.maps].text));
  row.add("inferences_per_second", per_second(1));
  row.add("batch_size", int64_t{1});
  row.add("inference_time", figures.seconds);
  row.add("passes_before_fusing", file.npu_operators + std::ssize(file.on_cpu));
  row.add("passes_after_fusing", std::ssize(file.work.operations) + std::ssize(file.on_cpu));
  for (size_t i = 0; i < kMemories.size(); ++i)
    row.add(fmt::format("{}_memory_used", kMemories[i].column),
            figures.memories[i].used / kKilobyte);
  row.add("total_original_weights", file.weight_bytes);
  row.add("total_npu_encoded_weights", file.encoded_bytes);
  for (size_t i = 0; i < kMemories.size(); ++i) {
    const MemoryTraffic& traffic = figures.memories[i].traffic;
    const std::string memory = kMemories[i].column;
    row.add(memory + "_feature_map_read_bytes", whole(traffic.maps_read));
    row.add(memory + "_feature_map_write_bytes", whole(traffic.maps_written));
    row.add(memory + "_weight_read_bytes", whole(traffic.constants_read));
    row.add(memory + "_weight_write_bytes", whole(traffic.constants_written));
    row.add(memory + "_total_bytes", whole(traffic.bytes()));
  }
  row.add("nn_macs", file.macs);
  row.add("nn_tops", per_second(2 * static_cast<double>(file.macs) / 1e12));
  row.add("cycles_npu", whole(figures.computing));
  for (size_t i = 0; i < kMemories.size(); ++i)
    row.add(fmt::format("cycles_{}_access", kMemories[i].column),
            whole(figures.memories[i].traffic.cycles));
  row.add("cycles_total", whole(file.cycles));
  return row.header() + row.line();
}

std::string offload_layers_csv(const OffloadedFile& file) {
  const Names names = names_of(file.selection.target);
  double all_cycles = 0, all_macs = 0, most_fast = 0;
  for (const OperationWork& operation : file.work.operations) {
    all_cycles += operation.cycles();
    all_macs += static_cast<double>(operation.macs);
    most_fast = std::max(most_fast, static_cast<double>(operation.fast_bytes));
  }
  const auto share = [](double part, double all) { return all > 0 ? 100 * part / all : 0; };
  const auto row_of = [&](const OperationWork& operation) {
    const auto macs = static_cast<double>(operation.macs);
    std::array<double, kMemories.size()> busy = {};
    for (size_t way = 0; way < operation.memories.size(); ++way)
      busy[memory_of(file.work.memories[way].name, names)] += operation.memories[way].cycles;
    const auto original = file.kinds.find(operation.node);
    Row row;
    row.add("Original Operator", original == file.kinds.end() ? std::string() : original->second);
    row.add("NNG Operator", operation.kind);
    row.add("Target", std::string("NPU"));
    row.add("Staging Usage", operation.fast_bytes);
    row.add("Peak% (Staging)", share(static_cast<double>(operation.fast_bytes), most_fast));
    row.add("Op Cycles", whole(operation.cycles()));
    row.add("Network% (cycles)", share(operation.cycles(), all_cycles));
    row.add("NPU", whole(operation.computing));
    row.add("SRAM AC", whole(busy[kSram]));
    row.add("DRAM AC", whole(busy[kDram]));
    row.add("OnFlash AC", whole(busy[kOnChipFlash]));
    row.add("OffFlash AC", whole(busy[kOffChipFlash]));
    row.add("MAC Count", operation.macs);
    row.add("Network% (MAC)", share(macs, all_macs));
    row.add("Util% (MAC)",
            share(macs, operation.cycles() * static_cast<double>(file.work.macs_per_cycle)));
    row.add("Name", operation.node);
    return row;
  };
  std::string text = row_of({}).header();
  for (const OperationWork& operation : file.work.operations) text += row_of(operation).line();
  return text;
}

}  // namespace intarsia::requests
