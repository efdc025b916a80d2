// The text half of TargetReader: words, tags, composition.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "attribute_value.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

namespace {

constexpr size_t kMaxTagDepth = 16;

std::vector<std::string> all_names(const TargetCatalogue& catalogue) {
  std::vector<std::string> names;
  for (const KindSpec& kind : catalogue.kinds()) names.push_back(kind.name);
  for (const TagSpec& tag : catalogue.tags()) names.push_back(tag.name);
  return names;
}

}  // namespace

std::optional<Piece> TargetReader::read_text(std::string_view text, const std::string& where) {
  if (text.size() > kMaxTargetText) {
    diagnostics_.add(where, fmt::format("the target text has {} bytes, more than {}", text.size(),
                                        kMaxTargetText));
    return std::nullopt;
  }
  if (const auto offset = find_unreadable(text, true)) {
    diagnostics_.add(place(where, text, *offset),
                     fmt::format("byte 0x{:02x} is a control character or not UTF-8",
                                 static_cast<unsigned char>(text[*offset])));
    return std::nullopt;
  }
  const auto scanned_devices = scan_devices(catalogue_, text, where, diagnostics_);
  if (!scanned_devices) return std::nullopt;
  return compose(*scanned_devices, text, where);
}

std::optional<Piece> TargetReader::read_device(const ScannedDevice& scanned_device,
                                               std::string_view text, const std::string& where) {
  const std::string head_where = place(where, text, scanned_device.head_offset);
  std::optional<Piece> piece;
  if (scanned_device.json.empty()) {
    piece = read_word(scanned_device.head, head_where);
  } else if (const auto json = read_json_text(scanned_device.json, text, scanned_device.head_offset,
                                              where, diagnostics_)) {
    piece = read_json(*json, scanned_device.head_offset == 0 ? where : head_where);
  }
  if (!piece) return std::nullopt;
  bool good = scanned_device.name.empty() ||
              set_name(*piece, scanned_device.name, place(where, text, scanned_device.offset));
  std::set<std::string> seen;
  for (const ScannedAttribute& scanned : scanned_device.attributes) {
    const std::string attribute_where = place(where, text, scanned.offset);
    if (!takes_attributes(*piece, attribute_where)) return std::nullopt;
    Draft& draft = piece->devices.front();
    if (!seen.insert(scanned.name).second) {
      diagnostics_.add(attribute_where,
                       fmt::format("attribute {} is given twice", in_quotes(scanned.name)));
      good = false;
      continue;
    }
    const AttributeSpec* spec = find_attribute(*draft.kind, scanned.name, attribute_where);
    std::optional<AttributeValue> value;
    if (spec)
      value = value_from_text({*draft.kind, *spec, attribute_where}, scanned.value, diagnostics_);
    if (value && check_value({*draft.kind, *spec, attribute_where}, *value, diagnostics_)) {
      draft.written.insert_or_assign(scanned.name, std::move(*value));
    } else {
      good = false;
    }
  }
  piece->spelled = scanned_device.spelled;
  return good ? piece : std::nullopt;
}

std::optional<Piece> TargetReader::read_word(const std::string& word, const std::string& where) {
  if (const KindSpec* kind = catalogue_.kind(word)) {
    Piece piece;
    piece.devices.push_back({kind, {}, {}, where});
    piece.spelled = word;
    piece.where = where;
    return piece;
  }
  if (const TagSpec* tag = catalogue_.tag(word)) return expand_tag(*tag, where);
  if (word == "composite") {
    diagnostics_.add(where, "a composite is not written as a kind with attributes",
                     "write 'host + device', or JSON with 'target_host' and 'devices'");
    return std::nullopt;
  }
  for (const KindSpec& kind : catalogue_.kinds())
    for (const AbsentTag& absent : kind.absent_tags) {
      if (absent.name != word) continue;
      diagnostics_.add(where, fmt::format("{}: {}", word, absent.what), absent.hint);
      return std::nullopt;
    }
  std::string hint = did_you_mean(word, all_names(catalogue_));
  if (hint.empty()) hint = "'intarsia targets' lists the kinds and tags there are";
  diagnostics_.add(where, fmt::format("there is no target kind or tag {}", in_quotes(word)), hint);
  return std::nullopt;
}

std::optional<Piece> TargetReader::expand_tag(const TagSpec& tag, const std::string& where) {
  if (std::find(open_tags_.begin(), open_tags_.end(), tag.name) != open_tags_.end()) {
    diagnostics_.add(where,
                     fmt::format("tag '{}' refers to itself: {} -> {}", tag.name,
                                 join(open_tags_, " -> "), tag.name),
                     "write one of them without tags");
    return std::nullopt;
  }
  if (open_tags_.size() == kMaxTagDepth) {
    diagnostics_.add(where,
                     fmt::format("tag '{}' lies more than {} tags deep", tag.name, kMaxTagDepth));
    return std::nullopt;
  }
  open_tags_.push_back(tag.name);
  const std::string tag_where = fmt::format("{}, tag '{}'", where, tag.name);
  std::optional<Piece> piece = read_text(tag.expansion, tag_where);
  std::optional<Piece> host;
  if (piece && !tag.host.empty()) {
    host = read_text(tag.host, tag_where + ", host");
    if (piece->composite || piece->role() == Role::Cpu) {
      diagnostics_.add(tag_where, "only the tag of an accelerator or device has a host");
      host.reset();
    } else if (host && (host->composite || host->role() != Role::Cpu)) {
      diagnostics_.add(tag_where + ", host", "the host must be one CPU");
      host.reset();
    }
    if (!host) piece.reset();
  }
  open_tags_.pop_back();
  if (!piece) return std::nullopt;
  if (host) piece->ready_host = host->devices.front();
  piece->spelled = tag.name;
  piece->where = where;
  for (Draft& draft : piece->devices) draft.where = where;
  return piece;
}

