// Values that the user gives inputs, which become constants.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/import.h"

namespace intarsia {

class InputValues {
 public:
  using Given = std::map<std::string, std::vector<double>>;

  // `given` must outlive this.
  explicit InputValues(const Given& given) : given_(given) {}

  bool has(std::string_view input) { return find(input) != nullptr; }
  // The little-endian bytes of an input of this type and shape; none after a report, and where none are given.
  std::optional<std::vector<uint8_t>> bytes(std::string_view input, const std::string& where,
                                            DataType type, const Shape& shape,
                                            Diagnostics& problems);
  // Reports those that name no input, of which `inputs` is the list.
  void report_unused(const std::string& file, const std::vector<std::string>& inputs,
                     Diagnostics& problems) const;

 private:
  const std::vector<double>* find(std::string_view input);

  const Given& given_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace intarsia
