// Hard swish: of int8 a table. Of int16 it is defined in floats, each step rounded, which the NPU does not have: a product in 32 bits gives
// all results but those beside the middle between two steps, about twenty of 65,536, which floats round to the other side. Which
// these are is found as the model is compiled, by trying all; and each is mended by one. A table that is indexed by the input's
// last bits says in which row of 512 values there is such a value with these, and another one, indexed by how far the
// input's row is from that one, has what is added: nothing for all rows but one.
#include "legalise/hard_swish_int16.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>

#include <fmt/format.h>

#include "legalise/elementwise.h"
#include "legalise/lookup.h"
#include "legalise/wide.h"
#include "program/scaling.h"

namespace intarsia::targets::ethos_u {
namespace {

constexpr int32_t kLeastWord = -32768, kMostWord = 32767;
constexpr int kMostFine = 15;         // more bits of the input
constexpr int kMostGateProduct = 30;  // bits of the product of input and gate that are kept
constexpr int kColumnBits = 9;        // of the input, that index the first table
constexpr int32_t kColumns = 1 << kColumnBits, kLine = 128;
constexpr int32_t kLess = 130;     // rows away from itself, a value that is to be less by one
constexpr int32_t kNowhere = -66;  // a row that is never 0 or kLess away
constexpr size_t kMostMendings = 3;

int64_t halved(int64_t value, int shift) {
  return shift == 0 ? value : (value + (int64_t{1} << (shift - 1))) >> shift;
}

// x * clamp(x + 3, 0, 6) / 6 of real numbers, in steps: `fine` more bits of the input for the gate, whose product with it loses
// `lost` bits and is scaled by `factor`.
struct RealNumbers {
  int fine = 0, lost = 0;
  int32_t three = 0, six = 0;
  FixedFactor factor;

  static std::optional<RealNumbers> of(const Site& site) {
    const double in = scale_of(site.in()), out = scale_of(site.out());
    const auto fits = [&](int fine) {
      return std::ldexp(kMostWord + 2 + std::max(3 / in, 6 / in - kMostWord), fine) <
             std::numeric_limits<int32_t>::max();
    };
    RealNumbers numbers;
    for (numbers.fine = kMostFine; numbers.fine >= 0 && !fits(numbers.fine);) --numbers.fine;
    if (numbers.fine < 0) return std::nullopt;
    numbers.three = static_cast<int32_t>(std::llround(std::ldexp(3 / in, numbers.fine)));
    numbers.six = static_cast<int32_t>(std::llround(std::ldexp(6 / in, numbers.fine)));
    const double largest = std::ldexp(numbers.six, 15 + numbers.fine);
    numbers.lost = std::max(0, std::ilogb(largest) + 1 - kMostGateProduct);
    numbers.factor = fixed_factor(std::ldexp(in * in / (6 * out), numbers.lost - 2 * numbers.fine));
    const int shift = 31 - numbers.factor.exponent;
    if (numbers.factor.value == 0 || shift < 1 || shift > 62) return std::nullopt;
    return numbers;
  }

  int32_t result(int32_t x) const {
    const int64_t wide = int64_t{x} << fine;
    const int64_t gate = std::clamp<int64_t>(wide + three, 0, six);
    const int64_t scaled = halved(halved(wide * gate, lost) * factor.value, 31 - factor.exponent);
    return static_cast<int32_t>(std::clamp<int64_t>(scaled, kLeastWord, kMostWord));
  }
};

// The value's row as the last table sees it, which rounds.
int32_t row_of_word(int32_t x) {
  return (x + 2) >> kColumnBits;
}

using Rows = std::array<int32_t, kColumns>;  // by the input's last bits

struct Mending {
  RealNumbers numbers;
  std::vector<Rows> tables;
};

// Nothing where a result is more than one step beside, or too many share their last bits.
std::optional<Mending> make_mending(const Site& site) {
  const std::optional<RealNumbers> numbers = RealNumbers::of(site);
  if (!numbers) return std::nullopt;
  Mending mending{*numbers, {}};
  const std::vector<uint8_t> wanted = all_results(site);
  for (int32_t x = kLeastWord; x <= kMostWord; ++x) {
    const int32_t missing = int16_at(wanted, x - kLeastWord) - numbers->result(x);
    if (missing == 0) continue;
    if (std::abs(missing) > 1) return std::nullopt;
    const auto column = static_cast<size_t>(x & (kColumns - 1));
    const auto has_room = [&](const Rows& rows) { return rows[column] == kNowhere; };
    auto table = std::ranges::find_if(mending.tables, has_room);
    if (table == mending.tables.end()) {
      if (mending.tables.size() == kMostMendings) return std::nullopt;
      mending.tables.emplace_back().fill(kNowhere);
      table = mending.tables.end() - 1;
    }
    (*table)[column] = row_of_word(x) + (missing < 0 ? kLess : 0);
  }
  return mending;
}

std::shared_ptr<const std::optional<Mending>> mending_of(const Site& site) {
  static KnownOfSites<std::optional<Mending>> known;
  return known.of(site, make_mending);
}

// A table of 16 bits, of lines without a slope: the results by index, from the least on.
std::vector<uint8_t> flat_table(const std::array<int32_t, kColumns>& results) {
  std::vector<uint8_t> table;
  for (const int32_t result : results)
    table.insert(table.end(),
                 {static_cast<uint8_t>(result), static_cast<uint8_t>(result >> 8), 0, 0});
  return table;
}

class HardSwishWords {
  using enum OperationKind;

