// Back from targets to tags, and members by the tag that describes them.
#include <fmt/format.h>

#include <algorithm>

#include "draft.h"
#include "intarsia/target.h"
#include "member_names.h"
#include "quoted_text.h"
#include "target_reader.h"

namespace intarsia {

namespace {

// The one member a tag stands for beside a host; nothing for tags of composites and broken ones.
std::optional<Target> member_of_tag(const TargetCatalogue& catalogue, const TagSpec& tag) {
  Diagnostics ignored;
  const std::optional<Piece> piece = TargetReader(catalogue, ignored).expand_tag(tag, {});
  if (!piece || piece->composite) return std::nullopt;
  return TargetBuilder::complete(piece->members.front(), ignored);
}

bool same_but_name(const Target& a, const Target& b) {
  return a.kind == b.kind && a.attributes == b.attributes;
}

}  // namespace

std::optional<std::string> to_tag(const TargetCatalogue& catalogue, const TargetSpec& target) {
  const auto is_target = [&](const std::string& text) {
    const Result<TargetSpec> parsed = parse_target(catalogue, text);
    return parsed && *parsed == target;
  };
  for (const TagSpec& tag : catalogue.tags()) {
    if (is_target(tag.name)) return tag.name;
  }
  const std::vector<bool> named = names_to_write(target.members());
  std::string text;
  for (size_t i = 0; i < target.members().size(); ++i) {
    const Target& member = target.members()[i];
    const auto tag = std::find_if(
        catalogue.tags().begin(), catalogue.tags().end(), [&](const TagSpec& candidate) {
          const std::optional<Target> described = member_of_tag(catalogue, candidate);
          return described && same_but_name(*described, member);
        });
    if (tag == catalogue.tags().end()) return std::nullopt;
    if (i != 0) text += "+";
    if (named[i]) text += member.name + ":";
    text += tag->name;
  }
  // A tag may bring a name of its own that the member does not have.
  if (!is_target(text)) return std::nullopt;
  return text;
}

Result<const Target*> find_member(const TargetCatalogue& catalogue, const TargetSpec& target,
                                  std::string_view text, const std::string& where) {
  if (const Target* named = target.member(text)) return named;
  std::vector<std::string> names;
  for (const Target& member : target.members()) names.push_back(member.name);
  std::vector<const Target*> described;
  if (const TagSpec* tag = catalogue.tag(text)) {
    const std::optional<Target> wanted = member_of_tag(catalogue, *tag);
    for (const Target& member : target.members()) {
      if (wanted && same_but_name(*wanted, member)) described.push_back(&member);
    }
  }
  if (described.size() == 1) return described.front();
  if (described.size() > 1) {
    names.clear();
    for (const Target* member : described) names.push_back(member->name);
    return Diagnostics(where, fmt::format("several members are {}", in_quotes(text)),
                       "name one of " + join(names, ", "));
  }
  std::string hint = did_you_mean(text, names);
  if (hint.empty()) hint = "the members are " + join(names, ", ");
  return Diagnostics(where, fmt::format("the target has no member {}", in_quotes(text)), hint);
}

}  // namespace intarsia
