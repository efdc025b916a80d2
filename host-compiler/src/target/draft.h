// Targets while they are read: which kind and what was written, before defaults, rules across
// attributes and names.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "intarsia/result.h"
#include "intarsia/target.h"

namespace intarsia {

inline constexpr size_t kMaxMembers = 64;

struct Draft {
  const KindSpec* kind = nullptr;
  std::string name;  // empty: to be derived
  std::map<std::string, AttributeValue> written;
  std::string where;
};

// What one kind, tag or JSON object stands for: one member, or a composite with its host first.
struct Piece {
  std::vector<Draft> members;
  bool composite = false;
  std::optional<Draft> ready_host;  // completes a tag of an accelerator when it stands alone
  std::string spelled;
  std::string where;

  Role role() const { return members.front().kind->role; }
};

// Completes drafts into checked values.
class TargetBuilder {
 public:
  // One member: defaults, resolve, validate; only what has to be written stays written.
  static std::optional<Target> complete(const Draft& draft, Diagnostics& diagnostics);
  // The whole: every member completed and named.
  static Result<TargetSpec> build(const std::vector<Draft>& drafts, const std::string& where);
};

}  // namespace intarsia
