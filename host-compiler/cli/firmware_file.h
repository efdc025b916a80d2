// What is known of a firmware that runs packages: FIRMWARE.json beside it.
#pragma once

#include <cstdint>
#include <string>

#include <nlohmann/json.hpp>

#include "executable/image_text.h"
#include "intarsia/result.h"

namespace intarsia::cli {

struct FirmwareFile {
  std::string board;  // as it was given: a name or a path
  std::string target, core;
  uint64_t kept_at = 0, kept_bytes = 0;  // where a package lies beside it
  int64_t package_bytes = 0;             // of one from a file
  executable::Image image;               // read again, it has the ids of kernels alone
};

std::string description_path(const std::string& firmware);
std::string simulators_path(const std::string& firmware);

nlohmann::ordered_json firmware_json(const FirmwareFile& file);
Result<FirmwareFile> read_firmware_file(const std::string& firmware);
// For people: its figures, a line each.
std::string firmware_text(const std::string& path, const FirmwareFile& file);

nlohmann::ordered_json package_json(const executable::ExecutableModel& model, size_t bytes);

}  // namespace intarsia::cli
