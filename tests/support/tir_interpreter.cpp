#include "support/tir_interpreter.h"

#include <cmath>
#include <cstring>

#include "intarsia/plugin/overloaded.h"

namespace intarsia::testing {

namespace {

int64_t low_bits(DataType type, int64_t value) {
  switch (type) {
    case DataType::Bool:
      return value & 1;
    case DataType::Int4:
      return ((value & 15) ^ 8) - 8;
    case DataType::Int8:
      return static_cast<int8_t>(value);
    case DataType::UInt8:
      return static_cast<uint8_t>(value);
    case DataType::Int16:
      return static_cast<int16_t>(value);
    case DataType::UInt16:
      return static_cast<uint16_t>(value);
    case DataType::Int32:
      return static_cast<int32_t>(value);
    case DataType::UInt32:
      return static_cast<uint32_t>(value);
    default:
      return value;
  }
}

int64_t flat(const std::vector<int64_t>& at, const Shape& extents) {
  int64_t index = 0;
  for (size_t d = 0; d < at.size(); ++d) index = index * extents[d] + at[d];
  return index;
}

}  // namespace

Scalar load_element(std::span<const uint8_t> bytes, DataType type, int64_t index) {
  Scalar value{type};
  if (type == DataType::Int4) {
    const int byte = bytes[static_cast<size_t>(index / 2)];
    value.i = low_bits(type, index % 2 == 0 ? byte : byte >> 4);
    return value;
  }
  const size_t size = static_cast<size_t>(bits(type)) / 8;
  uint64_t raw = 0;
  for (size_t b = 0; b < size; ++b)
    raw |= uint64_t{bytes[static_cast<size_t>(index) * size + b]} << (8 * b);
  if (type == DataType::Float32) {
    const auto word = static_cast<uint32_t>(raw);
    std::memcpy(&value.f, &word, sizeof word);
  } else {
    value.i = low_bits(type, static_cast<int64_t>(raw));
  }
  return value;
}

void store_element(std::span<uint8_t> bytes, int64_t index, const Scalar& value) {
  if (value.type == DataType::Int4) {
    uint8_t& byte = bytes[static_cast<size_t>(index / 2)];
    const int shift = index % 2 == 0 ? 0 : 4;
    byte = static_cast<uint8_t>((byte & ~(15 << shift)) | ((value.i & 15) << shift));
    return;
  }
  uint64_t raw = static_cast<uint64_t>(value.i);
  if (value.type == DataType::Float32) {
    uint32_t word = 0;
    std::memcpy(&word, &value.f, sizeof word);
    raw = word;
  }
  const size_t size = static_cast<size_t>(bits(value.type)) / 8;
  for (size_t b = 0; b < size; ++b)
    bytes[static_cast<size_t>(index) * size + b] = static_cast<uint8_t>(raw >> (8 * b));
}

void TirInterpreter::define(const std::string& name, ScalarFunction function) {
  scalars_[name] = std::move(function);
}

void TirInterpreter::define_intrinsic(const std::string& name, IntrinsicFunction function) {
  intrinsics_[name] = std::move(function);
}

Scalar TirInterpreter::fail(std::string what) {
  if (failure_.empty()) failure_ = std::move(what);
  return {};
}

Result<void> TirInterpreter::run(const std::string& func,
                                 const std::vector<std::span<uint8_t>>& arguments) {
  failure_.clear();
  const tir::Func* found = module_.find(func);
  if (found == nullptr) return Diagnostics("interpreter", "no function '" + func + "'");
  call(*found, arguments);
  if (failed()) return Diagnostics("function '" + func + "'", failure_);
  return {};
}

void TirInterpreter::call(const tir::Func& func, const std::vector<std::span<uint8_t>>& arguments) {
  if (arguments.size() != func.parameters.size()) {
    fail("wrong number of arguments for " + func.name);
    return;
  }
  Frame frame{func, {}, std::vector<Scalar>(func.vars.size()), {}};
  frame.owned.resize(func.buffers.size());
  for (size_t i = 0; i < func.buffers.size(); ++i) {
    const tir::Buffer& buffer = func.buffers[i];
    if (i < arguments.size()) {
      if (static_cast<int64_t>(arguments[i].size()) != buffer.bytes())
        fail("wrong size of argument " + buffer.name);
      frame.buffers.push_back(arguments[i]);
    } else {
      if (buffer.scope == tir::Scope::Constant) {
        frame.owned[i] = module_.constant(buffer.constant).bytes;
      } else {
        frame.owned[i].assign(static_cast<size_t>(buffer.bytes()), 0xAB);
        if (buffer.initial_values.valid())
          frame.owned[i] = module_.constant(buffer.initial_values).bytes;
        else if (buffer.initial)
          for (int64_t at = 0; at < element_count(buffer.extents); ++at)
            store_element(frame.owned[i], at,
                          {buffer.type, *buffer.initial, static_cast<float>(*buffer.initial)});
      }
      frame.buffers.emplace_back(frame.owned[i]);
    }
  }
  for (size_t i = arguments.size(); i < func.buffers.size(); ++i) {
    const tir::AliasRoot root = tir::alias_root(func, {static_cast<int32_t>(i)});
    frame.buffers[i] = frame.buffers[root.buffer.at()].subspan(
        static_cast<size_t>(root.offset), static_cast<size_t>(func.buffers[i].bytes()));
  }
  if (!failed()) exec(frame, func.body);
}

int64_t TirInterpreter::locate(Frame& frame, tir::BufferId id,
                               const std::vector<tir::Expr>& indices) {
  const tir::Buffer& buffer = frame.func.buffer(id);
  std::vector<int64_t> at;
  for (size_t d = 0; d < indices.size(); ++d) {
    at.push_back(eval(frame, indices[d]).i);
    if (!failed() && (at[d] < 0 || at[d] >= buffer.extents[d]))
      fail("index " + std::to_string(at[d]) + " of dimension " + std::to_string(d) + " of '" +
           buffer.name + "' is outside 0.." + std::to_string(buffer.extents[d]));
  }
  return failed() ? -1 : flat(at, buffer.extents);
}

void TirInterpreter::exec(Frame& frame, const tir::Stmt& stmt) {
  if (failed()) return;
  std::visit(
      overloaded{[&](const tir::Seq& n) {
                   for (const tir::Stmt& inner : n.statements) exec(frame, inner);
                 },
                 [&](const tir::For& n) {
                   const int64_t lo = eval(frame, n.lo).i, hi = eval(frame, n.hi).i;
                   for (int64_t i = lo; i < hi && !failed(); ++i) {
                     frame.vars[n.var.at()] = {DataType::Int32, i};
                     exec(frame, n.body);
                   }
                 },
                 [&](const tir::If& n) {
                   if (eval(frame, n.condition).i != 0) {
                     exec(frame, n.then_body);
                   } else if (n.else_body != nullptr) {
                     exec(frame, n.else_body);
                   }
                 },
                 [&](const tir::Let& n) {
                   frame.vars[n.var.at()] = eval(frame, n.value);
                   exec(frame, n.body);
                 },
                 [&](const tir::Store& n) {
                   const int64_t at = locate(frame, n.buffer, n.indices);
                   const Scalar value = eval(frame, n.value);
                   if (!failed()) store_element(frame.buffers[n.buffer.at()], at, value);
                 },
                 [&](const tir::Call& n) {
                   const tir::Func* callee = module_.find(n.function);
                   if (callee == nullptr) {
                     fail("no function '" + n.function + "'");
                     return;
                   }
                   std::vector<std::span<uint8_t>> arguments;
                   for (size_t i = 0; i < n.arguments.size() && i < callee->buffers.size(); ++i) {
                     const tir::Buffer& buffer = frame.func.buffer(n.arguments[i]);
                     std::span<uint8_t> bytes = frame.buffers[n.arguments[i].at()];
                     if (frame.func.tiled) {
                       const int64_t element = n.offsets.empty() ? 0 : eval(frame, n.offsets[i]).i;
                       const int64_t first = element * bits(buffer.type) / 8;
                       const int64_t count = callee->buffers[i].bytes();
                       if (first < 0 || first + count > std::ssize(bytes)) {
                         fail("an argument of '" + n.function + "' leaves '" + buffer.name + "'");
                         return;
                       }
                       bytes =
                           bytes.subspan(static_cast<size_t>(first), static_cast<size_t>(count));
                     }
                     arguments.push_back(bytes);
                   }
                   call(*callee, arguments);
                 },
                 [&](const tir::Intrinsic& n) { exec_intrinsic(frame, n); }},
      stmt->node);
}

void TirInterpreter::exec_intrinsic(Frame& frame, const tir::Intrinsic& node) {
  std::vector<Operand> operands;
  for (const auto& operand : node.operands) {
    if (const auto* expr = std::get_if<tir::Expr>(&operand)) {
      operands.push_back({{}, eval(frame, *expr)});
      continue;
    }
    const auto& run = std::get<tir::BufferRun>(operand);
    const tir::Buffer& buffer = frame.func.buffer(run.buffer);
    const int64_t first = locate(frame, run.buffer, run.start);
    if (failed()) return;
    if (first + run.count > element_count(buffer.extents)) {
      fail("run of " + std::to_string(run.count) + " leaves '" + buffer.name + "'");
      return;
    }
    const int64_t width = bits(buffer.type);
    operands.push_back(
        {frame.buffers[run.buffer.at()].subspan(static_cast<size_t>(first * width / 8),
                                                static_cast<size_t>((run.count * width + 7) / 8)),
         {}});
  }
  const auto found = intrinsics_.find(node.name);
  if (failed()) return;
  if (found == intrinsics_.end()) {
    fail("intrinsic '" + node.name + "' is not defined here");
  } else {
    found->second(operands);
  }
}

Scalar TirInterpreter::convert(Scalar value, DataType type) {
  if (value.type == DataType::Float32 && type != DataType::Float32) {
    const double whole = std::trunc(static_cast<double>(value.f));
    const bool fits = std::abs(whole) < 9.2e18 &&
                      low_bits(type, static_cast<int64_t>(whole)) == static_cast<int64_t>(whole);
    if (!fits) return fail("conversion of a float out of range");
    return {type, static_cast<int64_t>(whole)};
  }
  if (type == DataType::Float32)
    return {type, 0, value.type == type ? value.f : static_cast<float>(value.i)};
  return {type, low_bits(type, value.i)};
}

Scalar TirInterpreter::eval(Frame& frame, const tir::Expr& expr) {
  if (failed()) return {};
  const DataType type = expr->type;
  return std::visit(
      overloaded{[&](const tir::IntImm& n) {
                   return Scalar{type, n.value};
                 },
                 [&](const tir::FloatImm& n) {
                   return Scalar{type, 0, n.value};
                 },
                 [&](const tir::VarRef& n) { return frame.vars[n.var.at()]; },
                 [&](const tir::Load& n) {
                   const int64_t at = locate(frame, n.buffer, n.indices);
                   return failed() ? Scalar{}
                                   : load_element(frame.buffers[n.buffer.at()], type, at);
                 },
                 [&](const tir::Unary& n) {
                   const Scalar x = eval(frame, n.operand);
                   if (n.op == tir::UnaryOp::Not) return Scalar{type, x.i == 0};
                   if (type == DataType::Float32) return Scalar{type, 0, -x.f};
                   const bool wide = type == DataType::Int32 || type == DataType::Int64;
                   if (wide && x.i == (type == DataType::Int32 ? INT32_MIN : INT64_MIN))
                     return fail("overflow of a negation");
                   return Scalar{type, low_bits(type, -x.i)};
                 },
                 [&](const tir::Binary& n) { return eval_binary(frame, n, type); },
                 [&](const tir::Cast& n) { return convert(eval(frame, n.operand), type); },
                 [&](const tir::Select& n) {
                   return eval(frame, eval(frame, n.condition).i != 0 ? n.if_true : n.if_false);
                 },
                 [&](const tir::ExprCall& n) {
                   std::vector<Scalar> arguments;
                   for (const tir::Expr& argument : n.arguments)
                     arguments.push_back(eval(frame, argument));
                   const auto found = scalars_.find(n.function);
                   if (found == scalars_.end())
                     return fail("function '" + n.function + "' is not defined here");
                   return failed() ? Scalar{} : found->second(arguments);
                 }},
      expr->node);
}

Scalar TirInterpreter::eval_binary(Frame& frame, const tir::Binary& node, DataType type) {
  using tir::BinaryOp;
  const Scalar a = eval(frame, node.lhs);
  if (a.type == DataType::Bool) {  // evaluated like C's && and ||
    if (node.op == BinaryOp::And && a.i == 0) return {type, 0};
    if (node.op == BinaryOp::Or && a.i != 0) return {type, 1};
  }
  const Scalar b = eval(frame, node.rhs);
  if (failed()) return {};
  const DataType operands = node.lhs->type;
  const bool is_float = operands == DataType::Float32;
  const auto compared = [&](auto compare) {
    return Scalar{type, is_float ? compare(a.f, b.f) : compare(a.i, b.i)};
  };
  const auto computed = [&](auto overflowing, float in_float) {
    if (is_float) return Scalar{type, 0, in_float};
    int64_t exact = 0;
    const bool overflow = overflowing(a.i, b.i, &exact);
    const bool may_wrap = operands != DataType::Int32 && operands != DataType::Int64;
    if (!may_wrap && (overflow || low_bits(type, exact) != exact)) return fail("overflow");
    return Scalar{type, low_bits(type, exact)};
  };
  switch (node.op) {
    case BinaryOp::Add:
      return computed([](auto x, auto y, auto* z) { return __builtin_add_overflow(x, y, z); },
                      a.f + b.f);
    case BinaryOp::Sub:
      return computed([](auto x, auto y, auto* z) { return __builtin_sub_overflow(x, y, z); },
                      a.f - b.f);
    case BinaryOp::Mul:
      return computed([](auto x, auto y, auto* z) { return __builtin_mul_overflow(x, y, z); },
                      a.f * b.f);
    case BinaryOp::Div:
      if (is_float) return {type, 0, a.f / b.f};
      return b.i > 0 ? Scalar{type, a.i / b.i} : fail("division by what is not positive");
    case BinaryOp::Mod:
      return b.i > 0 ? Scalar{type, a.i % b.i} : fail("division by what is not positive");
    case BinaryOp::Min:
      return is_float ? (a.f < b.f ? a : b) : (a.i < b.i ? a : b);
    case BinaryOp::Max:
      return is_float ? (a.f > b.f ? a : b) : (a.i > b.i ? a : b);
    case BinaryOp::And:
      return {type, a.i & b.i};
    case BinaryOp::Or:
      return {type, a.i | b.i};
    case BinaryOp::Xor:
      return {type, a.i ^ b.i};
    case BinaryOp::Shl:
    case BinaryOp::Shr: {
      if (b.i < 0 || b.i >= bits(operands)) return fail("shift out of range");
      if (node.op == BinaryOp::Shr) return {type, a.i >> b.i};
      const int64_t shifted = static_cast<int64_t>(static_cast<uint64_t>(a.i) << b.i);
      const int64_t low = low_bits(type, shifted);
      const bool wide = operands == DataType::Int32 || operands == DataType::Int64;
      if (wide && (low != shifted || low >> b.i != a.i)) return fail("overflow of a shift");
      return {type, low};
    }
    case BinaryOp::Lt:
      return compared([](auto x, auto y) { return x < y; });
    case BinaryOp::Le:
      return compared([](auto x, auto y) { return x <= y; });
    case BinaryOp::Gt:
      return compared([](auto x, auto y) { return x > y; });
    case BinaryOp::Ge:
      return compared([](auto x, auto y) { return x >= y; });
    case BinaryOp::Eq:
      return compared([](auto x, auto y) { return x == y; });
    case BinaryOp::Ne:
      return compared([](auto x, auto y) { return x != y; });
  }
  return fail("unknown operation");
}

}  // namespace intarsia::testing
