// The digits on two CPUs.
#pragma once

#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli.h"

namespace intarsia::test {

inline constexpr int kImages = 12;
inline constexpr const char* kNpuInPart = "c -mcpu=cortex-m55 + ethos-u55-128";

class Multicore : public Cli {
 protected:
  // Three stages: the first core begins and ends, the second has the middle.
  static std::vector<std::string> split(const std::string& first, const std::string& second) {
    std::vector<std::string> arguments = {
        "--target", fmt::format("low_power_cpu: {}; inference_cpu: {}", first, second)};
    for (const char* name :
         {"stem", "block1_depthwise", "block1_pointwise", "flatten", "classifier", "scores"})
      arguments.insert(arguments.end(), {"--pin", fmt::format("{}=low_power_cpu", name)});
    return arguments;
  }

  void write_images() const {
    std::vector<uint8_t> all;
    for (int i = 0; i < kImages; ++i) {
      write_image("image.bin", i);
      const std::vector<uint8_t> image = read("image.bin");
      all.insert(all.end(), image.begin(), image.end());
    }
    write("images.bin", all);
  }
  static std::vector<uint8_t> all_scores() {
    std::vector<uint8_t> all;
    for (int i = 0; i < kImages; ++i) {
      const std::vector<uint8_t> scores = recorded_scores(i);
      all.insert(all.end(), scores.begin(), scores.end());
    }
    return all;
  }

  ProcessOutcome with_split(std::vector<std::string> command, const std::string& first,
                            const std::string& second) const {
    const std::vector<std::string> choice = split(first, second);
    command.insert(command.end(), choice.begin(), choice.end());
    return intarsia(command);
  }

  // Builds the compiled folder with a main that submits and collects at once, under the thread sanitizer, and writes
  // scores.bin; `ran` is false without one.
  void run_under_thread_sanitizer(const std::string& folder, bool& ran) const;

  // Sources and include folders of what `compile` wrote, as arguments of a compiler.
  std::vector<std::string> sources_of(const std::string& folder,
                                      const std::string& without = "") const {
    const std::vector<uint8_t> text = read(folder + "/manifest.json");
    const auto manifest = nlohmann::json::parse(text.begin(), text.end());
    std::vector<std::string> arguments;
    for (const auto& dir : manifest["include_dirs"])
      arguments.push_back("-I" + path(folder + "/" + dir.get<std::string>()));
    for (const auto& source : manifest["sources"])
      if (source != without) arguments.push_back(path(folder + "/" + source.get<std::string>()));
    return arguments;
  }
};

}  // namespace intarsia::test
