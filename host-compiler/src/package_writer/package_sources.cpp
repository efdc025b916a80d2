#include <array>

#include <fmt/format.h>

#include "package_writer/package_writer.h"
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

std::string source_head(const std::string& model, const std::string& attribute) {
  return fmt::format(
      "/* {0}: command streams of the accelerators. Generated file. */\n"
      "#include \"{0}_package.h\"\n"
      "\n"
      "#include \"intarsia/contract/placement.h\"\n"
      "\n"
      "_Alignas(16) const uint8_t {0}_package[{1}_PACKAGE_BYTES] {2} = {{\n",
      model, upper_case(model), attribute);
}

void write_bytes(const std::vector<uint8_t>& package, const TextSink& sink) {
  constexpr size_t kBlock = 1 << 16;
  // There are millions of bytes, and formatting each takes forty times what looking it up does.
  std::array<std::string, 256> numbers;
  for (size_t byte = 0; byte < numbers.size(); ++byte) numbers[byte] = fmt::format("{},", byte);
  std::string text;
  for (size_t i = 0; i < package.size(); ++i) {
    if (i % kBytesPerLine == 0) text += i == 0 ? "  " : "\n  ";
    text += numbers[package[i]];
    if (text.size() < kBlock) continue;
    sink(text);
    text.clear();
  }
  sink(text + "\n};\n");
}

}  // namespace

std::vector<SourceFile> package_sources(const std::string& model, const SharedBytes& package,
                                        const std::string& attribute) {
  return {{model + "_package.h", header_text(model, package.size())},
          {model + "_package.c", source_head(model, attribute),
           [package](const TextSink& sink) { write_bytes(package, sink); }}};
}

}  // namespace intarsia
