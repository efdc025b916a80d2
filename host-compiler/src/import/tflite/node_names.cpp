#include "import/tflite/node_names.h"

#include <algorithm>
#include <array>
#include <vector>

#include "support/c_identifier.h"
#include "support/shown_text.h"

namespace intarsia::tflite {

namespace {

constexpr size_t kLongestName = 48;     // longer ones make unreadable function names
constexpr size_t kLongestPrinted = 64;  // of a name inside a message

// What TensorFlow calls an operation inside a layer: says less than the layer's own name before it.
constexpr std::array<std::string_view, 14> kOperationNames = {
    "Conv2D", "depthwise", "BiasAdd", "MatMul", "AvgPool", "MaxPool", "Softmax",
    "Add",    "AddV2",     "Mul",     "Mean",   "Pad",     "Relu",    "Relu6"};

// Names of the converter's making, which stand for the whole model.
constexpr std::array<std::string_view, 3> kEmptyNames = {"Identity", "StatefulPartitionedCall",
                                                         "PartitionedCall"};

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const size_t end = text.find(separator);
    if (end != 0) parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

bool starts_with_word(std::string_view text, std::span<const std::string_view> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return text.size() >= word.size() &&
           std::ranges::equal(text.substr(0, word.size()), word, [](char a, char b) {
             return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b;
           });
  });
}

std::string joined(std::span<const std::string_view> path) {
  std::string text;
  for (const std::string_view component : path) {
    if (!text.empty()) text += '_';
    text += component;
  }
  return text;
}

std::string raw_name(std::string_view tensor_name, std::span<const std::string_view> words) {
  for (const std::string_view part : split(tensor_name, ';')) {
    const std::vector<std::string_view> path = split(part, '/');
    for (size_t i = 0; i < path.size(); ++i) {
      if (!starts_with_word(path[i], words)) continue;
      const bool is_operation =
          std::ranges::find(kOperationNames, path[i]) != kOperationNames.end();
      if (is_operation && i >= 2) return std::string(path[i - 1]);
      if (is_operation && i == 1) return joined(std::span(path).first(2));
      return std::string(path[i]);
    }
  }
  const std::vector<std::string_view> path =
      split(tensor_name.substr(0, tensor_name.find(';')), '/');
  for (const std::string_view name : kEmptyNames) {
    if (!path.empty() && path.front().starts_with(name)) return "";
  }
  // "model/block/add": the first component names the model, of which there is only one.
  return joined(std::span(path).subspan(path.size() > 1 ? 1 : 0));
}

}  // namespace

std::string node_name(std::string_view tensor_name, std::span<const std::string_view> words,
                      std::string_view fallback) {
  std::string name = raw_name(tensor_name, words);
  if (name.size() > kLongestName) name.resize(kLongestName);
  return c_identifier(name, fallback);
}

std::string printable(std::string_view name) {
  std::string_view part = name.substr(0, name.find(';'));
  const bool cut = part.size() > kLongestPrinted;
  if (cut) {
    size_t end = kLongestPrinted;  // between two characters
    while (end > 0 && (static_cast<unsigned char>(part[end]) & 0xc0) == 0x80) --end;
    part = part.substr(0, end == 0 ? kLongestPrinted : end);
  }
  std::string text = shown_text(part);
  std::replace(text.begin(), text.end(), '\'', '?');
  return cut ? text + "..." : text;
}

}  // namespace intarsia::tflite
