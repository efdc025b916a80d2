#include "budgets/check_limits.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace intarsia::budgets {
namespace {

constexpr size_t kMostShares = 5;  // of one reason: the largest decide

std::vector<Share> largest(const std::vector<Share>& shares) {
  return {shares.begin(),
          shares.begin() + static_cast<std::ptrdiff_t>(std::min(shares.size(), kMostShares))};
}

std::string option(const Limit& limit) {
  return fmt::format("--max-{}", to_string(limit.kind));
}

Diagnostics no_such(const Limit& limit, const char* what, const std::vector<std::string>& names) {
  const std::string meant = nearest_name(limit.of, names);
  return Diagnostics(option(limit), fmt::format("there is no {} '{}'", what, limit.of),
                     meant.empty() ? fmt::format("there are {}", fmt::join(names, ", "))
                                   : fmt::format("did you mean '{}'?", meant));
}

std::string where_fullest(const MemoryFigures& memory) {
  if (memory.fullest_at.empty()) return fmt::format("{} takes {} bytes", memory.name, memory.peak);
  if (memory.blocks > 1)
    return fmt::format(
        "{} blocks lie in {}; the largest is fullest at '{}', where {} bytes are in use",
        memory.blocks, memory.name, memory.fullest_at, memory.fullest_bytes);
  return fmt::format("{} is fullest at '{}', where {} of its {} bytes are in use", memory.name,
                     memory.fullest_at, memory.fullest_bytes, memory.peak);
}

Result<Verdict> check_ram(const Figures& figures, const Limit& limit) {
  Verdict verdict{limit, 0, {}};
  std::vector<std::string> names;
  bool found = limit.of.empty();
  for (const MemoryFigures& memory : figures.memories) {
    names.push_back(memory.name);
    if (!limit.of.empty() && memory.name != limit.of) continue;
    found = true;
    verdict.figure += memory.peak;
    if (memory.peak == 0) continue;
    verdict.reasons.push_back({where_fullest(memory), largest(memory.live)});
  }
  if (!found) return no_such(limit, "memory for activations", names);
  return verdict;
}

Result<Verdict> check_flash(const Figures& figures, const Limit& limit) {
  if (!figures.flash)
    return Diagnostics(option(limit), "flash cannot be measured: " + figures.not_measured,
                       "leave it out, or choose another --board");
  const FlashFigures& flash = *figures.flash;
  Verdict verdict{limit, flash.total, {}};
  std::vector<Share> kinds = {
      {"code", flash.code}, {"constants", flash.constants}, {"command streams", flash.streams}};
  std::erase_if(kinds, [](const Share& share) { return share.amount == 0; });
  verdict.reasons.push_back({"it holds", std::move(kinds)});
  if (!figures.constants.empty())
    verdict.reasons.push_back({"most constants and streams", largest(figures.constants)});
  return verdict;
}

Result<Verdict> check_stack(const Figures& figures, const Limit& limit) {
  if (!figures.stack)
    return Diagnostics(option(limit), "the stack cannot be measured: " + figures.not_measured,
                       "leave it out, or choose another --board");
  return Verdict{
      limit,
      *figures.stack,
      {{fmt::format("the deepest calls are {}", fmt::join(figures.stack_chain, " > ")), {}}}};
}

Result<Verdict> check_cycles(const Figures& figures, const Limit& limit) {
  Verdict verdict{limit, 0, {}};
  std::vector<std::string> names;
  bool found = limit.of.empty();
  for (const DeviceFigures& device : figures.cycles) {
    names.push_back(device.device);
    if (!limit.of.empty() && device.device != limit.of) continue;
    found = true;
    verdict.figure += device.cycles;
    verdict.reasons.push_back(
        {fmt::format("{} has {} estimated cycles, most of them", device.device, device.cycles),
         largest(device.operators)});
  }
  if (!found) return no_such(limit, "device at work called", names);
  return verdict;
}

Result<Verdict> check(const Figures& figures, const Limit& limit) {
  switch (limit.kind) {
    case Kind::Ram:
      return check_ram(figures, limit);
    case Kind::Flash:
      return check_flash(figures, limit);
    case Kind::Stack:
      return check_stack(figures, limit);
    case Kind::Cycles:
      break;
  }
  return check_cycles(figures, limit);
}

}  // namespace

Result<std::vector<Verdict>> check_limits(const Figures& figures, std::span<const Limit> limits) {
  std::vector<Verdict> verdicts;
  Diagnostics problems;
  for (size_t i = 0; i < limits.size(); ++i) {
    const auto same = std::find_if(
        limits.begin(), limits.begin() + static_cast<std::ptrdiff_t>(i), [&](const Limit& other) {
          return other.kind == limits[i].kind && other.of == limits[i].of;
        });
    if (same != limits.begin() + static_cast<std::ptrdiff_t>(i)) {
      problems.add(option(limits[i]),
                   fmt::format("there are two budgets for {}: {} and {}", limits[i].name(),
                               same->most, limits[i].most),
                   "keep one of the two");
      continue;
    }
    Result<Verdict> verdict = check(figures, limits[i]);
    if (verdict.ok())
      verdicts.push_back(*std::move(verdict));
    else
      problems.append(verdict.error());
  }
  if (!problems.empty()) return problems;
  return verdicts;
}

}  // namespace intarsia::budgets
