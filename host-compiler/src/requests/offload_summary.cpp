// Names, units and columns are Vela's, so that scripts which read its summaries read ours.
#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "requests/offload_model.h"

namespace intarsia::requests {
namespace {

constexpr double kKilobyte = 1024;

struct Names {
  std::string accelerator, system, memory_mode;
  bool is_dedicated = false;
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
          npu.get_string("system"), in_words(mode), mode.starts_with("dedicated")};
}

// Bytes by the memory that they are in: the modes say where constants and feature maps lie.
struct Use {
  double sram = 0, dram = 0, on_chip_flash = 0, off_chip_flash = 0;
  const char *weights = "", *maps = "SRAM";
};

Use use_of(const OffloadedFile& file, const Names& names) {
  const auto kilobytes = [](int64_t bytes) { return static_cast<double>(bytes) / kKilobyte; };
  Use use;
  if (names.is_dedicated) {
    use.sram = kilobytes(file.fast_bytes);
    use.dram = kilobytes(file.arena_bytes + file.encoded_bytes);
    use.weights = use.maps = "DRAM";
    return use;
  }
  use.sram = kilobytes(file.arena_bytes);
  const bool is_on_chip = names.memory_mode == "Sram_Only";
  (is_on_chip ? use.on_chip_flash : use.off_chip_flash) = kilobytes(file.encoded_bytes);
  use.weights = is_on_chip ? "On-chip Flash" : "Off-chip Flash";
  return use;
}

}  // namespace

std::string offload_summary(const OffloadedFile& file, const std::string& name) {
  const Names names = names_of(file.selection.target);
  const Use use = use_of(file, names);
  std::string text = fmt::format("\nNetwork summary for {}\n", name);
  const auto add = [&](const char* label, const std::string& value) {
    text += fmt::format("{:<33} {:>24}\n", label, value);
  };
  add("Accelerator configuration", names.accelerator);
  add("System configuration", names.system);
  add("Memory mode", names.memory_mode);
  if (file.clock_mhz > 0)
    text += fmt::format("{:<48} {:>9.0f} MHz\n", "Accelerator clock", file.clock_mhz);
  text += "\n";
  const auto add_memory = [&](const char* memory, double kilobytes) {
    if (kilobytes > 0)
      text += fmt::format("{:<48} {:>9.2f} KiB\n", fmt::format("Total {} used", memory), kilobytes);
  };
  add_memory("SRAM", use.sram);
  add_memory("DRAM", use.dram);
  add_memory("On-chip Flash", use.on_chip_flash);
  add_memory("Off-chip Flash", use.off_chip_flash);
  const auto on_cpu = std::ssize(file.on_cpu);
  const double all = std::max(1.0, static_cast<double>(on_cpu + file.npu_operators));
  text += fmt::format("\nCPU operators = {} ({:.1f}%)\nNPU operators = {} ({:.1f}%)\n", on_cpu,
                      100 * static_cast<double>(on_cpu) / all, file.npu_operators,
                      100 * static_cast<double>(file.npu_operators) / all);
  for (const KeptOperator& op : file.on_cpu)
    text += fmt::format("  {} is on the CPU: {}\n", op.label, op.reason);
  text += fmt::format("\n{:<48} {:>9} MACs/batch\n", "Neural network macs", file.macs);
  if (file.cycles > 0) {
    const double seconds = file.cycles / (file.clock_mhz * 1e6);
    text += fmt::format("{:<48} {:>9.0f} cycles/batch\n", "NPU cycles, estimated", file.cycles);
    text += fmt::format("{:<48} {:>9.2f} ms, {:.2f} inferences/s\n", "Batch Inference time",
                        1000 * seconds, 1 / seconds);
  }
  return text;
}

std::string offload_csv(const OffloadedFile& file, const std::string& name) {
  const Names names = names_of(file.selection.target);
  const Use use = use_of(file, names);
  const double seconds = file.cycles > 0 ? file.cycles / (file.clock_mhz * 1e6) : 0;
  const auto number = [](double value) { return fmt::format("{}", value); };
  const auto count = [](int64_t value) { return fmt::format("{}", value); };
  const auto per_second = [&](double of) { return seconds > 0 ? number(of / seconds) : ""; };
  std::vector<std::pair<std::string, std::string>> columns = {
      {"experiment", "default"},
      {"network", name},
      {"accelerator_configuration", names.accelerator},
      {"system_config", names.system},
      {"memory_mode", names.memory_mode},
      {"core_clock", file.clock_mhz > 0 ? number(file.clock_mhz * 1e6) : ""},
      {"arena_cache_size",
       number(static_cast<double>(names.is_dedicated ? file.fast_bytes : file.arena_bytes) /
              kKilobyte)},
      {"sram_bandwidth", ""},
      {"dram_bandwidth", ""},
      {"on_chip_flash_bandwidth", ""},
      {"off_chip_flash_bandwidth", ""},
      {"weights_storage_area", use.weights},
      {"feature_map_storage_area", use.maps},
      {"inferences_per_second", per_second(1)},
      {"batch_size", "1"},
      {"inference_time", number(seconds)},
      {"passes_before_fusing", count(file.npu_operators + std::ssize(file.on_cpu))},
      {"passes_after_fusing", count(file.streams + std::ssize(file.on_cpu))},
      {"sram_memory_used", number(use.sram)},
      {"dram_memory_used", number(use.dram)},
      {"on_chip_flash_memory_used", number(use.on_chip_flash)},
      {"off_chip_flash_memory_used", number(use.off_chip_flash)},
      {"total_original_weights", count(file.weight_bytes)},
      {"total_npu_encoded_weights", count(file.encoded_bytes)}};
  for (const char* memory : {"sram", "dram", "on_chip_flash", "off_chip_flash"})
    for (const char* what : {"feature_map_read_bytes", "feature_map_write_bytes",
                             "weight_read_bytes", "weight_write_bytes", "total_bytes"})
      columns.emplace_back(fmt::format("{}_{}", memory, what), "");
  columns.emplace_back("nn_macs", count(file.macs));
  columns.emplace_back("nn_tops", per_second(2 * static_cast<double>(file.macs) / 1e12));
  for (const char* kind :
       {"npu", "sram_access", "dram_access", "on_chip_flash_access", "off_chip_flash_access"})
    columns.emplace_back(fmt::format("cycles_{}", kind), "");
  columns.emplace_back("cycles_total", number(file.cycles));
  std::string header, row;
  for (const auto& [column, value] : columns) {
    header += (header.empty() ? "" : ",") + column;
    row += (&column == &columns.front().first ? "" : ",") + value;
  }
  return header + "\n" + row + "\n";
}

}  // namespace intarsia::requests
