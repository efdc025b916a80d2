#include "packaging/formats/serial_sample.h"

#include <fmt/format.h>

namespace intarsia::packaging {

std::string serial_print_name(const std::string& model) {
  return model + "_serial_print";
}

std::string serial_print_function(const std::string& model) {
  return fmt::format(
      "#include <Arduino.h>\n"
      "#include <stdarg.h>\n"
      "#include <stdio.h>\n\n"
      "/* Not every Serial has printf. */\n"
      "static void {}(const char *format, ...) {{\n"
      "  char line[128];\n"
      "  va_list values;\n"
      "  va_start(values, format);\n"
      "  vsnprintf(line, sizeof line, format, values);\n"
      "  va_end(values);\n"
      "  Serial.print(line);\n"
      "}}\n",
      serial_print_name(model));
}

std::string serial_entry(const std::string& model) {
  return fmt::format(
      "void setup() {{\n"
      "  Serial.begin(115200);\n"
      "  while (!Serial) {{\n"
      "  }}\n"
      "  (void)run_{}_sample();\n"
      "}}\n\n"
      "void loop() {{}}\n",
      model);
}

}  // namespace intarsia::packaging