std::optional<Piece> TargetReader::compose(const std::vector<ScannedDevice>& scanned_devices,
                                           std::string_view text, const std::string& where) {
  std::vector<Piece> pieces;
  bool good = true;
  for (const ScannedDevice& scanned_device : scanned_devices) {
    // Inside a tag one complaint is enough, and the work for a bad tag stays small.
    if (!good && !open_tags_.empty()) return std::nullopt;
    std::optional<Piece> piece = read_device(scanned_device, text, where);
    good = good && piece;
    if (piece) pieces.push_back(std::move(*piece));
    if (pieces.size() > kMaxDevices) {
      diagnostics_.add(where, fmt::format("a target has at most {} devices", kMaxDevices));
      return std::nullopt;
    }
  }
  if (!good) return std::nullopt;
  if (pieces.size() == 1) return std::move(pieces.front());
  if (!pieces.front().composite && pieces.front().role() != Role::Cpu) {
    complain_device_first(pieces);
    return std::nullopt;
  }
  Piece composite = std::move(pieces.front());
  for (size_t i = 1; i < pieces.size(); ++i) {
    good = add_device(composite, std::move(pieces[i])) && good;
  }
  if (!good) return std::nullopt;
  composite.spelled = text;
  return composite;
}

bool TargetReader::add_device(Piece& composite, Piece device) {
  if (device.composite) {
    diagnostics_.add(
        device.where,
        fmt::format("nested composite: {} is a composite itself and cannot be a device",
                    in_quotes(device.spelled)),
        "list its devices one by one");
    return false;
  }
  composite.composite = true;
  composite.devices.push_back(std::move(device.devices.front()));
  return true;
}

void TargetReader::complain_device_first(const std::vector<Piece>& pieces) {
  std::vector<std::string> order;
  for (const Piece& piece : pieces) order.push_back(piece.spelled);
  const auto host = std::find_if(pieces.begin(), pieces.end(), [](const Piece& piece) {
    return !piece.composite && piece.role() == Role::Cpu;
  });
  const Draft& first = pieces.front().devices.front();
  std::string host_text = example_host(*first.kind);
  if (host != pieces.end()) {
    host_text = host->spelled;
    order.erase(order.begin() + (host - pieces.begin()));
  }
  order.insert(order.begin(), host_text);
  diagnostics_.add(
      pieces.front().where,
      fmt::format("a device before a host: {} ({}) comes first, and the host must be a CPU",
                  in_quotes(pieces.front().spelled), first.kind->name),
      fmt::format("write '{}'", join(order, " + ")));
}

std::optional<std::vector<Draft>> TargetReader::stand_alone(const Piece& piece) {
  if (piece.composite || piece.role() == Role::Cpu) return piece.devices;
  const Draft& device = piece.devices.front();
  if (piece.ready_host) return std::vector<Draft>{*piece.ready_host, device};
  const char* role = piece.role() == Role::Accelerator ? "an accelerator" : "a device";
  diagnostics_.add(piece.where,
                   fmt::format("'{}' is {}: it runs parts of a model and needs a host CPU",
                               device.kind->name, role),
                   fmt::format("write '{} + {}'", example_host(*device.kind), piece.spelled));
  return std::nullopt;
}

// A host as the accelerator's own tags have it, or else any CPU there is.
std::string TargetReader::example_host(const KindSpec& accelerator) {
  for (const TagSpec& tag : accelerator.tags) {
    if (!tag.host.empty()) return tag.host;
  }
  for (const KindSpec& kind : catalogue_.kinds()) {
    if (kind.role == Role::Cpu) return kind.tags.empty() ? kind.name : kind.tags.front().name;
  }
  return "<cpu>";
}

bool TargetReader::set_name(Piece& piece, const std::string& name, const std::string& where) {
  if (piece.composite) {
    diagnostics_.add(where, fmt::format("{} names a composite", in_quotes(name)),
                     "name its devices");
    return false;
  }
  if (!is_name(name)) {
    diagnostics_.add(where, fmt::format("{} cannot name a device", in_quotes(name)),
                     "a name begins with a letter and has letters, digits, '_', '.' and '-'");
    return false;
  }
  piece.devices.front().name = name;
  return true;
}

bool TargetReader::takes_attributes(const Piece& piece, const std::string& where) {
  if (!piece.composite) return true;
  diagnostics_.add(
      where, fmt::format("{} is a composite, which has no attributes", in_quotes(piece.spelled)),
      "write its devices, and the attribute with the one that has it");
  return false;
}

const AttributeSpec* TargetReader::find_attribute(const KindSpec& kind, const std::string& name,
                                                  const std::string& where) {
  if (const AttributeSpec* spec = kind.attribute(name)) return spec;
  std::vector<std::string> names;
  for (const AttributeSpec& spec : kind.attributes) names.push_back(spec.name);
  std::string hint = did_you_mean(name, names);
  if (hint.empty() && !names.empty()) hint = "it has " + join(names, ", ");
  diagnostics_.add(where, fmt::format("'{}' has no attribute {}", kind.name, in_quotes(name)),
                   hint);
  return nullptr;
}

}  // namespace intarsia
