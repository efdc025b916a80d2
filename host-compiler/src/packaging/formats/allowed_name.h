// Names of libraries: ecosystems ask more of them than C asks of a model's name.
#pragma once

#include <string>

namespace intarsia::packaging {

struct NameRules {
  size_t longest = 0;               // characters
  bool begins_with_letter = false;  // or a digit, and not with '_'
  std::string reserved;  // beginning that the ecosystem keeps for itself, in lower case; or empty
};

// The model's name where the rules allow it. Otherwise with "Intarsia_" in front of what begins in a way that is not allowed,
// and of a long one the beginning and eight digits that tell it from others that begin alike.
std::string allowed_name(const std::string& model, const NameRules& rules);

// The line that tells somebody of a name that was changed: `ecosystem` "Arduino", `kind` "library".
std::string changed_name_note(const std::string& ecosystem, const std::string& kind,
                              const std::string& model, const std::string& name);

}  // namespace intarsia::packaging
