// Executes compiled functions.
#pragma once

#include <map>
#include <memory>
#include <span>
#include <vector>

#include "engine/code.h"

namespace intarsia::engine {

// What memory holds that nobody has written: to be noticed where it gets into a result.
inline constexpr uint8_t kUnwritten = 0xAB;

// What one function works with; kept from call to call.
struct Frame {
  explicit Frame(const FunctionCode& function);

  std::vector<uint8_t*> buffers;
  std::vector<Value> slots;
  std::vector<Lanes> lanes;                 // by slot
  std::vector<std::vector<uint8_t>> owned;  // of FunctionCode::own
};

class Executor {
 public:
  // `arguments`: the addresses of the function's parameters, each of which has the parameter's bytes.
  void run(const FunctionCode& function, std::span<uint8_t* const> arguments);

 private:
  Frame& frame_of(const FunctionCode& function);

  std::map<const FunctionCode*, std::unique_ptr<Frame>> frames_;
};

// One number, of expressions outside of lanes; inside, that of the first lane, of what is not Free.
Value evaluate(const ExprCode& expr, Frame& frame);
// All of `count` lanes.
void evaluate_lanes(const ExprCode& expr, Frame& frame, int count, Lanes& results);

// Elements in memory, little-endian as on every machine that this runs on.
Value load_element(DataType type, const uint8_t* buffer, int64_t element);
void store_element(DataType type, uint8_t* buffer, int64_t element, Value value);
// What two numbers of one type give; `type` is the result's.
Value compute(tir::BinaryOp op, DataType operands, DataType type, Value a, Value b);
Value converted(DataType from, DataType to, Value value);

}  // namespace intarsia::engine
