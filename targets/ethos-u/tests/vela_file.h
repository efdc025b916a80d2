// What Vela's .tflite files hold of the NPU: payloads, the memory they run in, where inputs and outputs are.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <span>
#include <string>
#include <vector>

namespace intarsia::test::ethos_u {

struct VelaTensor {
  int32_t tensor = 0;   // index in the file
  uint64_t offset = 0;  // in the arena, region 1
  uint64_t bytes = 0;
};

struct VelaOperator {
  std::vector<uint8_t> payload;    // "COP1"
  std::vector<uint8_t> constants;  // region 0
  uint64_t arena_bytes = 0;        // region 1
  uint64_t cache_bytes = 0;        // region 2; the arena itself where cache_is_arena
  bool cache_is_arena = true;
  std::vector<VelaTensor> inputs, outputs;
};

struct VelaFile {
  std::filesystem::path path;
  std::string name;         // "kws_ref_model/ethos-u55-128-Shared_Sram-Performance"
  std::string model;        // "kws_ref_model"
  std::string tag;          // "ethos-u55-128"
  std::string memory_mode;  // "Shared_Sram"
  bool npu_alone = true;    // no operator is left to the CPU
  std::vector<VelaOperator> operators;
};

VelaFile read_vela_file(const std::filesystem::path& path);
// Every file below the folder, sorted by name.
std::vector<VelaFile> read_vela_files(const std::filesystem::path& folder);
// Every recorded file (recorded_data.h) of these models, or of all.
std::vector<VelaFile> read_vela_files(const std::set<std::string>& models = {});

}  // namespace intarsia::test::ethos_u
