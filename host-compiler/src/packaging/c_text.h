// What a C source says of itself, read from its text without a compiler: enough to know which files of the runtime a
// model needs. The sources are ours; of unusual C (identifiers joined by ##, functions that macros define) more
// names may be reported as used than are, never fewer.
#pragma once

#include <map>
#include <optional>
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
  // What other files cannot see but by including this one: functions, objects, types and enumerators; macros; and what
  // stands behind "struct", "union" and "enum".
  std::set<std::string> locals, macros, tags;
  bool only_includes =
      false;  // nothing but #include lines between its guards: a header that collects others
  bool warns = false;  // has a #warning, which somebody who compiles the model has to see
};

CText read_c_text(std::string_view text);

// The name that a line includes, #include "name", whatever stands behind it; or none.
std::optional<std::string> included_name(std::string_view line);
// What comes before the name of a file, with its '/'; empty where there is none.
std::string folder_of(const std::string& path);

// The text with other names in place of these, but for members behind '.' and '->' and in comments and literals. What
// stands behind "struct", "union" or "enum" has its names in `tags`, as C has.
using OtherNames = std::map<std::string, std::string>;
std::string with_names(std::string_view text, const OtherNames& names, const OtherNames& tags);

}  // namespace intarsia::packaging
