#include <algorithm>
#include <array>
#include <cstring>
#include <string_view>

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
  // There are millions of bytes: of each the text is copied, always four characters, of which the next number writes over those
  // that are none of it.
  struct Number {
    std::array<char, 4> text = {};
    uint8_t length = 0;
  };
  std::array<Number, 256> numbers;
  for (size_t byte = 0; byte < numbers.size(); ++byte) {
    const std::string text = fmt::format("{},", byte);
    std::copy(text.begin(), text.end(), numbers[byte].text.begin());
    numbers[byte].length = static_cast<uint8_t>(text.size());
  }
  constexpr std::string_view kLine = "\n  ";
  std::string text(kBlock + kLine.size() + kBytesPerLine * sizeof(Number::text), ' ');
  size_t end = 0;
  for (size_t line = 0; line < package.size(); line += kBytesPerLine) {
    const std::string_view begin = line == 0 ? kLine.substr(1) : kLine;
    end += begin.copy(text.data() + end, begin.size());
    for (size_t i = line; i < std::min(line + kBytesPerLine, package.size()); ++i) {
      const Number& number = numbers[package[i]];
      std::memcpy(text.data() + end, number.text.data(), sizeof(number.text));
      end += number.length;
    }
    if (end < kBlock) continue;
    sink(std::string_view(text).substr(0, end));
    end = 0;
  }
  sink(text.substr(0, end) + "\n};\n");
}

}  // namespace

std::vector<SourceFile> package_sources(const std::string& model, const SharedBytes& package,
                                        const std::string& attribute) {
  return {{model + "_package.h", header_text(model, package.size())},
          {model + "_package.c", source_head(model, attribute),
           [package](const TextSink& sink) { write_bytes(package, sink); }}};
}

}  // namespace intarsia