 public:
  HardSwishWords(Builder& builder, const graph::Node& node, const Mending& mending)
      : builder_(builder), numbers_(mending.numbers) {
    for (const Rows& rows : mending.tables) {
      std::array<int32_t, kColumns> lines{};  // the last bits are signed as an index
      for (size_t column = 0; column < rows.size(); ++column)
        lines[column ^ (kColumns / 2)] = kLine * rows[column];
      tables_.push_back(builder.table({fmt::format("{}_rows", node.name), flat_table(lines)}));
    }
    std::array<int32_t, kColumns> added{};
    added[kColumns / 2] = 1;
    added[kColumns / 2 - kLess] = -1;
    added_ = builder.table({fmt::format("{}_added", node.name), flat_table(added)});
  }

  void emit(const Operand& x, const Operand& out) {
    const Operand wide_x = widened(builder_, x, numbers_.fine);
    const Operand open = wide(builder_, Add, wide_x, wide_constant(builder_, numbers_.three));
    const Operand above = wide(builder_, Maximum, open, wide_constant(builder_, 0));
    const Operand gate = wide(builder_, Minimum, above, wide_constant(builder_, numbers_.six));
    const Operand product = builder_.inner("gated", DataType::Int32, x.extent);
    shifted(Mul, wide_x, gate, product, numbers_.lost);
    Operand result = tables_.empty() ? out : word("nearly", x);
    shifted(Mul, product, wide_constant(builder_, numbers_.factor.value), result,
            31 - numbers_.factor.exponent);
    if (tables_.empty()) return;
    const Operand last_bits = wide(builder_, ShiftLeft, wide_x,
                                   wide_constant(builder_, 32 - kColumnBits - numbers_.fine));
    for (size_t i = 0; i < tables_.size(); ++i) {
      const Operand to = i + 1 == tables_.size() ? out : word("mended", x);
      add(result, distance_looked_up(x, row_looked_up(last_bits, x, tables_[i])), to);
      result = to;
    }
  }

 private:
  Operand word(const char* name, const Operand& like) {
    return builder_.inner(name, DataType::Int16, like.extent);
  }

  void shifted(OperationKind kind, const Operand& a, const Operand& b, const Operand& to, int shift,
               int32_t table = -1) {
    Operation op = wide_operation(builder_, kind, a, b, to, shift);
    op.rounding = Rounding::Natural;
    if (table >= 0) {
      op.activation = Activation::Lut;
      op.lut = table;
    }
    builder_.emit(std::move(op));
  }

  // 128 times the row that has a value with these last bits.
  Operand row_looked_up(const Operand& last_bits, const Operand& x, int32_t table) {
    const Operand rows = word("rows", x);
    shifted(Mul, last_bits, wide_constant(builder_, 1), rows, 16, table);
    return rows;
  }

  // (x - 4 * 128 * row) / 4, of which 128 are one entry of the table.
  Operand distance_looked_up(const Operand& x, const Operand& rows) {
    const Operand added = word("added", x);
    Operation op = builder_.start(Sub, x, added);
    op.ifm2 = rows;
    op.ifm2_type = DataType::Int16;
    op.ifm_scale = ChannelScale{.multiplier = 1};
    op.ifm2_scale = ChannelScale{.multiplier = 4};
    op.global_scale = ChannelScale{.multiplier = 1, .shift = 2};
    op.rounding = Rounding::Natural;
    op.activation = Activation::Lut;
    op.lut = added_;
    builder_.emit(std::move(op));
    return added;
  }

  void add(const Operand& a, const Operand& b, const Operand& to) {
    Operation op = builder_.start(Add, a, to);
    op.ifm2 = b;
    op.ifm2_type = DataType::Int16;
    op.global_scale = op.ifm_scale = op.ifm2_scale = ChannelScale{.multiplier = 1};
    builder_.emit(std::move(op));
  }

  Builder& builder_;
  const RealNumbers& numbers_;
  std::vector<int32_t> tables_;
  int32_t added_ = -1;
};

}  // namespace

Reason refuses_hard_swish(const Site& site) {
  if (site.in().type == DataType::Int8 || site.in().type != site.out().type)
    return refuses_table(site);
  if (!*mending_of(site))
    return fmt::format("with scales of {} and {} floats round too many of the results otherwise",
                       scale_of(site.in()), scale_of(site.out()));
  return std::nullopt;
}

void legalise_hard_swish(Builder& builder, const graph::Node& node) {
  const Site site{builder.module(), builder.function(), node};
  if (site.in().type == DataType::Int8) return legalise_table(builder, node);
  const std::shared_ptr<const std::optional<Mending>> mending = mending_of(site);
  HardSwishWords words(builder, node, mending->value());
  const Operand in = builder.read(node.inputs.at(0)), out = builder.write(node.outputs.at(0));
  in_bands(builder, {in, in, out}, [&](const Operands& band) { words.emit(band.a, band.out); });
}

}  // namespace intarsia::targets::ethos_u
