#include "packaging/formats/sample_text.h"

#include <algorithm>

#include <fmt/format.h>

#include "support/c_identifier.h"

namespace intarsia::packaging {
namespace {

constexpr int64_t kMostPrinted = 16;  // values of an output

int64_t elements_of(const TensorInfo& tensor) {
  int64_t elements = 1;
  for (const int64_t extent : tensor.shape) elements *= extent;
  return elements;
}

// One that the outputs' text can tell from its bytes.
bool is_vector(const TensorInfo& tensor) {
  int64_t largest = 1;
  for (const int64_t extent : tensor.shape) largest = std::max(largest, extent);
  return largest > 1 && largest == elements_of(tensor);
}

bool is_printable(const TensorInfo& tensor) {
  return (is_integer(tensor.type) && bits(tensor.type) >= 8 && bits(tensor.type) <= 32) ||
         tensor.type == DataType::Float32;
}

std::string array_text(const std::string& name, const graph::TensorValue& bytes, bool is_signed) {
  std::string text = fmt::format("static const {} {}[{}] = {{", is_signed ? "int8_t" : "uint8_t",
                                 name, bytes.size());
  std::string line;
  for (size_t i = 0; i < bytes.size(); ++i) {
    const std::string value =
        fmt::format("{}{}", is_signed ? static_cast<int8_t>(bytes[i]) : int{bytes[i]},
                    i + 1 < bytes.size() ? "," : "");
    if (line.empty() || line.size() + value.size() > 96) {
      text += line + "\n";
      line = " ";
    }
    line += " " + value;
  }
  return text + line + "\n};\n";
}

std::string shape_text(const TensorInfo& tensor) {
  return fmt::format("{} [{}]", to_string(tensor.type), fmt::join(tensor.shape, ","));
}

// In C, one real number of output `index`.
std::string real_of(const PackageManifest& manifest, size_t index, const std::string& at) {
  const TensorInfo& tensor = manifest.outputs[index];
  const std::string value = fmt::format("output{}[{}]", index, at);
  const bool converts = tensor.quantization.scale.size() == 1 &&
                        (tensor.type == DataType::Int8 || tensor.type == DataType::UInt8 ||
                         tensor.type == DataType::Int16);
  if (!converts) return fmt::format("(float){}", value);
  return fmt::format("{}_output{}_dequantize({})", manifest.model, index, value);
}

std::string print_output(const PackageManifest& manifest, size_t index, const std::string& print) {
  const TensorInfo& tensor = manifest.outputs[index];
  if (!is_printable(tensor)) return "";
  const int64_t elements = elements_of(tensor);
  const int64_t printed = std::min(elements, kMostPrinted);
  std::string text =
      fmt::format("  for (i = 0; i < {}; ++i) {}_print(\"{}\", i, {});\n", printed, manifest.model,
                  fmt::format("output {}", index), real_of(manifest, index, "i"));
  if (printed < elements)
    text += fmt::format("  {}(\"... %d values in all\\n\", {});\n", print, elements);
  if (is_vector(tensor))
    text += fmt::format(
        "  largest = 0;\n"
        "  for (i = 1; i < {0}; ++i)\n"
        "    if (output{1}[i] > output{1}[largest]) largest = i;\n"
        "  {2}(\"largest: %d\\n\", largest);\n",
        elements, index, print);
  return text;
}

bool prints_anything(const PackageManifest& manifest) {
  return std::any_of(manifest.outputs.begin(), manifest.outputs.end(), is_printable);
}

bool has_vector(const PackageManifest& manifest) {
  return std::any_of(
      manifest.outputs.begin(), manifest.outputs.end(),
      [](const TensorInfo& output) { return is_printable(output) && is_vector(output); });
}

std::string print_function(const std::string& model, const std::string& print) {
  return fmt::format(
      "/* Three decimals by integers: not every printf knows floating point. */\n"
      "static void {0}_print(const char *what, int index, float value) {{\n"
      "  const float magnitude = value < 0.0f ? -value : value;\n"
      "  const char *sign = value < 0.0f ? \"-\" : \"\";\n"
      "  long thousandths;\n"
      "  if (!(magnitude < 2000000.0f)) {{\n"
      "    {1}(\"%s [%d]: %sbeyond 2000000\\n\", what, index, sign);\n"
      "    return;\n"
      "  }}\n"
      "  thousandths = (long)(magnitude * 1000.0f + 0.5f);\n"
      "  {1}(\"%s [%d]: %s%ld.%03ld\\n\", what, index, sign, thousandths / 1000,\n"
      "      thousandths % 1000);\n"
      "}}\n\n",
      model, print);
}

std::string count_function(const std::string& model) {
  return fmt::format(
      "/* How many of `count` values, of `size` bytes each, are the same. */\n"
      "static int {0}_count_equal(const void *values, const void *expected, int count, int size) "
      "{{\n"
      "  const uint8_t *a = (const uint8_t *)values, *b = (const uint8_t *)expected;\n"
      "  int equal = 0, i;\n"
      "  for (i = 0; i < count; ++i)\n"
      "    if (memcmp(a + (size_t)i * (size_t)size, b + (size_t)i * (size_t)size, (size_t)size) == "
      "0) ++equal;\n"
      "  return equal;\n"
      "}}\n\n",
      model);
}

std::string status_check(const std::string& model, const char* function, const std::string& print) {
  return fmt::format(
      "  if (status != INTARSIA_OK) {{\n"
      "    {2}(\"{0}_{1}: status %d, see intarsia explain-error\\n\", (int)status);\n"
      "    return 1;\n"
      "  }}\n",
      model, function, print);
}

}  // namespace

std::string test_data_text(const PackageManifest& manifest, const SampleData& data) {
  const std::string guard = upper_case(manifest.model) + "_TEST_DATA_H";
  std::string text = fmt::format(
      "/* {0}: an input for the sample, and the outputs that the reference gives for it. Generated "
      "file.\n * {2} */\n#ifndef {1}\n#define {1}\n\n",
      manifest.model, guard,
      data.left_out.empty() ? "The bytes of each tensor, little-endian."
                            : "There are none: " + data.left_out + ".");
  if (data.left_out.empty()) text += "#include <stdint.h>\n\n";
  for (size_t i = 0; i < data.inputs.size(); ++i)
    text += fmt::format("/* input {}: {} */\n", i, shape_text(manifest.inputs[i])) +
            array_text(fmt::format("{}_test_input{}", manifest.model, i), data.inputs[i],
                       manifest.inputs[i].type == DataType::Int8) +
            "\n";
  for (size_t i = 0; i < data.outputs.size(); ++i)
    text += fmt::format("/* output {}: {} */\n", i, shape_text(manifest.outputs[i])) +
            array_text(fmt::format("{}_test_output{}", manifest.model, i), data.outputs[i],
                       manifest.outputs[i].type == DataType::Int8) +
            "\n";
  return text + "#endif\n";
}

std::string sample_text(const PackageManifest& manifest, const SampleData& data,
                        const std::string& print) {
  const std::string& model = manifest.model;
  const std::string macro = upper_case(model);
  const bool has_data = data.left_out.empty();
  std::string text = "#include <stdint.h>\n#include <string.h>\n\n";
  if (!manifest.devices.empty()) text += "#include \"intarsia/contract/board_devices.h\"\n";
  text += fmt::format("#include \"{0}.h\"\n", model);
  if (has_data) text += fmt::format("#include \"{0}_test_data.h\"\n", model);
  text += fmt::format("\n{1}_DEFINE_RESOURCES({0}_memory);\nstatic struct {0} {0}_instance;\n\n",
                      model, macro);
  if (prints_anything(manifest)) text += print_function(model, print);
  if (has_data) text += count_function(model);
  text += fmt::format(
      "/* 0, or 1 when something is wrong. */\nstatic int run_{0}_sample(void) {{\n", model);
  for (size_t i = 0; i < manifest.outputs.size(); ++i)
    if (is_printable(manifest.outputs[i]))
      text += fmt::format("  const {0} *output{1};\n", c_name(manifest.outputs[i].type), i);
  text += "  intarsia_status status;\n";
  if (has_data) text += "  int equal = 0, values = 0;\n";
  if (prints_anything(manifest))
    text += has_vector(manifest) ? "  int i, largest;\n" : "  int i;\n";
  text += "\n";
  for (size_t i = 0; i < manifest.devices.size(); ++i)
    text += fmt::format("  {0}_memory.device{1} = intarsia_board_device({1}); /* {2} */\n", model,
                        i, manifest.devices[i]);
  text += fmt::format("  status = {0}_init(&{0}_instance, &{0}_memory);\n", model) +
          status_check(model, "init", print);
  for (size_t i = 0; i < manifest.inputs.size(); ++i)
    text += has_data
                ? fmt::format(
                      "  memcpy({0}_input(&{0}_instance, {1}), {0}_test_input{1}, "
                      "{2}_INPUT{1}_BYTES);\n",
                      model, i, macro)
                : fmt::format("  memset({0}_input(&{0}_instance, {1}), 0, {2}_INPUT{1}_BYTES);\n",
                              model, i, macro);
  text += fmt::format("  status = {0}_run(&{0}_instance);\n", model) +
          status_check(model, "run", print);
  for (size_t i = 0; i < manifest.outputs.size(); ++i) {
    if (is_printable(manifest.outputs[i]))
      text += fmt::format("  output{1} = (const {2} *){0}_output(&{0}_instance, {1});\n", model, i,
                          c_name(manifest.outputs[i].type));
    text += print_output(manifest, i, print);
  }
  for (size_t i = 0; has_data && i < manifest.outputs.size(); ++i)
    text += fmt::format(
        "  values += {2}_OUTPUT{1}_ELEMENTS;\n"
        "  equal += {0}_count_equal({0}_output(&{0}_instance, {1}), {0}_test_output{1},\n"
        "      {2}_OUTPUT{1}_ELEMENTS, {2}_OUTPUT{1}_BYTES / {2}_OUTPUT{1}_ELEMENTS);\n",
        model, i, macro);
  if (has_data)
    text += fmt::format("  {1}(\"{0}: %d of %d exact\\n\", equal, values);\n  return {2};\n", model,
                        print, data.is_exact() ? "equal == values ? 0 : 1" : "0");
  else
    text += fmt::format("  {1}(\"{0}: ran\\n\");\n  return 0;\n", model, print);
  return text + "}\n";
}

std::string sample_needs(const PackageManifest& manifest, const SampleData& data) {
  const char* const floats =
      data.computes_floats && data.left_out.empty()
          ? "The model computes floats, whose last bits depend on the compiler and its library, so "
            "that fewer values may be exact: that is no error of the sample."
          : "";
  if (manifest.devices.empty()) return floats;
  std::string text = floats + std::string(*floats == 0 ? "" : " ");
  text += fmt::format(
      "The model's devices ({}) are opened by {}_devices.c, which is compiled with the sample.",
      fmt::join(manifest.devices, ", "), manifest.model);
  if (manifest.board != "host")
    text +=
        " The board says where their registers are: define `void *intarsia_board_registers(const "
        "char *name, int32_t "
        "unit)` in the sample.";
  if (!data.inexact_device.empty())
    text += fmt::format(
        " The arithmetic of {} may differ from the reference's by a step, so that fewer values may "
        "be exact: that is no error of the sample.",
        data.inexact_device);
  return text;
}

}  // namespace intarsia::packaging
