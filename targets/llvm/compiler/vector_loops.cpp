// Loops over sums side by side, written as loops over vectors: LLVM makes vectors of a loop's iterations, which it has to put
// together from elements that lie apart here.
#include <bit>
#include <numeric>

#include <fmt/format.h>

#include "function_ir.h"
#include "intarsia/plugin/overloaded.h"
#include "intarsia/plugin/tir_build.h"
#include "intarsia/plugin/tir_walk.h"

namespace intarsia::targets::llvm {
namespace {

// Elements that one load takes where several iterations are one vector.
constexpr int kElementsAtOnce = 16;

bool is_vector_type(DataType type) {
  return type == DataType::Int32 || type == DataType::Int64 || type == DataType::Float32;
}

std::string mask_text(const std::vector<int>& mask) {
  std::string text;
  for (const int lane : mask) text += fmt::format("{}i32 {}", text.empty() ? "" : ", ", lane);
  return vector_type(mask.size(), "i32") + " <" + text + ">";
}

}  // namespace

void FunctionIr::find_vector_sums(const tir::Stmt& body) {
  if (shared_.dialect.vector_bits == 0) return;
  std::map<int32_t, std::vector<tir::BufferId>> groups;
  tir::walk(
      body,
      [&](const tir::StmtNode& stmt) {
        const auto* loop = std::get_if<tir::For>(&stmt.node);
        if (loop == nullptr) return;
        std::optional<VectorSums> found = vector_sums(func_, *loop);
        if (!found || !is_vector_type(found->term->type) ||
            !std::has_single_bit(found->sums.size()))
          return;
        for (const tir::BufferId sum : found->sums) {
          const auto known = groups.find(sum.index);
          if (known != groups.end() && known->second != found->sums) return;
        }
        for (const tir::BufferId sum : found->sums) groups[sum.index] = found->sums;
        vector_sums_[loop] = *std::move(found);
      },
      [](const tir::ExprNode&) {});
}

void FunctionIr::place_vector_sums() {
  for (const auto& [loop, found] : vector_sums_) {
    if (!bytes_[found.sums.front().at()].empty()) continue;
    const std::string type = memory_type(found.term->type);
    const std::string pointer = pointer_type(shared_.dialect, type);
    const std::string all = vector_type(found.sums.size(), type);
    const std::string place = out_.define(fmt::format("alloca {}", all));
    const std::string first =
        shared_.dialect.typed_pointers
            ? out_.define(fmt::format("bitcast {}* {} to {}*", all, place, type))
            : place;
    for (size_t k = 0; k < found.sums.size(); ++k) {
      const size_t buffer = found.sums[k].at();
      elements_[buffer] = out_.define(
          fmt::format("getelementptr inbounds {}, {} {}, i32 {}", type, pointer, first, k));
      bytes_[buffer] =
          shared_.dialect.typed_pointers
              ? out_.define(fmt::format("bitcast {}* {} to i8*", type, elements_[buffer]))
              : elements_[buffer];
    }
    vectors_[found.sums.front().at()] = place;
  }
}

// ---- vectors of values --------------------------------------------------------------------------------

std::string FunctionIr::shuffled(const std::string& vector, const std::string& type,
                                 const std::vector<int>& mask) {
  return out_.define(
      fmt::format("shufflevector {0} {1}, {0} poison, {2}", type, vector, mask_text(mask)));
}

std::string FunctionIr::vector_value(const Lanes& lanes, const LaneOrder& order, DataType as) {
  const std::string type = vector_type(order.lanes(), value_type(as));
  return std::visit(
      overloaded{[&](const SameLanes& same) {
                   const std::string scalar = converted(value(same.value), same.value->type, as);
                   const std::string first = out_.define(fmt::format(
                       "insertelement {} poison, {} {}, i32 0", type, value_type(as), scalar));
                   return shuffled(first, type, std::vector<int>(order.lanes(), 0));
                 },
                 [&](const ElementLanes& run) {
                   return converted_lanes(elements(run, lanes->type, order), lanes->type, as,
                                          order.lanes());
                 },
                 [&](const CastLanes& cast) {
                   // Through a narrower type: what is asked for are the low bits.
                   const DataType from = cast.operand->type;
                   if (bits(as) < bits(lanes->type) && bits(from) > bits(as))
                     return vector_value(cast.operand, order, as);
                   return converted_lanes(vector_value(cast.operand, order, from), from, as,
                                          order.lanes());
                 },
                 [&](const BinaryLanes& binary) {
                   const std::string lhs = vector_value(binary.lhs, order, as);
                   const std::string rhs = vector_value(binary.rhs, order, as);
                   return out_.define(
                       fmt::format("{} {} {}, {}", instruction_of(binary.op, as), type, lhs, rhs));
                 }},
      lanes->node);
}

std::string FunctionIr::converted_lanes(const std::string& vector, DataType from, DataType to,
                                        size_t lanes) {
  const std::string source = vector_type(lanes, value_type(from)),
                    result = vector_type(lanes, value_type(to));
  if (source == result) return vector;
  const char* how = to == DataType::Float32 ? is_signed(from) ? "sitofp" : "uitofp"
                    : bits(to) < bits(from) ? "trunc"
                    : is_signed(from)       ? "sext"
                                            : "zext";
  return out_.define(fmt::format("{} {} {} to {}", how, source, vector, result));
}

// One load, whose elements are put in order.
std::string FunctionIr::elements(const ElementLanes& run, DataType type, const LaneOrder& order) {
  const std::string element = memory_type(type);
  const size_t count = static_cast<size_t>(order.iterations) * (run.by_iteration ? 1 : order.sums);
  const std::string all = vector_type(count, element);
  const std::string first = offset_address(run.buffer, run.first);
  const std::string address =
      shared_.dialect.typed_pointers
          ? out_.define(fmt::format("bitcast {}* {} to {}*", element, first, all))
          : first;
  const std::string loaded =
      out_.define(fmt::format("load {}, {} {}, align {}", all, pointer_type(shared_.dialect, all),
                              address, element_bytes(type)));
  std::vector<int> mask, as_loaded(count);
  for (size_t lane = 0; lane < order.lanes(); ++lane) mask.push_back(order.element(lane, run));
  std::iota(as_loaded.begin(), as_loaded.end(), 0);
  return mask == as_loaded ? loaded : shuffled(loaded, all, mask);
}

// ---- loops ---------------------------------------------------------------------------------------

// Products of 16-bit numbers whose neighbours are added at once, which is one instruction; else the terms.
std::string FunctionIr::terms_value(const VectorSums& found, const LaneOrder& order) {
  if (!order.pairs) return vector_value(found.terms, order, found.terms->type);
  const auto& product = std::get<BinaryLanes>(found.terms->node);
  const std::string lhs = vector_value(product.lhs, order, DataType::Int16);
  const std::string rhs = vector_value(product.rhs, order, DataType::Int16);
  const size_t lanes = order.lanes();
  const std::string name = pair_products(lanes);
  const std::string operand = vector_type(lanes, "i16"), result = vector_type(lanes / 2, "i32");
  shared_.helpers[name] = fmt::format("{} @{}({}, {})", result, name, operand, operand);
  return out_.define(
      fmt::format("call {} @{}({} {}, {} {})", result, name, operand, lhs, operand, rhs));
}

// A loop over `step` iterations at a time that adds what `body` makes of them to a vector, as long as there are so many.
// Returns the vector behind it; `variable` is first the first iteration, then the first that is left.
std::string FunctionIr::summing_loop(const tir::For& node, int step, const std::string& type,
                                     const std::string& start, std::string& variable,
                                     const std::function<std::string()>& term,
                                     const std::string& add) {
  const std::string index = value_type(func_.var(node.var).type);
  const tir::Expr last = step == 1 ? node.hi : node.hi - (step - 1);
  const std::string end_value = value(last);
  const std::string body = out_.fresh_label(), next = out_.fresh_label(), end = out_.fresh_label();
  const std::string runs =
      out_.define(fmt::format("icmp slt {} {}, {}", index, variable, end_value));
  out_.line(fmt::format("br i1 {}, label %{}, label %{}", runs, body, end));
  const std::string before = out_.block();
  out_.begin_block(body);
  const std::string at = out_.define(
      fmt::format("phi {0} [ {1}, %{2} ], [ %{3}.i, %{3} ]", index, variable, before, next));
  const std::string sum = out_.define(
      fmt::format("phi {0} [ {1}, %{2} ], [ %{3}.sum, %{3} ]", type, start, before, next));
  vars_[node.var.at()] = at;
  const std::string added = term();
  out_.line("br label %" + next);
  out_.begin_block(next);
  out_.line(fmt::format("%{}.sum = {} {} {}, {}", next, add, type, sum, added));
  out_.line(fmt::format("%{}.i = add nsw {} {}, {}", next, index, at, step));
  const std::string again =
      out_.define(fmt::format("icmp slt {} %{}.i, {}", index, next, end_value));
  out_.line(fmt::format("br i1 {}, label %{}, label %{}", again, body, end));
  out_.begin_block(end);
  const std::string left = out_.define(
      fmt::format("phi {0} [ {1}, %{2} ], [ %{3}.i, %{3} ]", index, variable, before, next));
  variable = left;
  return out_.define(
      fmt::format("phi {0} [ {1}, %{2} ], [ %{3}.sum, %{3} ]", type, start, before, next));
}

LaneOrder FunctionIr::order_of(const VectorSums& found, const tir::For& node) const {
  LaneOrder order{1, static_cast<int>(found.sums.size()), false};
  if (found.terms == nullptr) return order;
  const auto* product = std::get_if<BinaryLanes>(&found.terms->node);
  order.pairs = shared_.dialect.pair_bits != 0 && found.terms->type == DataType::Int32 &&
                product != nullptr && product->op == tir::BinaryOp::Mul &&
                fits_16_bits(product->lhs) && fits_16_bits(product->rhs);
  if (!order.pairs && !shared_.dialect.permutes) return order;
  order.iterations = (order.pairs ? shared_.dialect.pair_bits / 16 : kElementsAtOnce) / order.sums;
  const auto* lo = std::get_if<tir::IntImm>(&node.lo->node);
  const auto* hi = std::get_if<tir::IntImm>(&node.hi->node);
  const int fewest = order.pairs ? 128 / 16 / order.sums : 2;
  while (lo != nullptr && hi != nullptr && order.iterations > hi->value - lo->value &&
         order.iterations > fewest)
    order.iterations /= 2;
  if (order.iterations < 2 || order.iterations < fewest) return {1, order.sums, false};
  return order;
}

bool FunctionIr::emit_vector_sums(const tir::For& node) {
  const auto known = vector_sums_.find(&node);
  if (known == vector_sums_.end()) return false;
  const VectorSums& found = known->second;
  const DataType type = found.term->type;
  const std::string element = value_type(type);
  const std::string add = is_integer(type) ? "add" : "fadd";
  const LaneOrder one{1, static_cast<int>(found.sums.size()), false},
      several = order_of(found, node);
  const std::string all = vector_type(found.sums.size(), element);
  const std::string place = vectors_.at(found.sums.front().at());
  const std::string pointer = pointer_type(shared_.dialect, all);
  std::string sum = out_.define(fmt::format("load {}, {} {}", all, pointer, place));
  std::string variable = value(node.lo);
  if (several.iterations > 1) {
    size_t lanes = several.pairs ? several.lanes() / 2 : several.lanes();
    std::string wide = vector_type(lanes, element);
    std::string total = summing_loop(
        node, several.iterations, wide, "zeroinitializer", variable,
        [&] { return terms_value(found, several); }, add);
    for (; lanes > found.sums.size(); lanes /= 2) {
      std::vector<int> low(lanes / 2), high(lanes / 2);
      std::iota(low.begin(), low.end(), 0);
      std::iota(high.begin(), high.end(), static_cast<int>(lanes / 2));
      const std::string type_now = vector_type(lanes, element);
      const std::string a = shuffled(total, type_now, low), b = shuffled(total, type_now, high);
      total = out_.define(fmt::format("add {} {}, {}", vector_type(lanes / 2, element), a, b));
    }
    sum = out_.define(fmt::format("add {} {}, {}", all, sum, total));
  }
  sum = summing_loop(
      node, 1, all, sum, variable, [&] { return vector_value(found.term, one, type); }, add);
  out_.line(fmt::format("store {} {}, {} {}", all, sum, pointer, place));
  return true;
}

}  // namespace intarsia::targets::llvm
