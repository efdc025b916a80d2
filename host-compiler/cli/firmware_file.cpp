#include "firmware_file.h"

#include <charconv>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::cli {
namespace {

using Json = nlohmann::ordered_json;

Json kernels_json(const std::vector<executable::KernelCode>& kernels) {
  Json rows = Json::array();
  for (const executable::KernelCode& kernel : kernels)
    rows.push_back({{"id", fmt::format("{:016x}", kernel.id)}, {"name", kernel.name}});
  return rows;
}

}  // namespace

std::string description_path(const std::string& firmware) {
  return firmware + ".json";
}

std::string simulators_path(const std::string& firmware) {
  return firmware + ".devices";
}

Json firmware_json(const FirmwareFile& file) {
  Json memories = Json::array();
  for (const MemoryBlock& memory : file.image.memories)
    memories.push_back({{"name", memory.name}, {"bytes", memory.bytes}});
  return {{"board", file.board},
          {"target", file.target},
          {"core", file.core},
          {"kept_at", file.kept_at},
          {"kept_bytes", file.kept_bytes},
          {"package_bytes", file.package_bytes},
          {"interface_id", file.image.interface_id},
          {"tensors", file.image.tensors},
          {"memories", memories},
          {"devices", file.image.devices},
          {"kernels", kernels_json(file.image.kernels)}};
}

Result<FirmwareFile> read_firmware_file(const std::string& firmware) {
  const std::string path = description_path(firmware);
  const Result<std::string> text = read_text_file(path);
  if (!text.ok())
    return Diagnostics(
        firmware,
        fmt::format("'{}', which 'intarsia firmware' writes beside it, cannot be read", path),
        "name a program that 'intarsia firmware' made");
  const Json json = Json::parse(*text, nullptr, false);
  FirmwareFile file;
  const auto text_of = [&](const char* key, std::string& into) {
    const bool there = json.is_object() && json.contains(key) && json[key].is_string();
    if (there) into = json[key].get<std::string>();
    return there;
  };
  const auto number_of = [&](const char* key, auto& into) {
    const bool there = json.is_object() && json.contains(key) && json[key].is_number_unsigned();
    if (there) json[key].get_to(into);
    return there;
  };
  if (!text_of("board", file.board) || !text_of("target", file.target) ||
      !text_of("core", file.core) || !number_of("kept_at", file.kept_at) ||
      !number_of("kept_bytes", file.kept_bytes) || !number_of("package_bytes", file.package_bytes))
    return Diagnostics(path, "is not what 'intarsia firmware' writes", "build the firmware again");
  number_of("tensors", file.image.tensors);
  if (json.contains("kernels") && json["kernels"].is_array())
    for (const Json& row : json["kernels"]) {
      executable::KernelCode kernel;
      if (!row.is_object() || !row.contains("id") || !row["id"].is_string()) continue;
      const std::string id = row["id"].get<std::string>();
      std::from_chars(id.data(), id.data() + id.size(), kernel.id, 16);
      file.image.kernels.push_back(std::move(kernel));
    }
  return file;
}

std::string firmware_text(const std::string& path, const FirmwareFile& file) {
  std::string text =
      fmt::format("{}: runs packages for {} on board {}\n", path, file.target, file.board);
  text += fmt::format("kernels: {}\n", file.image.kernels.size());
  for (const MemoryBlock& memory : file.image.memories)
    text += fmt::format("memory {}: {} bytes\n", memory.name, memory.bytes);
  for (const std::string& device : file.image.devices) text += fmt::format("device: {}\n", device);
  text += fmt::format("package from a file: {} bytes at most\n", file.package_bytes);
  if (file.kept_bytes > 0)
    text += fmt::format("package beside it: at {:#010x}, {} bytes at most\n", file.kept_at,
                        file.kept_bytes);
  return text;
}

Json package_json(const executable::ExecutableModel& model, size_t bytes) {
  Json memories = Json::array();
  for (size_t i = 0; i < model.contract.pool_bytes.size(); ++i)
    if (model.contract.pool_bytes[i] > 0)
      memories.push_back(
          {{"name", model.program.memories[i]}, {"bytes", model.contract.pool_bytes[i]}});
  return {{"model", model.name},
          {"bytes", bytes},
          {"interface_id", model.program.interface_id},
          {"memories", memories},
          {"devices", model.program.devices},
          {"kernels", kernels_json(model.kernels)}};
}

}  // namespace intarsia::cli
