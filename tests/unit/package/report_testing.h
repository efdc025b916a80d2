// A model with its report, for the tests of reports.
#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <string>

#include "intarsia/builtin_targets.h"
#include "intarsia/compile.h"
#include "intarsia/report.h"

namespace intarsia::test {

struct Made {
  CompiledModel model;
  Report report;
};

inline Made made_on(std::span<const uint8_t> bytes, const std::string& file,
                    const std::string& target_text, std::map<std::string, std::string> pins = {}) {
  TargetRegistry registry;
  add_builtin_targets(registry);
  const Result<TargetSpec> target = parse_target_argument(registry.catalogue(), target_text);
  EXPECT_TRUE(target.ok());
  CompileOptions options;
  options.memory.pools = {{"ram", 0}};
  options.memory.open = true;
  options.partition.pins = std::move(pins);
  options.partition.cycles = true;
  Result<CompiledModel> model = compile(bytes, file, registry, *target, options);
  EXPECT_TRUE(model.ok()) << model.error().to_string();
  Report report = make_report(*model, target_text, "host");
  return {std::move(model).value(), std::move(report)};
}

// `file`: within the repository.
inline Made file_on(const std::string& file, const std::string& target,
                    std::map<std::string, std::string> pins = {}) {
  std::ifstream in(INTARSIA_SOURCE_DIR "/" + file, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(in)), {});
  return made_on({reinterpret_cast<const uint8_t*>(bytes.data()), bytes.size()},
                 file.substr(file.rfind('/') + 1), target, std::move(pins));
}

inline Made digits_on(const std::string& target, std::map<std::string, std::string> pins = {}) {
  return file_on("examples/digits/digits.tflite", target, std::move(pins));
}

}  // namespace intarsia::test
