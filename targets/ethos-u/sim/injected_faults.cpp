#include "intarsia/targets/ethos_u/injected_faults.h"

#include <charconv>
#include <optional>

namespace intarsia::simulators::ethos_u {
namespace {

struct Name {
  std::string_view text;
  InjectedFault fault;
};
constexpr Name kNames[] = {{"bus", InjectedFault::Bus},
                           {"command", InjectedFault::Command},
                           {"weights", InjectedFault::Weights},
                           {"power", InjectedFault::Power},
                           {"stuck", InjectedFault::Stuck}};

std::optional<InjectedFault> fault_named(std::string_view text) {
  for (const Name& name : kNames)
    if (name.text == text) return name.fault;
  return std::nullopt;
}

}  // namespace

InjectedFaults parse_injected_faults(std::string_view text, std::string& problem) {
  InjectedFaults faults;
  while (!text.empty()) {
    const size_t end = std::min(text.find(','), text.size());
    const std::string_view item = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    const size_t at = item.find('@');
    const auto fault = fault_named(item.substr(0, at));
    uint32_t run = 0;
    const char* first = item.data() + (at == std::string_view::npos ? item.size() : at + 1);
    const char* last = item.data() + item.size();
    const auto [stopped, error] = std::from_chars(first, last, run);
    if (!fault || error != std::errc() || stopped != last) {
      problem = "'" + std::string(item) +
                "' is no fault of a run: write bus, command, weights, power or stuck, @ and the "
                "number of the run from 0";
      return {};
    }
    faults[run] = *fault;
  }
  return faults;
}

}  // namespace intarsia::simulators::ethos_u
