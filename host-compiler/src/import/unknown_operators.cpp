#include "import/unknown_operators.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia::import {
namespace {

struct Advice {
  std::string_view beginning;  // of the type
  std::string_view text;
};

constexpr std::string_view kBoxes =
    "end the model before it: its result has no fixed size, and the application selects boxes";
constexpr std::string_view kRecurrent =
    "export the layer unrolled (unroll=True in Keras), which makes it products of matrices";
constexpr std::string_view kSized =
    "the size of its result depends on values: end the model before it, or compute with a mask in "
    "its place";
constexpr std::string_view kRandom =
    "export the model for inference (model.eval() in PyTorch), or make it an input, which the "
    "application fills";
constexpr std::string_view kText = "turn text into numbers in the application";

constexpr Advice kAdvice[] = {
    {"Flex",
     "the converter was allowed operators of TensorFlow itself: convert with TFLITE_BUILTINS (or "
     "TFLITE_BUILTINS_INT8) alone, "
     "which names the layer to rewrite"},
    {"NON_MAX_SUPPRESSION", kBoxes},
    {"NonMaxSuppression", kBoxes},
    {"RNN", kRecurrent},
    {"LSTM", kRecurrent},
    {"GRU", kRecurrent},
    {"WHERE", kSized},
    {"UNIQUE", kSized},
    {"SEGMENT_SUM", kSized},
    {"UNSORTED_SEGMENT", kSized},
    {"NonZero", kSized},
    {"Unique", kSized},
    {"Compress", kSized},
    {"RANDOM", kRandom},
    {"MULTINOMIAL", kRandom},
    {"Random", kRandom},
    {"Bernoulli", kRandom},
    {"Multinomial", kRandom},
    {"HASHTABLE", kText},
    {"LSH_PROJECTION", kText},
    {"SKIP_GRAM", kText},
    {"String", kText},
    {"TfIdfVectorizer", kText},
    {"RegexFullMatch", kText},
    {"STABLEHLO", "convert with the converter's built-in operators in place of StableHLO's"},
    {"Sequence", "export with tensors in place of lists of tensors"},
    {"Optional", "export with tensors in place of optional values"},
};

}  // namespace

std::string what_to_do(std::string_view type, std::string_view otherwise) {
  const auto found = std::ranges::find_if(
      kAdvice, [&](const Advice& advice) { return type.starts_with(advice.beginning); });
  return std::string(found == std::end(kAdvice) ? otherwise : found->text);
}

void UnknownType::add(int index) {
  indices_.push_back(index);
}

std::string UnknownType::others() const {
  constexpr size_t kMostNamed = 8;
  if (indices_.size() < 2) return "";
  const size_t more = indices_.size() - 1, named = std::min(more, kMostNamed);
  const auto begin = indices_.begin() + 1;
  return fmt::format("; and {} more of this type: operator{} {}{}", more, more == 1 ? "" : "s",
                     fmt::join(begin, begin + static_cast<std::ptrdiff_t>(named), ", "),
                     more > named ? " ..." : "");
}

}  // namespace intarsia::import
