#include <cmath>
#include <cstring>

#include "engine/execute.h"
#include "intarsia/plugin/check.h"

namespace intarsia::engine {
namespace {

using tir::BinaryOp;

template <typename T>
T* values(Lanes& lanes) {
  if constexpr (std::is_same_v<T, float>)
    return lanes.f32;
  else if constexpr (std::is_same_v<T, int64_t>)
    return lanes.i64;
  else
    return lanes.i32;
}
template <typename T>
const T* values(const Lanes& lanes) {
  return values<T>(const_cast<Lanes&>(lanes));
}

// Calls f with a number of the C++ type that lanes hold the type in.
template <typename F>
void with_held(DataType type, F&& f) {
  switch (held(type)) {
    case Held::Int32:
      return f(int32_t{});
    case Held::Int64:
      return f(int64_t{});
    case Held::Float:
      return f(float{});
  }
}

void fill(DataType type, Value value, int count, Lanes& results) {
  with_held(type, [&](auto kind) {
    using T = decltype(kind);
    T* out = values<T>(results);
    for (int i = 0; i < count; ++i) out[i] = host_kernels::number<T>(value);
  });
}

void count_up(DataType type, int64_t first, int64_t step, int count, Lanes& results) {
  if (held(type) == Held::Int64) {
    for (int i = 0; i < count; ++i) results.i64[i] = first + step * i;
  } else {
    for (int i = 0; i < count; ++i) results.i32[i] = static_cast<int32_t>(first + step * i);
  }
}

void narrow(DataType type, int count, Lanes& lanes) {
  if (type == DataType::Int32 || type == DataType::Int64 || type == DataType::Float32) return;
  with_held(type, [&](auto kind) {
    using T = decltype(kind);
    T* out = values<T>(lanes);
    for (int i = 0; i < count; ++i)
      if constexpr (!std::is_same_v<T, float>) out[i] = static_cast<T>(narrowed(type, out[i]));
  });
}

// An operand without a chunk of its own where one number will do.
class Operand {
 public:
  Operand(const ExprCode& expr, Frame& frame, int count) {
    if (expr.course.is_same()) {
      operand_.same = evaluate(expr, frame);
    } else {
      evaluate_lanes(expr, frame, count, lanes_);
      operand_.lanes = &lanes_;
    }
  }
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  const LaneOperand& get() const { return operand_; }

