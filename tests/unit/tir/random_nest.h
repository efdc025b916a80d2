// Random loop nests that read and write buffers at random indices, some of them out of bounds.
#pragma once

#include <random>
#include <vector>

#include "intarsia/plugin/tir_build.h"

namespace intarsia::tir {

inline Expr imm(int64_t value) {
  return int_imm(value);
}

inline Stmt touch(FuncBuilder& f, BufferId buffer, std::vector<Expr> indices) {
  return f.store(buffer, std::move(indices), int_imm(1, DataType::Int8));
}

class NestGenerator {
 public:
  explicit NestGenerator(uint32_t seed) : f_("nest"), random_(seed) {}

  Module make() {
    Module module;
    tir::Constant table{"table", DataType::Int8, {5}, {}};
    std::vector<uint8_t> entries(5);
    for (uint8_t& entry : entries) entry = static_cast<uint8_t>(pick(9) - 2);
    table.bytes = std::move(entries);
    module.constants.push_back(table);
    data_ = f_.parameter("data", DataType::Int8, {3}, Access::Read);
    const bool flat = pick(2);
    const Shape extents = flat ? Shape{2 + pick(30)} : Shape{1 + pick(9), 1 + pick(9)};
    out_ = f_.parameter("out", DataType::Int8, extents, Access::Write);
    table_ = f_.constant("lookup", DataType::Int8, {5}, ConstantId{0});
    extents_ = extents;
    module.funcs.push_back(f_.finish(nest(1 + pick(3))));
    return module;
  }

 private:
  int pick(int n) { return static_cast<int>(random_() % static_cast<uint32_t>(n)); }

  Stmt nest(int depth) {
    if (depth == 0) return access();
    const auto inner = [&](Expr value) {
      values_.push_back(value);
      Stmt body = nest(depth - 1);
      values_.pop_back();
      return body;
    };
    const Stmt made = f_.loop("i", bound(true), bound(false), [&](Expr i) {
      values_.push_back(i);
      Stmt body;
      switch (pick(4)) {
        case 0:
          body = f_.let("v", value(2), inner);
          break;
        case 1:
          body = if_then(condition(), nest(depth - 1), pick(3) ? nullptr : access());
          break;
        default:
          body = nest(depth - 1);
      }
      values_.pop_back();
      return body;
    });
    return made;
  }

  Expr affine() {
    Expr sum = imm(pick(7) - 2);
    for (const Expr& v : values_)
      if (pick(2)) sum = sum + v * (pick(5) - 2);
    return sum;
  }

  Expr bound(bool low) {
    if (values_.empty() || pick(2)) return imm(low ? pick(3) - 1 : 1 + pick(6));
    const Expr limit = imm(low ? 0 : 2 + pick(5));
    if (pick(5) == 0) return affine();
    return low ? max(limit, affine()) : min(limit, affine());
  }

  Expr value(int depth) {
    if (depth == 0) return values_.empty() || pick(6) == 0 ? imm(pick(6)) : any_value();
    const Expr a = value(depth - 1);
    switch (pick(12)) {
      case 0:
        return binary(BinaryOp::Div, a, imm(1 + pick(5)));
      case 1:
        return binary(BinaryOp::Mod, a, imm(1 + pick(5)));
      case 2:
        return binary(BinaryOp::Shr, a, imm(pick(3)));
      case 3:
        return binary(BinaryOp::And, a, imm(pick(8)));
      case 4:
        return min(a, value(depth - 1));
      case 5:
        return max(a, value(depth - 1));
      case 6:
        return select(condition(), a, value(depth - 1));
      case 7:
        return cast(DataType::Int32, f_.load(table_, {clamped(a, 5)}));
      case 8:
        return cast(DataType::Int32, f_.load(data_, {clamped(a, 3)}));
      case 9:
        return a * value(depth - 1);
      case 10:
        return cast(DataType::Int32, cast(DataType::UInt8, a));
      default:
        return pick(2) ? a + value(depth - 1) : a - value(depth - 1);
    }
  }

  Expr any_value() { return values_[static_cast<size_t>(pick(static_cast<int>(values_.size())))]; }
  Expr clamped(Expr e, int64_t extent) {
    return pick(4) ? max(imm(0), min(e, imm(extent - 1))) : e;
  }

  Expr condition() {
    constexpr BinaryOp kCompare[] = {BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt,
                                     BinaryOp::Ge, BinaryOp::Eq, BinaryOp::Ne};
    const Expr compare =
        binary(kCompare[pick(6)], pick(2) ? affine() : value(1), pick(2) ? imm(pick(9)) : value(1));
    if (pick(3)) return compare;
    if (pick(3) == 0) return unary(UnaryOp::Not, compare);
    return binary(pick(2) ? BinaryOp::And : BinaryOp::Or, compare, condition());
  }

  Stmt access() {
    std::vector<Expr> indices;
    for (const int64_t extent : extents_)
      indices.push_back(pick(4) == 0 ? clamped(value(2), extent) : pick(2) ? affine() : value(2));
    if (pick(5) == 0)
      return intrinsic("fill", {BufferRun{out_, indices, 1 + pick(4), Access::Write}});
    return touch(f_, out_, indices);
  }

  FuncBuilder f_;
  std::mt19937 random_;
  BufferId data_, out_, table_;
  Shape extents_;
  std::vector<Expr> values_;
};

}  // namespace intarsia::tir
