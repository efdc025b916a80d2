// What a model is compiled for: a host CPU and the devices beside it, each a kind with attributes.
// A TargetSpec is complete and checked: every attribute that has a value has it here (written,
// derived or default), every member has a unique name, the host comes first. Made by parse_target
// or make_target (target.h); printed by to_string and to_json, which parse_target reads
// back to an equal value.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "intarsia/check.h"

namespace intarsia {

class TargetCatalogue;

// An enum attribute holds the chosen word as a string.
using AttributeValue = std::variant<bool, int64_t, std::string, std::vector<std::string>>;

// As in a target string: true, 128, shared-sram, "two words", a,b,"c d".
std::string to_string(const AttributeValue& value);

// The attributes of one member, by name. `written` tells those that have to be written to get this
// target from those that follow (a default, or derived from others). Equality is of values only.
class Attributes {
 public:
  struct Entry {
    AttributeValue value;
    bool written = false;
    bool operator==(const Entry& other) const { return value == other.value; }
  };
  using Map = std::map<std::string, Entry, std::less<>>;

  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  bool written(std::string_view name) const;
  // Null when the attribute is optional and has no value.
  const AttributeValue* find(std::string_view name) const;

  // For attributes that always have a value (a default, or required); asking for another, or by
  // another type, is our own bug.
  bool get_bool(std::string_view name) const { return get<bool>(name); }
  int64_t get_int(std::string_view name) const { return get<int64_t>(name); }
  const std::string& get_string(std::string_view name) const { return get<std::string>(name); }
  const std::vector<std::string>& get_list(std::string_view name) const {
    return get<std::vector<std::string>>(name);
  }

  // As if the user had written it.
  void write(std::string name, AttributeValue value);
  // A default or a derived value: replaces another one, never what was written.
  void derive(std::string name, AttributeValue value);
  // Another spelling of the same value; keeps who gave it.
  void normalise(std::string_view name, AttributeValue value);
  void erase(std::string_view name);

  Map::const_iterator begin() const { return entries_.begin(); }
  Map::const_iterator end() const { return entries_.end(); }
  bool operator==(const Attributes&) const = default;

 private:
  template <typename T>
  const T& get(std::string_view name) const {
    const AttributeValue* value = find(name);
    INTARSIA_CHECK(value != nullptr, "attribute '" + std::string(name) + "' has a value");
    INTARSIA_CHECK(std::holds_alternative<T>(*value),
                   "attribute '" + std::string(name) + "' has the type asked for");
    return std::get<T>(*value);
  }

  Map entries_;
};

// One member of a target.
struct Target {
  std::string kind;
  std::string name;  // unique in a TargetSpec, where it is never empty
  Attributes attributes;

  bool get_bool(std::string_view attribute) const { return attributes.get_bool(attribute); }
  int64_t get_int(std::string_view attribute) const { return attributes.get_int(attribute); }
  const std::string& get_string(std::string_view attribute) const {
    return attributes.get_string(attribute);
  }
  const std::vector<std::string>& get_list(std::string_view attribute) const {
    return attributes.get_list(attribute);
  }
  bool operator==(const Target&) const = default;
};

// The host and the devices, in order of priority. A plain CPU target has no devices.
//
// Names: a member that was not given one is called after its kind, `npu`; where that name is
// taken it is `npu.2`, `npu.3`, and so on, in the order of the members.
class TargetSpec {
 public:
  std::span<const Target> members() const { return members_; }  // host first
  const Target& host() const { return members_.front(); }
  std::span<const Target> devices() const { return members().subspan(1); }
  bool is_composite() const { return members_.size() > 1; }
  // Null when there is no such member.
  const Target* member(std::string_view name) const;
  bool operator==(const TargetSpec&) const = default;

 private:
  friend class TargetBuilder;
  explicit TargetSpec(std::vector<Target> members) : members_(std::move(members)) {}
  std::vector<Target> members_;
};

// Canonical spellings: the kind, the name only where it is not the one that would be derived, then
// the attributes that have to be written, sorted by name; defaults and derived values are left out.
//   c -mcpu=large + npu -macs=128
//   low_power_cpu: c -mcpu=small; inference_cpu: c -mcpu=large
std::string to_string(const TargetSpec& target);
// {"kind":"composite","target_host":{"kind":"c",...},"devices":[{"kind":"npu",...}]}, or
// {"kind":"c",...} when there are no devices; on one line.
std::string to_json(const TargetSpec& target);
// One member alone, without its name.
std::string to_string(const Target& member);

}  // namespace intarsia