 private:
  Lanes lanes_;
  LaneOperand operand_;
};

template <typename In, typename Out, typename F>
void map2(const LaneOperand& a, const LaneOperand& b, int count, Out* out, F&& f) {
  if (a.lanes != nullptr && b.lanes != nullptr) {
    const In *x = values<In>(*a.lanes), *y = values<In>(*b.lanes);
    for (int i = 0; i < count; ++i) out[i] = f(x[i], y[i]);
  } else if (a.lanes != nullptr) {
    const In* x = values<In>(*a.lanes);
    const In y = host_kernels::number<In>(b.same);
    for (int i = 0; i < count; ++i) out[i] = f(x[i], y);
  } else if (b.lanes != nullptr) {
    const In x = host_kernels::number<In>(a.same);
    const In* y = values<In>(*b.lanes);
    for (int i = 0; i < count; ++i) out[i] = f(x, y[i]);
  } else {
    const Out result = f(host_kernels::number<In>(a.same), host_kernels::number<In>(b.same));
    for (int i = 0; i < count; ++i) out[i] = result;
  }
}

// Wrapping arithmetic of integers; floats as they are.
template <typename T>
struct Arithmetic {
  using U = std::make_unsigned_t<T>;
  static T add(T a, T b) { return static_cast<T>(static_cast<U>(a) + static_cast<U>(b)); }
  static T subtract(T a, T b) { return static_cast<T>(static_cast<U>(a) - static_cast<U>(b)); }
  static T multiply(T a, T b) { return static_cast<T>(static_cast<U>(a) * static_cast<U>(b)); }
};
template <>
struct Arithmetic<float> {
  static float add(float a, float b) { return a + b; }
  static float subtract(float a, float b) { return a - b; }
  static float multiply(float a, float b) { return a * b; }
};

template <typename T>
bool compare_lanes(BinaryOp op, const LaneOperand& a, const LaneOperand& b, int count,
                   Lanes& results) {
  int32_t* out = results.i32;
  switch (op) {
    case BinaryOp::Lt:
      return map2<T>(a, b, count, out, [](T x, T y) { return x < y; }), true;
    case BinaryOp::Le:
      return map2<T>(a, b, count, out, [](T x, T y) { return x <= y; }), true;
    case BinaryOp::Gt:
      return map2<T>(a, b, count, out, [](T x, T y) { return x > y; }), true;
    case BinaryOp::Ge:
      return map2<T>(a, b, count, out, [](T x, T y) { return x >= y; }), true;
    case BinaryOp::Eq:
      return map2<T>(a, b, count, out, [](T x, T y) { return x == y; }), true;
    case BinaryOp::Ne:
      return map2<T>(a, b, count, out, [](T x, T y) { return x != y; }), true;
    default:
      return false;
  }
}

template <typename T>
void binary_lanes(BinaryOp op, const LaneOperand& a, const LaneOperand& b, int count,
                  Lanes& results) {
  if (compare_lanes<T>(op, a, b, count, results)) return;
  T* out = values<T>(results);
  using A = Arithmetic<T>;
  switch (op) {
    case BinaryOp::Add:
      return map2<T>(a, b, count, out, A::add);
    case BinaryOp::Sub:
      return map2<T>(a, b, count, out, A::subtract);
    case BinaryOp::Mul:
      return map2<T>(a, b, count, out, A::multiply);
    case BinaryOp::Min:
      return map2<T>(a, b, count, out, [](T x, T y) { return x < y ? x : y; });
    case BinaryOp::Max:
      return map2<T>(a, b, count, out, [](T x, T y) { return x > y ? x : y; });
    default:
      break;
  }
  if constexpr (std::is_same_v<T, float>) {
    INTARSIA_CHECK(op == BinaryOp::Div, "a verified operation of floats");
    return map2<T>(a, b, count, out, [](T x, T y) { return x / y; });
  } else {
    using U = std::make_unsigned_t<T>;
    constexpr T kMost = sizeof(T) * 8 - 1;
    switch (op) {
      case BinaryOp::Div:
        return map2<T>(a, b, count, out, [](T x, T y) { return y == 0 ? 0 : x / y; });
      case BinaryOp::Mod:
        return map2<T>(a, b, count, out, [](T x, T y) { return y == 0 ? 0 : x % y; });
      case BinaryOp::And:
        return map2<T>(a, b, count, out, [](T x, T y) { return x & y; });
      case BinaryOp::Or:
        return map2<T>(a, b, count, out, [](T x, T y) { return x | y; });
      case BinaryOp::Xor:
        return map2<T>(a, b, count, out, [](T x, T y) { return x ^ y; });
      case BinaryOp::Shl:
        return map2<T>(a, b, count, out,
                       [](T x, T y) { return static_cast<T>(static_cast<U>(x) << (y & kMost)); });
      case BinaryOp::Shr:
        return map2<T>(a, b, count, out, [](T x, T y) { return static_cast<T>(x >> (y & kMost)); });
      default:
        INTARSIA_CHECK(false, "all operations are listed");
    }
  }
}

void cast_lanes(DataType from, DataType to, const LaneOperand& operand, int count, Lanes& results) {
  with_held(from, [&](auto source) {
    using In = decltype(source);
    const In* in = values<In>(*operand.lanes);
    with_held(to, [&](auto target) {
      using Out = decltype(target);
      Out* out = values<Out>(results);
      if constexpr (std::is_same_v<In, float> && !std::is_same_v<Out, float>) {
        for (int i = 0; i < count; ++i)
          out[i] = static_cast<Out>(converted(from, to, of_float(in[i])).i);
      } else {
        for (int i = 0; i < count; ++i) out[i] = static_cast<Out>(in[i]);
      }
    });
  });
  if (from != DataType::Float32 && from != to) narrow(to, count, results);
}

template <typename Element, typename T>
void load_strided(const uint8_t* from, int64_t step, int count, T* out) {
  constexpr auto kBytes = static_cast<int64_t>(sizeof(Element));
  if (step == 1) {
    for (int i = 0; i < count; ++i) {
      Element element;
      std::memcpy(&element, from + i * kBytes, sizeof element);
      out[i] = static_cast<T>(element);
    }
    return;
  }
  for (int i = 0; i < count; ++i) {
    Element element;
    std::memcpy(&element, from + i * step * kBytes, sizeof element);
    out[i] = static_cast<T>(element);
  }
}

template <typename Element, typename T>
void load_gathered(const uint8_t* from, const ExprCode& index, const Lanes& at, int count, T* out) {
  const bool wide = held(index.type) == Held::Int64;
  for (int i = 0; i < count; ++i) {
    Element element;
    const int64_t element_number = wide ? at.i64[i] : at.i32[i];
    std::memcpy(&element, from + element_number * static_cast<int64_t>(sizeof(Element)),
                sizeof element);
    out[i] = static_cast<T>(element);
  }
}

template <typename Element, typename T>
void load_lanes(const ExprCode& expr, Frame& frame, int count, T* out) {
  const uint8_t* buffer = frame.buffers[static_cast<size_t>(expr.slot)];
  const ExprCode& index = expr.operands[0];
  if (index.course.kind == Course::Kind::Free) {
    Lanes at;
    evaluate_lanes(index, frame, count, at);
    load_gathered<Element>(buffer, index, at, count, out);
  } else {
    const int64_t first = evaluate(index, frame).i;
    load_strided<Element>(buffer + first * static_cast<int64_t>(sizeof(Element)), index.course.step,
                          count, out);
  }
}

void load_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results) {
  switch (expr.type) {
    case DataType::Bool:
    case DataType::UInt8:
      return load_lanes<uint8_t>(expr, frame, count, results.i32);
    case DataType::Int8:
      return load_lanes<int8_t>(expr, frame, count, results.i32);
    case DataType::Int16:
      return load_lanes<int16_t>(expr, frame, count, results.i32);
    case DataType::UInt16:
      return load_lanes<uint16_t>(expr, frame, count, results.i32);
    case DataType::Int32:
      return load_lanes<int32_t>(expr, frame, count, results.i32);
    case DataType::UInt32:
      return load_lanes<uint32_t>(expr, frame, count, results.i64);
    case DataType::Int64:
      return load_lanes<int64_t>(expr, frame, count, results.i64);
    case DataType::Float32:
      return load_lanes<float>(expr, frame, count, results.f32);
    default:
      INTARSIA_CHECK(false, "packed elements are refused before");
  }
}

void select_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results) {
  if (expr.operands[0].course.is_same())
    return evaluate_lanes(expr.operands[evaluate(expr.operands[0], frame).i != 0 ? 1 : 2], frame,
                          count, results);
  Lanes condition, no;
  evaluate_lanes(expr.operands[0], frame, count, condition);
  evaluate_lanes(expr.operands[1], frame, count, results);
  evaluate_lanes(expr.operands[2], frame, count, no);
  with_held(expr.type, [&](auto kind) {
    using T = decltype(kind);
    T* out = values<T>(results);
    const T* other = values<T>(no);
    for (int i = 0; i < count; ++i) out[i] = condition.i32[i] != 0 ? out[i] : other[i];
  });
}

