#include "member_names.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace intarsia {

void derive_names(std::vector<Target>& members) {
  std::set<std::string> taken;
  for (const Target& member : members) taken.insert(member.name);
  std::map<std::string, size_t> last_number;
  for (Target& member : members) {
    if (!member.name.empty()) continue;
    size_t& number = last_number[member.kind];
    do {
      ++number;
      member.name = number == 1 ? member.kind : fmt::format("{}.{}", member.kind, number);
    } while (!taken.insert(member.name).second);
  }
}

std::vector<bool> names_to_write(std::span<const Target> members) {
  std::vector<bool> write(members.size(), false);
  // One at a time: a name that is written changes what the others derive.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Target> renamed(members.begin(), members.end());
    for (size_t i = 0; i < renamed.size(); ++i) {
      if (!write[i]) renamed[i].name.clear();
    }
    derive_names(renamed);
    for (size_t i = 0; i < renamed.size() && !changed; ++i) {
      if (renamed[i].name != members[i].name) write[i] = changed = true;
    }
  }
  return write;
}

}  // namespace intarsia
