// The target kinds and tags there are, handed in by whoever knows them, and the reading of target
// texts against them. A catalogue is a plain value: no globals, no registration by static objects.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "intarsia/result.h"
#include "intarsia/target_spec.h"

namespace intarsia {

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

enum class Role {
  Cpu,          // can run a whole model: alone, as a host, or as a further member
  Accelerator,  // takes parts of a model (an NPU); only beside a host
  Device,       // operators are placed on it (a GPU, say); only beside a host
};

// A name for a target that is often written.
struct TagSpec {
  std::string name;
  std::string summary;
  // A target in any spelling; may use other tags. One member for a CPU or accelerator tag.
  std::string expansion;
  // For an accelerator or device: the host that makes it a ready composite when the tag is used
  // alone. Beside a host (`my-core + my-npu`) the tag is its expansion only.
  std::string host = {};
  std::string origin = {};  // for listings: the kind that brings it (filled in), or a file
};

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

  const AttributeSpec* attribute(std::string_view attribute_name) const;
};

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
  Result<void> load_tags(std::string_view json_text, const std::string& where);
  // Whether every tag stands for a valid target; reports all that do not (cycles included).
  Result<void> check_tags() const;

  const KindSpec* kind(std::string_view name) const;
  const TagSpec* tag(std::string_view name) const;
  const std::vector<KindSpec>& kinds() const { return kinds_; }  // in the order added
  const std::vector<TagSpec>& tags() const { return tags_; }     // in the order added

 private:
  Result<void> check_tag(const TagSpec& tag) const;

  std::vector<KindSpec> kinds_;
  std::vector<TagSpec> tags_;
};

// Reads a target in any spelling or mixture of them:
//   text   := member (('+' | ';') member)* [';']          the first member is the host
//   member := [NAME ':'] (JSON-OBJECT | (KIND | TAG) attribute*)
//   attribute := '-' NAME ['=' value]                     a flag without a value is true
//   value  := bare text, "quoted" or 'quoted'; a list is written a,b,"c d"
//   JSON   := {"kind": K | "tag": T, "name": N, ATTRIBUTE: VALUE...}
//           | {"kind": "composite", "target_host": TARGET, "devices": [TARGET...]}
//             where TARGET is an object or a string with one member
// A tag's attributes may be overridden: `my-npu -memory-mode=sram-only`. A composite may
// stand first and be extended, and nowhere else. `where` begins every complaint.
Result<TargetSpec> parse_target(const TargetCatalogue& catalogue, std::string_view text,
                                const std::string& where = "--target");
// The same for a command-line argument: `@FILE` reads the text from a file.
Result<TargetSpec> parse_target_argument(const TargetCatalogue& catalogue,
                                         const std::string& argument,
                                         const std::string& where = "--target");

// From the API: members with a kind, perhaps a name, and the attributes written; host first.
Result<TargetSpec> make_target(const TargetCatalogue& catalogue, const std::vector<Target>& members,
                               const std::string& where = "target");

// The tag that is exactly this target, or tags joined by '+', or nothing.
std::optional<std::string> to_tag(const TargetCatalogue& catalogue, const TargetSpec& target);

// The member called `text`, or the only one that the tag `text` describes (as in --pin). The
// failure names the members there are. Points into `target`, and is never null.
Result<const Target*> find_member(const TargetCatalogue& catalogue, const TargetSpec& target,
                                  std::string_view text, const std::string& where);

}  // namespace intarsia
