// What a C source says of itself, read from its text without a compiler: enough to know which files of the runtime a
// model needs. The sources are ours; of unusual C (identifiers joined by ##, functions that macros define) more
// names may be reported as used than are, never fewer.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace intarsia::packaging {

struct CText {
  std::vector<std::string>
      includes;  // the names in #include "x", in order, whatever conditions they stand under
  // Functions with a body that other files can call: those outside of any braces that are not static.
  std::set<std::string> defines;
  // What a file that includes this one may use: functions, macros, structures, enumerators and types.
  std::set<std::string> declares;
  std::set<std::string>
      uses;  // identifiers in bodies of functions, in initial values, and in macros
  // Of a source: functions, objects, structures and enumerators that other files cannot see, and its macros.
  std::set<std::string> locals, macros;
  bool only_includes =
      false;  // nothing but #include lines between its guards: a header that collects others
  bool warns = false;  // has a #warning, which somebody who compiles the model has to see
};

CText read_c_text(std::string_view text);

}  // namespace intarsia::packaging
