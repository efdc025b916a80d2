#include "engine/execute.h"

#include <algorithm>
#include <cstring>

namespace intarsia::engine {
namespace {

class Run {
 public:
  Run(Executor& executor, Frame& frame) : executor_(executor), frame_(frame) {}

  void execute(const StmtCode& stmt) {
    switch (stmt.kind) {
      case StmtCode::Kind::Sequence:
        for (const StmtCode& inner : stmt.inner) execute(inner);
        return;
      case StmtCode::Kind::Loop:
        return loop(stmt, [&](const StmtCode& inner) { execute(inner); });
      case StmtCode::Kind::LaneLoop:
        return lane_loop(stmt);
      case StmtCode::Kind::Branch:
        return branch(stmt, [&](const StmtCode& inner) { execute(inner); });
      case StmtCode::Kind::Assign:
        slot(stmt.slot) = evaluate(stmt.exprs[0], frame_);
        return;
      case StmtCode::Kind::Reduce:
        return;  // stands in loops of lanes only
      case StmtCode::Kind::Store:
        return store_element(stmt.type, buffer(stmt.slot), evaluate(stmt.exprs[0], frame_).i,
                             evaluate(stmt.exprs[1], frame_));
      case StmtCode::Kind::Function:
        return executor_.run(*stmt.function, addresses_of(stmt));
      case StmtCode::Kind::Kernel: {
        std::vector<Value> numbers;
        for (const ExprCode& expr : stmt.exprs) numbers.push_back(evaluate(expr, frame_));
        const std::vector<uint8_t*> bytes = addresses_of(stmt);
        const std::vector<void*> addresses(bytes.begin(), bytes.end());
        return stmt.kernel.call(addresses.data(), numbers.data());
      }
    }
  }

 private:
  Value& slot(int32_t index) { return frame_.slots[static_cast<size_t>(index)]; }
  Lanes& lanes(int32_t index) { return frame_.lanes[static_cast<size_t>(index)]; }
  uint8_t* buffer(int32_t index) { return frame_.buffers[static_cast<size_t>(index)]; }

  std::vector<uint8_t*> addresses_of(const StmtCode& stmt) {
    std::vector<uint8_t*> addresses;
    for (const AddressCode& address : stmt.addresses)
      addresses.push_back(buffer(address.buffer) +
                          evaluate(address.element, frame_).i * address.bits / 8);
    return addresses;
  }

  template <typename Body>
  void loop(const StmtCode& stmt, Body&& body) {
    const int64_t end = evaluate(stmt.exprs[1], frame_).i;
    for (int64_t i = evaluate(stmt.exprs[0], frame_).i; i < end; ++i) {
      slot(stmt.slot) = of_int(i);
      body(stmt.inner[0]);
    }
  }

  template <typename Body>
  void branch(const StmtCode& stmt, Body&& body) {
    if (evaluate(stmt.exprs[0], frame_).i != 0)
      body(stmt.inner[0]);
    else if (stmt.inner.size() > 1)
      body(stmt.inner[1]);
  }

  void lane_loop(const StmtCode& stmt) {
    const int64_t end = evaluate(stmt.exprs[1], frame_).i;
    for (int64_t i = evaluate(stmt.exprs[0], frame_).i; i < end; i += kLanes) {
      slot(stmt.slot) = of_int(i);
      execute_lanes(stmt.inner[0], static_cast<int>(std::min<int64_t>(kLanes, end - i)));
    }
  }

  void execute_lanes(const StmtCode& stmt, int count) {
    switch (stmt.kind) {
      case StmtCode::Kind::Sequence:
        for (const StmtCode& inner : stmt.inner) execute_lanes(inner, count);
        return;
      case StmtCode::Kind::Loop:
        return loop(stmt, [&](const StmtCode& inner) { execute_lanes(inner, count); });
      case StmtCode::Kind::Branch:
        return branch(stmt, [&](const StmtCode& inner) { execute_lanes(inner, count); });
      case StmtCode::Kind::Assign:
        return assign_lanes(stmt, count);
      case StmtCode::Kind::Reduce:
        return reduce_lanes(stmt, count);
      case StmtCode::Kind::Store:
        return store_lanes(stmt, count);
      default:
        return;  // loops of lanes are not nested, and call nothing
    }
  }

