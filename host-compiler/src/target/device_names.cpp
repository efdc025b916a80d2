#include "device_names.h"

#include <fmt/format.h>

#include <map>
#include <set>

namespace intarsia {

void derive_names(std::vector<Target>& devices) {
  std::set<std::string> taken;
  for (const Target& device : devices) taken.insert(device.name);
  std::map<std::string, size_t> last_number;
  for (Target& device : devices) {
    if (!device.name.empty()) continue;
    size_t& number = last_number[device.kind];
    do {
      ++number;
      device.name = number == 1 ? device.kind : fmt::format("{}.{}", device.kind, number);
    } while (!taken.insert(device.name).second);
  }
}

std::vector<bool> names_to_write(std::span<const Target> devices) {
  std::vector<bool> write(devices.size(), false);
  // One at a time: a name that is written changes what the others derive.
  for (bool changed = true; changed;) {
    changed = false;
    std::vector<Target> renamed(devices.begin(), devices.end());
    for (size_t i = 0; i < renamed.size(); ++i) {
      if (!write[i]) renamed[i].name.clear();
    }
    derive_names(renamed);
    for (size_t i = 0; i < renamed.size() && !changed; ++i) {
      if (renamed[i].name != devices[i].name) write[i] = changed = true;
    }
  }
  return write;
}

}  // namespace intarsia
