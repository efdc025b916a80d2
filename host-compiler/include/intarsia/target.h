// The target kinds and tags there are, handed in by whoever knows them, and the reading of target
// texts against them. A catalogue is a plain value: no globals, no registration by static objects.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "intarsia/plugin/check.h"
#include "intarsia/result.h"

namespace intarsia {

// ---- targets ----------------------------------------------------------------------------------

// What a model is compiled for: a host CPU and the devices beside it, each a kind with attributes.
// A TargetSpec is complete and checked: every attribute that has a value has it here (written,
// derived or default), every device has a unique name, the host comes first. Made by parse_target
// or make_target (target.h); printed by to_string and to_json, which parse_target reads
// back to an equal value.

class TargetCatalogue;

// An enum attribute holds the chosen word as a string.
using AttributeValue = std::variant<bool, int64_t, std::string, std::vector<std::string>>;

// As in a target string: true, 128, shared-sram, "two words", a,b,"c d".
std::string to_string(const AttributeValue& value);

// The attributes of one device, by name. `written` tells those that have to be written to get this
// target from those that follow (a default, or derived from others). Equality is of values only.
class Attributes {
 public:
  // A value, and whether it was written.
  struct Entry {
    AttributeValue value;
    bool written = false;
    bool operator==(const Entry& other) const { return value == other.value; }
  };
  // By name.
  using Map = std::map<std::string, Entry, std::less<>>;

  // Whether it has a value.
  bool has(std::string_view name) const { return entries_.find(name) != entries_.end(); }
  // Whether it has one that was written.
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
  // Takes the value away, if there is one.
  void erase(std::string_view name);

  // In the order of their names.
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

// One device of a target.
struct Target {
  std::string kind;
  std::string name;  // unique in a TargetSpec, where it is never empty
  Attributes attributes;

  // Shorthand for those of `attributes`.
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
// Names: a device that was not given one is called after its kind, `npu`; where that name is
// taken it is `npu.2`, `npu.3`, and so on, in the order of the devices.
class TargetSpec {
 public:
  std::span<const Target> devices() const { return devices_; }  // host first
  // The CPU that the program runs on.
  const Target& host() const { return devices_.front(); }
  // All devices but the host.
  std::span<const Target> beside_host() const { return devices().subspan(1); }
  // Whether there are any.
  bool is_composite() const { return devices_.size() > 1; }
  // Null when there is no such device.
  const Target* device(std::string_view name) const;
  bool operator==(const TargetSpec&) const = default;

  // A value of a device that follows from elsewhere, as from a board: what was written stays.
  void derive(size_t device, std::string attribute, AttributeValue value) {
    devices_.at(device).attributes.derive(std::move(attribute), std::move(value));
  }

 private:
  friend class TargetBuilder;
  explicit TargetSpec(std::vector<Target> devices) : devices_(std::move(devices)) {}
  std::vector<Target> devices_;
};

// Canonical spellings: the kind, the name only where it is not the one that would be derived, then
// the attributes that have to be written, sorted by name; defaults and derived values are left out.
//   c -mcpu=large + npu -macs=128
//   low_power_cpu: c -mcpu=small; inference_cpu: c -mcpu=large
std::string to_string(const TargetSpec& target);
// {"kind":"composite","target_host":{"kind":"c",...},"devices":[{"kind":"npu",...}]}, or
// {"kind":"c",...} when there are no devices; on one line.
std::string to_json(const TargetSpec& target);
// One device alone, without its name.
std::string to_string(const Target& device);

// ---- kinds, tags and the texts of targets -----------------------------------------------------

// What values an attribute takes.
enum class AttributeType { Bool, Int, String, Enum, StringList };

// One attribute of a kind: its type, what it may hold, and its default. Without a default the
// attribute is optional (no value when not written), or required.
struct AttributeSpec {
  std::string name;  // [A-Za-z][A-Za-z0-9_.-]*
  AttributeType type = AttributeType::String;
  std::optional<AttributeValue> default_value;
  std::string help;
  std::vector<std::string> choices;  // Enum: the words; StringList: the elements, if not empty
  std::vector<int64_t> int_choices;  // Int: the only values, if not empty
  int64_t minimum = std::numeric_limits<int64_t>::min();
  int64_t maximum = std::numeric_limits<int64_t>::max();
  bool required = false;