void negate_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results) {
  evaluate_lanes(expr.operands[0], frame, count, results);
  with_held(expr.type, [&](auto kind) {
    using T = decltype(kind);
    T* out = values<T>(results);
    for (int i = 0; i < count; ++i)
      if constexpr (std::is_same_v<T, float>)
        out[i] = -out[i];
      else
        out[i] = Arithmetic<T>::subtract(0, out[i]);
  });
  narrow(expr.type, count, results);
}

void call_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results) {
  Lanes chunks[ScalarFunction::kMostArguments];
  LaneOperand arguments[ScalarFunction::kMostArguments];
  for (size_t i = 0; i < expr.operands.size(); ++i) {
    if (expr.operands[i].course.is_same()) {
      arguments[i].same = evaluate(expr.operands[i], frame);
    } else {
      evaluate_lanes(expr.operands[i], frame, count, chunks[i]);
      arguments[i].lanes = &chunks[i];
    }
  }
  expr.function->call_lanes(count, arguments, results);
}

}  // namespace

void evaluate_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results) {
  if (expr.course.is_same()) return fill(expr.type, evaluate(expr, frame), count, results);
  if (expr.course.kind == Course::Kind::Linear)
    return count_up(expr.type, evaluate(expr, frame).i, expr.course.step, count, results);
  switch (expr.kind) {
    case ExprCode::Kind::Number:
      return fill(expr.type, expr.number, count, results);
    case ExprCode::Kind::Slot:
      std::memcpy(&results, &frame.lanes[static_cast<size_t>(expr.slot)],
                  static_cast<size_t>(count) * (held(expr.type) == Held::Int64 ? 8 : 4));
      return;
    case ExprCode::Kind::Load:
      return load_lanes(expr, frame, count, results);
    case ExprCode::Kind::Negate:
      return negate_lanes(expr, frame, count, results);
    case ExprCode::Kind::Not:
      evaluate_lanes(expr.operands[0], frame, count, results);
      for (int i = 0; i < count; ++i) results.i32[i] = results.i32[i] == 0 ? 1 : 0;
      return;
    case ExprCode::Kind::Binary: {
      const Operand a(expr.operands[0], frame, count), b(expr.operands[1], frame, count);
      with_held(expr.operand_type, [&](auto kind) {
        binary_lanes<decltype(kind)>(expr.op, a.get(), b.get(), count, results);
      });
      return narrow(expr.type, count, results);
    }
    case ExprCode::Kind::Cast: {
      Lanes operand;
      evaluate_lanes(expr.operands[0], frame, count, operand);
      return cast_lanes(expr.operand_type, expr.type, {&operand, {}}, count, results);
    }
    case ExprCode::Kind::Select:
      return select_lanes(expr, frame, count, results);
    case ExprCode::Kind::Call:
      return call_lanes(expr, frame, count, results);
  }
}

}  // namespace intarsia::engine
