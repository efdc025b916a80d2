// The options of operators that the format has no number for: numbers by name, in FlexBuffers. What is missing or damaged is reported.
#pragma once

#include <string>
#include <vector>

#include "import/tflite/operator_reader.h"

namespace intarsia::tflite {

class CustomOptions {
 public:
  // `in` must outlive it.
  explicit CustomOptions(OperatorReader& in);

  bool has(const char* name) const;
  // 0 where it is reported.
  int64_t integer(const char* name);
  // `otherwise` where the options do not have it.
  int64_t integer(const char* name, int64_t otherwise);
  float real(const char* name);
  // Of a vector of whole numbers.
  std::vector<int64_t> integers(const char* name);

 private:
  void missing(const char* name);

  OperatorReader& in_;
  std::vector<uint8_t> bytes_;  // empty: none that can be read
};

}  // namespace intarsia::tflite
