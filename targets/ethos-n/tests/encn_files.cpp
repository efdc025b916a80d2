#include "encn_files.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "shared_data.h"

namespace intarsia::test::ethos_n {
namespace {

using nlohmann::json;

// "4TOPS_2PLE" of the file's name is "ethos-n78-4tops-2ple".
const simulators::ethos_n::Variant* variant_of(std::string name) {
  std::transform(name.begin(), name.end(), name.begin(), [](char letter) {
    return letter == '_' ? '-'
                         : static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
  });
  return simulators::ethos_n::find_variant("ethos-n78-" + name);
}

std::vector<size_t> tensors_of(const json& buffers, const char* key) {
  std::vector<size_t> tensors;
  for (const json& buffer : buffers) tensors.push_back(buffer.at(key).get<size_t>());
  return tensors;
}

bool uses_sigmoid(const json& compiled) {
  for (const json& kernel : compiled.value("ple_kernels", json::array()))
    if (kernel.get<std::string>().find("SIGMOID") != std::string::npos) return true;
  return false;
}

}  // namespace

std::vector<uint8_t> EncnFile::bytes() const {
  return read_bytes(path);
}

std::vector<std::vector<uint8_t>> EncnFile::inputs_of(size_t sample) const {
  std::vector<std::vector<uint8_t>> values;
  for (const size_t tensor : inputs)
    values.push_back(read_bytes(path.parent_path() / ("in" + std::to_string(sample) + "_" +
                                                      std::to_string(tensor) + ".bin")));
  return values;
}

std::vector<uint8_t> EncnFile::expected(size_t sample, size_t output) const {
  return read_bytes(path.parent_path() / ("ref" + std::to_string(sample) + "_" +
                                          std::to_string(outputs[output]) + ".bin"));
}

std::vector<EncnFile> encn_files() {
  std::vector<EncnFile> files;
  const std::filesystem::path folder = shared_folder() / "npu-streams/ethos-n";
  if (!std::filesystem::exists(folder)) return files;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    const std::vector<uint8_t> text = read_bytes(entry.path() / "meta.json");
    const json meta = json::parse(text.begin(), text.end());
    size_t samples = 0;
    while (std::filesystem::exists(entry.path() / ("ref" + std::to_string(samples) + "_0.bin")))
      ++samples;
    for (const auto& [variant, compiled] : meta.at("variants").items()) {
      std::vector<json> all = {compiled};
      for (const json& forced : compiled.value("forced", json::array())) all.push_back(forced);
      for (const json& one : all) {
        if (!one.value("ok", false)) continue;
        const std::string file = one.at("file");
        files.push_back({entry.path().filename().string() + "/" + file, entry.path() / file,
                         variant_of(variant),
                         tensors_of(one.at("buffers").at("inputs"), "tflite_input"),
                         tensors_of(one.at("buffers").at("outputs"), "tflite_output"), samples,
                         uses_sigmoid(one) ? 1 : 0});
      }
    }
  }
  std::sort(files.begin(), files.end(),
            [](const EncnFile& a, const EncnFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace intarsia::test::ethos_n