  // An attribute of each type, with its default; without one it is optional. `one_of` takes one of some numbers, `word`
  // one of some words, `list` any number of words.
  static AttributeSpec boolean(std::string name, bool default_value, std::string help);
  static AttributeSpec integer(std::string name, std::optional<int64_t> default_value,
                               int64_t minimum, int64_t maximum, std::string help);
  static AttributeSpec one_of(std::string name, std::optional<int64_t> default_value,
                              std::vector<int64_t> values, std::string help);
  static AttributeSpec word(std::string name, std::optional<std::string> default_value,
                            std::vector<std::string> words, std::string help);
  static AttributeSpec text(std::string name, std::optional<std::string> default_value,
                            std::string help);
  static AttributeSpec list(std::string name, std::vector<std::string> default_value,
                            std::string help);
};

// "int, 32..512", "hard | soft": for listings and messages.
std::string describe_type(const AttributeSpec& attribute);

// What a device of this kind can be in a target.
enum class Role {
  Cpu,          // can run a whole model: alone, as a host, or as a further device
  Accelerator,  // takes parts of a model (an NPU); only beside a host
  Device,       // operators are placed on it (a GPU, say); only beside a host
};

// A name for a target that is often written.
struct TagSpec {
  std::string name;
  std::string summary;
  // A target in any spelling; may use other tags. One device for a CPU or accelerator tag.
  std::string expansion;
  // For an accelerator or device: the host that makes it a ready composite when the tag is used
  // alone. Beside a host (`my-core + my-npu`) the tag is its expansion only.
  std::string host = {};
  std::string origin = {};  // for listings: the kind that brings it (filled in), or a file
};

// A name that is no tag, and what to say to who writes it.
struct AbsentTag {
  std::string name, what, hint;
};

// What a kind is, apart from what it does (target_kind.h).
struct KindSpec {
  std::string name;  // [A-Za-z][A-Za-z0-9_.-]*
  std::string summary;
  Role role = Role::Cpu;
  std::vector<AttributeSpec> attributes;
  // Derives and normalises: called with the written values, type-checked, and the defaults. Uses
  // Attributes::derive and ::normalise, so that what was written wins. Must be idempotent. May be
  // null. A failure is the user's; an empty `where` is filled in.
  std::function<Result<void>(Attributes&)> resolve;
  // The check across attributes, after resolve. May be null.
  std::function<Result<void>(const Attributes&)> validate;
  std::vector<TagSpec> tags;
  // Names that people have reason to try and that cannot work: why, and what to write instead.
  std::vector<AbsentTag> absent_tags = {};

  // Null when the kind has no such attribute.
  const AttributeSpec* attribute(std::string_view attribute_name) const;
};

// Kinds and tags by their names.
class TargetCatalogue {
 public:
  // Fails when a name is ill-formed, reserved or taken, or a default breaks its own rule. The
  // kind's tags come with it.
  Result<void> add_kind(KindSpec kind);
  // Does not look at the expansion, which may use tags that come later: see check_tags.
  Result<void> add_tag(TagSpec tag);
  // Tags from a JSON file: {"name": TARGET, "name": {"target": TARGET, "host": TARGET,
  // "summary": "..."}}, a TARGET being a string or an object. All are added and checked, or none.
  Result<void> load_tags_file(const std::string& path);
  // The same from a text; `where` names it in messages.
  Result<void> load_tags(std::string_view json_text, const std::string& where);
  // Whether every tag stands for a valid target; reports all that do not (cycles included).
  Result<void> check_tags() const;

  // Null when there is none of that name.
  const KindSpec* kind(std::string_view name) const;
  // Null when there is none of that name.
  const TagSpec* tag(std::string_view name) const;
  const std::vector<KindSpec>& kinds() const { return kinds_; }  // in the order added
  const std::vector<TagSpec>& tags() const { return tags_; }     // in the order added

 private:
  Result<void> check_tag(const TagSpec& tag) const;

  std::vector<KindSpec> kinds_;
  std::vector<TagSpec> tags_;
};

// Reads a target in any spelling or mixture of them:
//   text   := device (('+' | ';') device)* [';']          the first device is the host
//   device := [NAME ':'] (JSON-OBJECT | (KIND | TAG) attribute*)
//   attribute := '-' NAME ['=' value]                     a flag without a value is true
//   value  := bare text, "quoted" or 'quoted'; a list is written a,b,"c d"
//   JSON   := {"kind": K | "tag": T, "name": N, ATTRIBUTE: VALUE...}
//           | {"kind": "composite", "target_host": TARGET, "devices": [TARGET...]}
//             where TARGET is an object or a string with one device
// A tag's attributes may be overridden: `my-npu -memory-mode=sram-only`. A composite may
// stand first and be extended, and nowhere else. `where` begins every complaint.
Result<TargetSpec> parse_target(const TargetCatalogue& catalogue, std::string_view text,
                                const std::string& where = "--target");
// The same for a command-line argument: `@FILE` reads the text from a file.
Result<TargetSpec> parse_target_argument(const TargetCatalogue& catalogue,
                                         const std::string& argument,
                                         const std::string& where = "--target");

// From the API: devices with a kind, perhaps a name, and the attributes written; host first.
Result<TargetSpec> make_target(const TargetCatalogue& catalogue, const std::vector<Target>& devices,
                               const std::string& where = "target");

// The tag that is exactly this target, or tags joined by '+', or nothing.
std::optional<std::string> to_tag(const TargetCatalogue& catalogue, const TargetSpec& target);

// The device called `text`, or the only one that the tag `text` describes (as in --pin). The
// failure names the devices there are. Points into `target`, and is never null.
Result<const Target*> find_device(const TargetCatalogue& catalogue, const TargetSpec& target,
                                  std::string_view text, const std::string& where);

}  // namespace intarsia
