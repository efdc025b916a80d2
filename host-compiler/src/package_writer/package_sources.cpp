#include <algorithm>

#include <fmt/format.h>

#include "intarsia/package_writer.h"
#include "support/c_identifier.h"

namespace intarsia {
namespace {

constexpr size_t kBytesPerLine = 16;

std::string header_text(const std::string& model, size_t bytes) {
  return fmt::format(
      "/* {0}: command streams of the accelerators. Generated file, private to {0}.c. */\n"
      "#ifndef {1}_PACKAGE_H\n"
      "#define {1}_PACKAGE_H\n"
      "\n"
      "#include <stdint.h>\n"
      "\n"
      "#define {1}_PACKAGE_BYTES {2}u\n"
      "\n"
      "extern const uint8_t {0}_package[{1}_PACKAGE_BYTES];\n"
      "\n"
      "#endif\n",
      model, upper_case(model), bytes);
}

std::string source_text(const std::string& model, std::span<const uint8_t> package) {
  std::string text = fmt::format(
      "/* {0}: command streams of the accelerators. Generated file. */\n"
      "#include \"{0}_package.h\"\n"
      "\n"
      "#include \"intarsia_contract/placement.h\"\n"
      "\n"
      "_Alignas(16) const uint8_t {0}_package[{1}_PACKAGE_BYTES] INTARSIA_STREAMS = {{\n",
      model, upper_case(model));
  text.reserve(text.size() + package.size() * 5);
  for (size_t i = 0; i < package.size(); ++i) {
    if (i % kBytesPerLine == 0) text += i == 0 ? "  " : "\n  ";
    fmt::format_to(std::back_inserter(text), "{},", package[i]);
  }
  return text + "\n};\n";
}

}  // namespace

std::vector<SourceFile> package_sources(const std::string& model,
                                        std::span<const uint8_t> package) {
  return {{model + "_package.h", header_text(model, package.size())},
          {model + "_package.c", source_text(model, package)}};
}

}  // namespace intarsia
