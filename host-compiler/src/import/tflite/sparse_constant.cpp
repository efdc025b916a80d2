// The format lists dimensions in the order in which elements are stored: first the tensor's own, then those within blocks, which
// divide some of the tensor's. A dense dimension has all of its places; a sparse one those that it lists, row after row, a row for
// each place of the dimensions before it.
#include "import/tflite/sparse_constant.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>

namespace intarsia::tflite {

namespace {

// A file of few bytes asks for no more memory than this, or than this for each of its bytes.
constexpr size_t kAlwaysRoom = size_t{1} << 20, kMostOfAByte = 4096;

struct Level {
  bool sparse = false;
  int64_t extent = 0;
  int64_t stride = 0;  // of the dense tensor, in elements
  std::vector<int64_t> segments, places;
};

template <typename Numbers>
std::vector<int64_t> widened(const Numbers* numbers) {
  if (numbers == nullptr) return {};
  const auto all = values(numbers->values());
  return {all.begin(), all.end()};
}

std::vector<int64_t> segments_of(const format::SparseDimension& raw) {
  if (const auto* numbers = raw.segments_as_Uint8Numbers()) return widened(numbers);
  if (const auto* numbers = raw.segments_as_Uint16Numbers()) return widened(numbers);
  return widened(raw.segments_as_Int32Numbers());
}

std::vector<int64_t> places_of(const format::SparseDimension& raw) {
  if (const auto* numbers = raw.places_as_Uint8Numbers()) return widened(numbers);
  if (const auto* numbers = raw.places_as_Uint16Numbers()) return widened(numbers);
  return widened(raw.places_as_Int32Numbers());
}

// Whether these are 0, 1, 2 ... in any order.
bool is_order(std::vector<int32_t> numbers) {
  std::ranges::sort(numbers);
  for (size_t i = 0; i < numbers.size(); ++i)
    if (numbers[i] != static_cast<int32_t>(i)) return false;
  return true;
}

std::string check_rows(const Level& level, int64_t rows) {
  if (std::ssize(level.segments) != rows + 1 || level.segments.front() != 0 ||
      level.segments.back() != std::ssize(level.places) || !std::ranges::is_sorted(level.segments))
    return fmt::format("lists {} places in {} segments, for {} rows", level.places.size(),
                       level.segments.size(), rows);
  const auto outside = std::ranges::find_if(
      level.places, [&](int64_t place) { return place < 0 || place >= level.extent; });
  if (outside != level.places.end())
    return fmt::format("lists place {} of a dimension of {}", *outside, level.extent);
  return "";
}

std::string read_levels(const format::Sparsity& sparsity, const Shape& shape,
                        std::vector<Level>& levels) {
  const std::span<const int32_t> order = values(sparsity.order()),
                                 blocked = values(sparsity.blocked());
  const size_t rank = shape.size(), count = rank + blocked.size();
  const auto* dimensions = sparsity.dimensions();
  if (order.size() != count || dimensions == nullptr || dimensions->size() != count ||
      !is_order({order.begin(), order.end()}) ||
      !is_order({order.begin(), order.begin() + static_cast<ptrdiff_t>(rank)}))
    return fmt::format("is stored sparse in the order [{}], for a shape [{}] and {} blocks",
                       fmt::join(order, ","), fmt::join(shape, ","), blocked.size());
  // From the innermost block outwards: what of the tensor's dimension is within a place.
  std::vector<int64_t> within(rank, 1);
  levels.assign(count, {});
  const auto stride = [&](size_t dimension) {
    int64_t elements = within[dimension];
    for (size_t i = dimension + 1; i < rank; ++i) elements *= shape[i];
    return elements;
  };
  for (size_t at = count; at-- > 0;) {
    const format::SparseDimension& raw = *dimensions->Get(static_cast<flatbuffers::uoffset_t>(at));
    Level& level = levels[at];
    level.sparse = raw.is_sparse() != 0;
    const auto own = static_cast<size_t>(order[at]);
    const int64_t dimension = own < rank ? order[at] : blocked[own - rank];
    if (dimension < 0 || dimension >= std::ssize(shape))
      return fmt::format("is stored sparse with blocks of dimension {}", dimension);
    const auto place = static_cast<size_t>(dimension);
    level.stride = stride(place);
    const bool is_block = own >= rank;
    if (is_block &&
        (level.sparse || raw.extent() < 1 || shape[place] % (within[place] * raw.extent()) != 0))
      return fmt::format("is stored sparse with blocks that do not divide its shape [{}]",
                         fmt::join(shape, ","));
    level.extent = is_block ? raw.extent() : shape[place] / within[place];
    if (!level.sparse && raw.extent() != level.extent)
      return fmt::format("is stored sparse with an extent of {} in place of {}", raw.extent(),
                         level.extent);
    if (is_block) within[place] *= level.extent;
    if (level.sparse) level.segments = segments_of(raw), level.places = places_of(raw);
  }
  return "";
}

}  // namespace

std::string decode_sparse(const format::Sparsity& sparsity, const Shape& shape, size_t size,
                          std::span<const uint8_t> stored, std::vector<uint8_t>& bytes) {
  std::vector<Level> levels;
  if (std::string wrong = read_levels(sparsity, shape, levels); !wrong.empty()) return wrong;
  const auto whole = static_cast<size_t>(element_count(shape)) * size;
  if (whole > std::max(kAlwaysRoom, kMostOfAByte * stored.size()))
    return fmt::format("stores {} bytes of {}, which is too little to be a network's",
                       stored.size(), whole);
  // Where the stored elements are, a level after another.
  std::vector<int64_t> at{0};
  for (const Level& level : levels) {
    if (level.sparse) {
      if (std::string wrong = check_rows(level, std::ssize(at)); !wrong.empty())
        return "is stored sparse and " + wrong;
    } else if (std::ssize(at) * level.extent > element_count(shape)) {
      return "is stored sparse with more places than elements";
    }
    std::vector<int64_t> next;
    for (size_t row = 0; row < at.size(); ++row) {
      const int64_t from = level.sparse ? level.segments[row] : 0;
      const int64_t to = level.sparse ? level.segments[row + 1] : level.extent;
      for (int64_t i = from; i < to; ++i)
        next.push_back(at[row] +
                       level.stride * (level.sparse ? level.places[static_cast<size_t>(i)] : i));
    }
    at = std::move(next);
  }
  if (at.size() * size != stored.size())
    return fmt::format("stores {} bytes for {} sparse elements", stored.size(), at.size());
  bytes.assign(whole, 0);
  for (size_t i = 0; i < at.size(); ++i)
    std::memcpy(&bytes[static_cast<size_t>(at[i]) * size], &stored[i * size], size);
  return "";
}

}  // namespace intarsia::tflite
