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

inline constexpr size_t kMaxDevices = 64;

struct Draft {
  const KindSpec* kind = nullptr;
  std::string name;  // empty: to be derived
  std::map<std::string, AttributeValue> written;
  std::string where;
};

// What one kind, tag or JSON object stands for: one device, or a composite with its host first.
struct Piece {
  std::vector<Draft> devices;
  bool composite = false;
  std::optional<Draft> ready_host;  // completes a tag of an accelerator when it stands alone
  std::string spelled;
  std::string where;

  Role role() const { return devices.front().kind->role; }
};

// Completes drafts into checked values.
class TargetBuilder {
 public:
  // One device: defaults, resolve, validate; only what has to be written stays written.
  static std::optional<Target> complete(const Draft& draft, Diagnostics& diagnostics);
  // The whole: every device completed and named.
  static Result<TargetSpec> build(const std::vector<Draft>& drafts, const std::string& where);
};

}  // namespace intarsia
