// A header of 16 bytes: 0: the kind, 1: version 1, 4: version 1 of the kind, 5 and 6: the kind's own; behind it what the kind
// has for all elements. Encoded elements lie densely, the most significant bit first.
//
//   tables of values   5: the axis of channels above, or 15, and the bits of an index below, 6: values in a table; behind it the
//                      tables, one after another. An element is an index.
//   Huffman codes      5: the bits that are looked up first, less one, above, and 1 where an entry has 32 bits, not 16; behind it
//                      the entries. An entry's highest bit says that it has an element; the four below are the bits of what was
//                      looked up last that belong to the element, or those to look up next, less one; the rest is the element,
//                      or how far behind this entry the next lookup begins.
//   pruning            behind it the elements that are not the zero point. An element is a bit: whether it is one of them.
#include "import/tflite/decode_constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace intarsia::tflite {

namespace {

constexpr size_t kHeaderBytes = 16;
constexpr int kOneTable = 15;  // in place of an axis
enum EncodedKind : uint8_t { kTables, kHuffman, kPruning };

constexpr std::string_view kTooFewBytes = "has too few bytes";

// Bits of the encoded elements, in order.
class BitReader {
 public:
  explicit BitReader(std::span<const uint8_t> bytes) : bytes_(bytes) {}

  // A lookup may reach beyond the last element's bits: there, bits are 0.
  size_t take(size_t count) {
    size_t bits = 0;
    for (; count > 0; --count, ++at_) {
      const int byte = at_ / 8 < bytes_.size() ? bytes_[at_ / 8] : 0;
      bits = 2 * bits + static_cast<size_t>((byte >> (7 - at_ % 8)) & 1);
    }
    return bits;
  }
  void give_back(size_t count) { at_ -= count; }
  bool is_beyond() const { return at_ > 8 * bytes_.size(); }

