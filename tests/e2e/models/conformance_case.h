// One recorded case as generated C, built and run on this machine, against the recorded outputs.
#pragma once

#include <cmath>
#include <cstring>
#include <filesystem>

#include <nlohmann/json.hpp>

#include "end_to_end.h"
#include "float_values.h"
#include "recorded_data.h"

namespace intarsia::test {

namespace fs = std::filesystem;

template <typename T>
std::string first_difference(const std::vector<uint8_t>& actual,
                             const std::vector<uint8_t>& expected, double tolerance) {
  for (size_t at = 0; at + sizeof(T) <= expected.size(); at += sizeof(T)) {
    T a, e;
    std::memcpy(&a, &actual[at], sizeof a), std::memcpy(&e, &expected[at], sizeof e);
    if (!(std::fabs(static_cast<double>(a) - static_cast<double>(e)) <= tolerance))
      return "element " + std::to_string(at / sizeof(T)) + " is " + std::to_string(a) +
             " instead of " + std::to_string(e);
  }
  return "";
}

inline std::string difference(const nlohmann::json& meta, const std::string& type,
                              const std::vector<uint8_t>& actual,
                              const std::vector<uint8_t>& expected) {
  if (actual.size() != expected.size()) return "has another size";
  if (type == "FLOAT32") return float_difference(actual, expected, kOtherLibraryOfTensor);
  // One record is not what TFLite Micro's reference kernels compute; its source allows this much.
  const bool is_reference = meta.value("tflm_reference", "match") == "match";
  const double steps = is_reference ? 0 : meta["compare"]["atol"].get<double>();
  return type == "INT16" ? first_difference<int16_t>(actual, expected, steps)
                         : first_difference<int8_t>(actual, expected, steps);
}

// "" when the outputs of the last invocation are as recorded.
inline std::string run_case(const fs::path& folder, const nlohmann::json& meta) {
  EndToEndRequest request;
  request.name = folder.filename().string();
  request.bytes = read_bytes(folder / "model.tflite");
  request.board = "host";
  request.optimise = "-O1";
  request.samples = meta.value("invocations", 1);
  for (const auto& input : meta["inputs"])
    request.inputs.push_back(read_bytes(folder / input["file"].get<std::string>()));
  const Result<EndToEnd> ran = run_end_to_end(request);
  if (!ran.ok()) return ran.error().to_string();
  for (size_t i = 0; i < ran->run.outputs.size(); ++i) {
    const std::vector<uint8_t>& all = ran->run.outputs[i];
    const size_t size = all.size() / static_cast<size_t>(request.samples);
    const std::vector<uint8_t> last(all.end() - static_cast<ptrdiff_t>(size), all.end());
    const std::string found =
        difference(meta, meta["outputs"][i]["type"], last,
                   read_bytes(folder / meta["outputs"][i]["file"].get<std::string>()));
    if (!found.empty()) return "output " + std::to_string(i) + ": " + found;
  }
  return "";
}

}  // namespace intarsia::test
