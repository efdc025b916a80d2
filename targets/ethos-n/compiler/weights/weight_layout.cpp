#include "weights/weight_layout.h"

#include <algorithm>

#include "intarsia/plugin/rounding.h"

namespace intarsia::targets::ethos_n {
namespace {

constexpr int64_t kLongestDirect = 7, kPiece = 3;
constexpr int64_t kHeaderBits = 16 + 32 + 31 + 17 + 1 + 13 + 8 + 32 * 9;
constexpr int64_t kWordBytes = 16;

int64_t piece(int64_t taps) {
  return taps == 1 ? 1 : kPiece;
}
int64_t whole_pieces(int64_t taps) {
  return round_up(taps, piece(taps));
}

// Which element of the vector in DRAM is element i of the vector in SRAM: byte i / banks of bank
// i % banks, brought there as bricks of 8 x 8 x 16.
int64_t place_in_dram(const Variant& variant, int64_t i) {
  const int64_t banks = variant.srams(), byte = i / banks;
  const int64_t channel = i % banks + banks * (byte / kGroupBytes), in_group = byte % kGroupBytes;
  return channel / 16 * kBrickGroupBytes + in_group / kPatchBytes * 16 * kPatchBytes +
         channel % 16 * kPatchBytes + in_group % kPatchBytes;
}

}  // namespace

int64_t wide_side(int64_t taps) {
  return whole_pieces(taps);
}

bool is_wide(const MceStep& step) {
  return step.kernel_h > kLongestDirect || step.kernel_w > kLongestDirect;
}

std::vector<SubFilter> sub_filters(const MceStep& step) {
  if (step.stride == 1)
    return {{0, 0, 0, 0, step.kernel_h, step.kernel_w, step.pad_top, step.pad_left, false}};
  std::vector<SubFilter> filters;
  for (int64_t y = 0; y < 2; ++y)
    for (int64_t x = 0; x < 2; ++x) {
      SubFilter filter{y, x, (y + step.pad_top) % 2, (x + step.pad_left) % 2, 0, 0, 0, 0, false};
      filter.height = ceil_div(step.kernel_h - filter.first_y, 2);
      filter.width = ceil_div(step.kernel_w - filter.first_x, 2);
      filter.pad_top = (step.pad_top + y - filter.first_y) / 2;
      filter.pad_left = (step.pad_left + x - filter.first_x) / 2;
      if (filter.height <= 0 || filter.width <= 0) {
        filter.is_empty = true;
        filter.height = filter.width = 1;
        filter.pad_top = filter.pad_left = 0;
      }
      filters.push_back(filter);
    }
  return filters;
}

int64_t weights_of_ofm(const Variant& variant, const MceStep& step) {
  if (step.mode == MceMode::FullyConnected) return round_up(step.channels, kBrickGroupBytes);
  if (is_wide(step))
    return whole_pieces(step.kernel_h) * whole_pieces(step.kernel_w) * step.channels;
  int64_t weights = 0;
  const std::vector<SubFilter> filters = sub_filters(step);
  for (size_t i = 0; i < filters.size(); ++i) {
    const int64_t channels = step.mode == MceMode::Depthwise ? 1
                             : i + 1 < filters.size() ? round_up(step.channels, variant.all_igs())
                                                      : step.channels;
    weights += filters[i].height * filters[i].width * channels;
  }
  return weights;
}

int64_t most_bank_bytes(const Variant& variant, const MceStep& step, int64_t count) {
  const int64_t parallel = step.mode == MceMode::Depthwise ? variant.srams() : variant.all_ogs();
  const int64_t per_og = ceil_div(count, parallel);
  const int64_t bits = per_og * (kHeaderBits + weights_of_ofm(variant, step) * 9 + 64);
  const int64_t ogs_of_bank =
      std::max<int64_t>(1, ceil_div(std::min(parallel, count), variant.srams()));
  return ogs_of_bank * round_up(ceil_div(bits, 8), kWordBytes);
}

WeightLayout::WeightLayout(const Variant& variant, const MceStep& step)
    : variant_(variant), step_(step) {
  std::vector<int16_t> all;
  for (int64_t ofm = 0; ofm < step.depth; ++ofm) {
    ordered_.push_back(step.mode == MceMode::Convolution ? convolution(ofm)
                       : step.mode == MceMode::Depthwise ? depthwise(ofm)
                                                         : vector_product(ofm));
    all.insert(all.end(), ordered_.back().begin(), ordered_.back().end());
  }
  coding_ = choose_coding(variant, all);
}

// For each piece of a wide filter, each slice of as many IFMs as there are IGs, each sub-filter: rows,
// columns, IFMs. All sub-filters but the last have weights for the gaps of the last slice.
std::vector<int16_t> WeightLayout::convolution(int64_t ofm) const {
  std::vector<int16_t> weights;
  const int64_t slice = variant_.all_igs(), channels = step_.channels;
  const auto at = [&](int64_t y, int64_t x, int64_t i) -> int16_t {
    if (y >= step_.kernel_h || x >= step_.kernel_w || i >= channels) return 0;
    return step_.weights[static_cast<size_t>(
        ((ofm * step_.kernel_h + y) * step_.kernel_w + x) * channels + i)];
  };
  if (is_wide(step_)) {
    const int64_t height = piece(step_.kernel_h), width = piece(step_.kernel_w);
    for (int64_t top = 0; top < step_.kernel_h; top += height)
      for (int64_t left = 0; left < step_.kernel_w; left += width)
        for (int64_t first = 0; first < channels; first += slice)
          for (int64_t y = top; y < top + height; ++y)
            for (int64_t x = left; x < left + width; ++x)
              for (int64_t i = first; i < std::min(first + slice, channels); ++i)
                weights.push_back(at(y, x, i));
    return weights;
  }
  const std::vector<SubFilter> filters = sub_filters(step_);
  for (int64_t first = 0; first < channels; first += slice)
    for (size_t f = 0; f < filters.size(); ++f) {
      const SubFilter& filter = filters[f];
      const int64_t end =
          f + 1 < filters.size() ? first + slice : std::min(first + slice, channels);
      for (int64_t y = 0; y < filter.height; ++y)
        for (int64_t x = 0; x < filter.width; ++x)
          for (int64_t i = first; i < end; ++i)
            weights.push_back(filter.is_empty ? int16_t{0}
                                              : at(filter.first_y + step_.stride * y,
                                                   filter.first_x + step_.stride * x, i));
    }
  return weights;
}

std::vector<int16_t> WeightLayout::depthwise(int64_t ofm) const {
  std::vector<int16_t> weights;
  for (const SubFilter& filter : sub_filters(step_))
    for (int64_t y = 0; y < filter.height; ++y)
      for (int64_t x = 0; x < filter.width; ++x) {
        const int64_t row = filter.first_y + step_.stride * y,
                      column = filter.first_x + step_.stride * x;
        weights.push_back(filter.is_empty
                              ? int16_t{0}
                              : step_.weights[static_cast<size_t>(
                                    (ofm * step_.kernel_h + row) * step_.kernel_w + column)]);
      }
  return weights;
}

std::vector<int16_t> WeightLayout::vector_product(int64_t ofm) const {
  std::vector<int16_t> weights(static_cast<size_t>(weights_of_ofm(variant_, step_)));
  for (size_t i = 0; i < weights.size(); ++i) {
    const int64_t from = place_in_dram(variant_, static_cast<int64_t>(i));
    if (from < step_.channels)
      weights[i] = step_.weights[static_cast<size_t>(ofm * step_.channels + from)];
  }
  return weights;
}

WeightStripe WeightLayout::stripe(int64_t first, int64_t count) const {
  const int64_t parallel = step_.mode == MceMode::Depthwise ? variant_.srams() : variant_.all_ogs();
  const int64_t used = std::min(parallel, count);
  std::vector<std::vector<uint8_t>> streams;
  size_t longest = 0;
  for (int64_t og = 0; og < used; ++og) {
    OgWriter writer(variant_, coding_);
    for (int64_t ofm = first + og; ofm < first + count; ofm += parallel) {
      const auto i = static_cast<size_t>(ofm);
      writer.add({step_.bias[i], step_.scales[i], step_.zero_point, ordered_[i]});
    }
    streams.push_back(writer.finish());
    longest = std::max(longest, streams.back().size());
  }
  const auto length = static_cast<size_t>(round_up(static_cast<int64_t>(longest), kWordBytes));
  const int64_t banks = variant_.srams();
  const int64_t rounds = std::max<int64_t>(1, ceil_div(used, banks));
  WeightStripe stripe;
  stripe.second_og_at = static_cast<int64_t>(length);
  stripe.bank_bytes = rounds * stripe.second_og_at;
  stripe.bytes.assign(static_cast<size_t>(stripe.bank_bytes * banks), 0);
  for (size_t og = 0; og < streams.size(); ++og) {
    const size_t bank = og % static_cast<size_t>(banks), round = og / static_cast<size_t>(banks);
    for (size_t i = 0; i < streams[og].size(); ++i) {
      const size_t word = (round * length + i) / kWordBytes;
      stripe.bytes[(word * static_cast<size_t>(banks) + bank) * kWordBytes + i % kWordBytes] =
          streams[og][i];
    }
  }
  return stripe;
}

}  // namespace intarsia::targets::ethos_n
