// For operators that only move elements: quantised values keep their scale through them.
#pragma once

#include "import/onnx/reader.h"

namespace intarsia::onnx {

// Whether a table of so many places can be part of a program; a problem otherwise.
inline bool table_fits(Reader& in, int64_t places) {
  constexpr int64_t kMostPlaces = 1 << 22;
  return in.require(places >= 0 && places <= kMostPlaces,
                    "needs a table of millions of places, as large as its tensors");
}

// Operand 0 through an operator that moves elements, in the form it has where that is possible.
template <typename Make>
void move(Reader& in, Make&& make) {
  const bool per_channel = in.tensor(in.value(0).tensor).quantization.per_channel();
  if (in.value(0).form != Form::Plain && !per_channel) return in.carried(make(in.value(0).tensor));
  in.result(make(in.operand(0)));
}

}  // namespace intarsia::onnx
