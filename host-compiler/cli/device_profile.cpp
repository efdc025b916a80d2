#include "device_profile.h"

#include <algorithm>
#include <map>
#include <vector>

#include <fmt/format.h>

namespace intarsia::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr size_t kMostRows = 80;

struct CycleRow {
  std::string name;
  double cycles = 0, macs = 0;
};

std::string text_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}
double number_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : 0;
}
Json list_of(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_array() ? *found : Json::array();
}

// All commands of one operator of the model are one row, where the first of them stands: commands of others come between,
// transfers of weights above all. Of commands whose operator is not known each is one.
std::vector<CycleRow> rows_of(const Json& stream) {
  std::vector<CycleRow> rows;
  std::map<std::string, size_t> known;
  for (const Json& command : list_of(stream, "commands")) {
    const std::string node = text_of(command, "node");
    size_t at = rows.size();
    if (!node.empty()) at = known.try_emplace(node, at).first->second;
    if (at == rows.size())
      rows.push_back({node.empty()
                          ? fmt::format("{} at {:#x}", text_of(command, "work"),
                                        static_cast<uint64_t>(number_of(command, "offset")))
                          : node});
    rows[at].cycles += number_of(command, "cycles");
    rows[at].macs += number_of(command, "macs");
  }
  return rows;
}

std::string stream_text(const Json& stream) {
  const double cycles = number_of(stream, "cycles"),
               clock = std::max(1e-3, number_of(stream, "clock_mhz"));
  std::string text = fmt::format(
      "{} in {}, {} at {:g} MHz: {:.0f} cycles, {:.1f} us; {:.1f}% of its MACs\n",
      text_of(stream, "device"), text_of(stream, "system"), text_of(stream, "memory_mode"), clock,
      cycles, cycles / clock, 100 * number_of(stream, "mac_utilisation"));
  text += fmt::format(
      "  operations {:.0f} cycles, transfers {:.0f}, of which {:.0f} are not hidden; stream {:.0f} "
      "bytes\n",
      number_of(stream, "operation_cycles"), number_of(stream, "transfer_cycles"),
      number_of(stream, "transfer_only_cycles"), number_of(stream, "stream_bytes"));
  for (const Json& region : list_of(stream, "regions"))
    text += fmt::format("  region {:.0f} in {}: {:.0f} bytes read, {:.0f} written\n",
                        number_of(region, "region"), text_of(region, "memory"),
                        number_of(region, "read_bytes"), number_of(region, "written_bytes"));
  std::vector<CycleRow> rows = rows_of(stream);
  const size_t all = rows.size();
  if (all > kMostRows) {
    std::vector<double> cost;
    for (const CycleRow& row : rows) cost.push_back(row.cycles);
    std::nth_element(cost.begin(), cost.begin() + kMostRows - 1, cost.end(), std::greater<>());
    const double least = cost[kMostRows - 1];
    std::erase_if(rows, [&](const CycleRow& row) { return row.cycles < least; });
  }
  text += fmt::format("  {:<40} {:>10} {:>7} {:>12}\n", "operator", "cycles", "share", "MACs");
  for (const CycleRow& row : rows)
    text += fmt::format("  {:<40} {:>10.0f} {:>6.1f}% {:>12.0f}\n", row.name, row.cycles,
                        cycles > 0 ? 100 * row.cycles / cycles : 0, row.macs);
  if (rows.size() < all)
    text += fmt::format("  and {} with fewer cycles; --json lists all\n", all - rows.size());
  return text;
}

}  // namespace

Json read_device_profile(const std::string& text) {
  Json parsed = Json::parse(text, nullptr, false);
  return parsed.is_array() ? parsed : Json::array();
}

std::string device_profile_text(const Json& devices) {
  std::string text;
  for (const Json& stream : devices)
    if (stream.is_object()) text += stream_text(stream);
  return text;
}

}  // namespace intarsia::cli
