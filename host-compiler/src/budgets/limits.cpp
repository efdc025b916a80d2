#include "budgets/limits.h"

#include <fmt/format.h>

#include "support/amounts.h"

namespace intarsia::budgets {

std::string_view to_string(Unit unit) {
  return unit == Unit::Bytes ? "bytes" : "cycles";
}

std::string_view to_string(Kind kind) {
  switch (kind) {
    case Kind::Ram:
      return "ram";
    case Kind::Flash:
      return "flash";
    case Kind::Stack:
      return "stack";
    case Kind::Cycles:
      return "cycles";
  }
  return "";
}

Unit unit_of(Kind kind) {
  return kind == Kind::Cycles ? Unit::Cycles : Unit::Bytes;
}

std::string Limit::name() const {
  return of.empty() ? std::string(to_string(kind)) : fmt::format("{} of {}", to_string(kind), of);
}

Result<Limit> parse_limit(Kind kind, std::string_view text, const std::string& where) {
  Limit limit{kind, "", 0};
  std::string_view amount = text;
  if (const size_t equals = text.find('='); equals != std::string_view::npos) {
    if (kind == Kind::Flash || kind == Kind::Stack)
      return Diagnostics(where, fmt::format("'{}' names a memory; this budget is for all", text),
                         fmt::format("write {}", text.substr(equals + 1)));
    limit.of = text.substr(0, equals);
    amount = text.substr(equals + 1);
    if (limit.of.empty())
      return Diagnostics(where, fmt::format("nothing is named before the '=' of '{}'", text),
                         kind == Kind::Ram ? "write a memory of the board there"
                                           : "write a device of the target there");
  }
  const bool is_bytes = unit_of(kind) == Unit::Bytes;
  const std::optional<int64_t> most = is_bytes ? parse_bytes(amount) : parse_count(amount);
  if (!most)
    return Diagnostics(where, fmt::format("'{}' is no {}", amount, is_bytes ? "size" : "count"),
                       is_bytes ? "write bytes as 60000, 20K or 1.5M; K is 1024 bytes, M 1024 K"
                                : "write cycles as 5000000, 500k or 5M; k is 1000, M a million");
  limit.most = *most;
  return limit;
}

Result<Growth> parse_growth(std::string_view text, const std::string& where) {
  if (const std::optional<int64_t> growth = parse_percent(text)) return *growth;
  return Diagnostics(where, fmt::format("'{}' is no percentage", text), "write 0%, 2% or 0.5%");
}

}  // namespace intarsia::budgets
