// Shapes that the user gives inputs whose extents the file leaves open.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>

#include "intarsia/import.h"

namespace intarsia {

// The argument of --shape for extents of which -1 are open, with a mark in the place of each: "1x?x?x3".
std::string shape_to_fill_in(const Shape& extents);

class InputShapes {
 public:
  // `given` must outlive this.
  explicit InputShapes(const std::map<std::string, Shape>& given) : given_(given) {}

  // Null: none is given.
  const Shape* find(std::string_view input);
  // For an input whose shape in the file is `extents`, where -1 is open. The shape that it has from now on is the file's with
  // the given extents; what cannot be is reported, and open extents are 1.
  Shape apply(std::string_view input, const std::string& where, const Shape& extents,
              Diagnostics& problems);
  // Reports those that name no input, of which `inputs` is the list.
  void report_unused(const std::string& file, const std::vector<std::string>& inputs,
                     Diagnostics& problems) const;

 private:
  const std::map<std::string, Shape>& given_;
  std::set<std::string, std::less<>> used_;
};

}  // namespace intarsia