  void assign_lanes(const StmtCode& stmt, int count) {
    if (!stmt.by_lane) {
      slot(stmt.slot) = evaluate(stmt.exprs[0], frame_);
      return;
    }
    Lanes value;
    evaluate_lanes(stmt.exprs[0], frame_, count, value);
    std::memcpy(&lanes(stmt.slot), &value,
                static_cast<size_t>(count) * (held(stmt.type) == Held::Int64 ? 8 : 4));
  }

  void reduce_lanes(const StmtCode& stmt, int count) {
    Lanes values;
    evaluate_lanes(stmt.exprs[0], frame_, count, values);
    Value& sum = slot(stmt.slot);
    for (int i = 0; i < count; ++i) {
      const Value added = held(stmt.type) == Held::Float   ? of_float(values.f32[i])
                          : held(stmt.type) == Held::Int64 ? of_int(values.i64[i])
                                                           : of_int(values.i32[i]);
      sum = compute(stmt.op, stmt.type, stmt.type, sum, added);
    }
  }

  void store_lanes(const StmtCode& stmt, int count) {
    Lanes values;
    evaluate_lanes(stmt.exprs[1], frame_, count, values);
    const ExprCode& index = stmt.exprs[0];
    uint8_t* const to = buffer(stmt.slot);
    if (index.course.kind == Course::Kind::Free) {
      Lanes at;
      evaluate_lanes(index, frame_, count, at);
      const bool wide = held(index.type) == Held::Int64;
      store(stmt.type, to, values, count, [&](int i) { return wide ? at.i64[i] : at.i32[i]; });
    } else {
      const int64_t first = evaluate(index, frame_).i, step = index.course.step;
      store(stmt.type, to, values, count, [&](int i) { return first + step * i; });
    }
  }

  template <typename Element, typename T, typename Place>
  static void store_as(uint8_t* to, const T* values, int count, Place&& place) {
    for (int i = 0; i < count; ++i) {
      const auto element = static_cast<Element>(values[i]);
      std::memcpy(to + place(i) * static_cast<int64_t>(sizeof element), &element, sizeof element);
    }
  }

  template <typename Place>
  static void store(DataType type, uint8_t* to, const Lanes& values, int count, Place&& place) {
    if (type == DataType::Float32) return store_as<float>(to, values.f32, count, place);
    if (type == DataType::Int64) return store_as<int64_t>(to, values.i64, count, place);
    if (type == DataType::UInt32) return store_as<uint32_t>(to, values.i64, count, place);
    switch (bits(type)) {
      case 8:
        return store_as<uint8_t>(to, values.i32, count, place);
      case 16:
        return store_as<uint16_t>(to, values.i32, count, place);
      default:
        return store_as<uint32_t>(to, values.i32, count, place);
    }
  }

  Executor& executor_;
  Frame& frame_;
};

}  // namespace

Frame::Frame(const FunctionCode& function)
    : buffers(static_cast<size_t>(function.buffers)),
      slots(static_cast<size_t>(function.slots)),
      lanes(static_cast<size_t>(function.slots)) {
  for (const FunctionCode::Constant& constant : function.constants)
    buffers[static_cast<size_t>(constant.buffer)] = const_cast<uint8_t*>(constant.bytes);
  for (const FunctionCode::Own& own : function.own) {
    owned.emplace_back(static_cast<size_t>(own.bytes), kUnwritten);
    buffers[static_cast<size_t>(own.buffer)] = owned.back().data();
  }
}

Frame& Executor::frame_of(const FunctionCode& function) {
  std::unique_ptr<Frame>& frame = frames_[&function];
  if (frame == nullptr) frame = std::make_unique<Frame>(function);
  return *frame;
}

void Executor::run(const FunctionCode& function, std::span<uint8_t* const> arguments) {
  Frame& frame = frame_of(function);
  std::copy(arguments.begin(), arguments.end(), frame.buffers.begin());
  Run(*this, frame).execute(function.body);
}

}  // namespace intarsia::engine