 private:
  std::span<const uint8_t> bytes_;
  size_t at_ = 0;
};

size_t element_bytes(const graph::Tensor& made) {
  return static_cast<size_t>(bits(made.type)) / 8;
}

// The elements behind each other along all axes behind this one.
size_t inner_elements(const graph::Tensor& made, size_t axis) {
  size_t count = 1;
  for (size_t i = axis + 1; i < made.shape.size(); ++i) count *= static_cast<size_t>(made.shape[i]);
  return count;
}

std::string decode_by_tables(BitReader encoded, std::span<const uint8_t> header,
                             const graph::Tensor& made, std::vector<uint8_t>& bytes) {
  const size_t element = element_bytes(made), index_bits = header[5] & 7, stride = header[6];
  if (index_bits == 0 || stride == 0) return "has indices of no bits, or tables of no values";
  const std::span<const uint8_t> values = header.subspan(kHeaderBytes);
  const int axis = header[5] >> 4;
  const size_t table = stride * element;
  size_t channels = 1, inner = 1;
  if (axis != kOneTable && values.size() >= 2 * table) {
    if (static_cast<size_t>(axis) >= made.shape.size())
      return fmt::format("has tables along axis {} of [{}]", axis, fmt::join(made.shape, ","));
    channels = static_cast<size_t>(made.shape[static_cast<size_t>(axis)]);
    inner = inner_elements(made, static_cast<size_t>(axis));
  }
  if (values.size() < channels * table)
    return fmt::format("has {} bytes of values for {} tables", values.size(), channels);
  const auto count = static_cast<size_t>(element_count(made.shape));
  for (size_t i = 0; i < count; ++i) {
    const size_t index = encoded.take(index_bits);
    if (encoded.is_beyond()) return std::string(kTooFewBytes);
    if (index >= stride) return "has an index beyond its table";
    const size_t channel = i / inner % channels;
    const auto value = values.subspan((channel * stride + index) * element, element);
    bytes.insert(bytes.end(), value.begin(), value.end());
  }
  return "";
}

std::string decode_huffman(BitReader encoded, std::span<const uint8_t> header,
                           const graph::Tensor& made, std::vector<uint8_t>& bytes) {
  const size_t element = element_bytes(made), first_bits = (header[5] >> 4) + size_t{1};
  const size_t entry_bytes = (header[5] & 1) != 0 ? 4 : 2, value_bits = 8 * entry_bytes - 5;
  const std::span<const uint8_t> table = header.subspan(kHeaderBytes);
  if (element != 1 && (element != 2 || entry_bytes != 4))
    return fmt::format("has Huffman codes of {}", to_string(made.type));
  const auto count = static_cast<size_t>(element_count(made.shape));
  for (size_t i = 0; i < count; ++i) {
    size_t looked_up = first_bits, at = encoded.take(first_bits);
    for (;;) {
      if ((at + 1) * entry_bytes > table.size()) return "has a code beyond its table";
      uint32_t entry = 0;
      std::memcpy(&entry, &table[at * entry_bytes], entry_bytes);
      const size_t value = entry & ((uint32_t{1} << value_bits) - 1);
      const size_t length = (entry >> value_bits) & 15;
      if ((entry >> (value_bits + 4)) != 0) {
        if (looked_up > length) encoded.give_back(looked_up - length);
        const auto* whole = reinterpret_cast<const uint8_t*>(&value);
        bytes.insert(bytes.end(), whole, whole + element);
        break;
      }
      looked_up = length + 1;
      at += value + encoded.take(looked_up);
      if (encoded.is_beyond()) return std::string(kTooFewBytes);
    }
    if (encoded.is_beyond()) return std::string(kTooFewBytes);
  }
  return "";
}

std::string decode_pruned(BitReader encoded, std::span<const uint8_t> header,
                          const graph::Tensor& made, std::vector<uint8_t>& bytes) {
  const size_t element = element_bytes(made);
  const graph::Quantization& q = made.quantization;
  const auto axis = static_cast<size_t>(std::max(q.axis, 0));
  const size_t channels = std::max<size_t>(q.zero_point.size(), 1);
  if (channels > 1 && axis != 0 && axis + 1 != made.shape.size())
    return fmt::format("prunes along axis {} of [{}]", axis, fmt::join(made.shape, ","));
  const bool has_zero_point = std::ranges::any_of(q.zero_point, [](int64_t z) { return z != 0; });
  if (has_zero_point && element != 1)
    return fmt::format("prunes {} with a zero point", to_string(made.type));
  const size_t inner = channels > 1 ? inner_elements(made, axis) : 1;
  std::span<const uint8_t> kept = header.subspan(kHeaderBytes);
  const auto count = static_cast<size_t>(element_count(made.shape));
  for (size_t i = 0; i < count; ++i) {
    const bool is_kept = encoded.take(1) != 0;
    if (encoded.is_beyond() || (is_kept && kept.size() < element)) return std::string(kTooFewBytes);
    if (is_kept) {
      bytes.insert(bytes.end(), kept.begin(), kept.begin() + static_cast<ptrdiff_t>(element));
      kept = kept.subspan(element);
      continue;
    }
    const int64_t zero = has_zero_point ? q.zero_point[i / inner % channels] : 0;
    bytes.insert(bytes.end(), element, static_cast<uint8_t>(zero));
  }
  return "";
}

}  // namespace

std::string decode_constant(std::span<const uint8_t> encoded, std::span<const uint8_t> header,
                            const graph::Tensor& made, std::vector<uint8_t>& bytes) {
  if (header.size() < kHeaderBytes) return "has no header of 16 bytes";
  if (header[0] > kPruning) return fmt::format("decodes a kind {} of an application", header[0]);
  if (header[1] != 1 || header[4] != 1)
    return fmt::format("is of version {}.{}", header[1], header[4]);
  if (element_bytes(made) == 0) return fmt::format("makes {}", to_string(made.type));
  const BitReader reader(encoded);
  if (header[0] == kTables) return decode_by_tables(reader, header, made, bytes);
  if (header[0] == kHuffman) return decode_huffman(reader, header, made, bytes);
  return decode_pruned(reader, header, made, bytes);
}

}  // namespace intarsia::tflite
