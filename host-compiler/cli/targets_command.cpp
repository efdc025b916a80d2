#include "targets_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "messages.h"
#include "target/target_json.h"
#include "text_table.h"

namespace intarsia::cli {

namespace {

using Row = std::vector<std::string>;

// What is described stands out: the first column.
std::string table(const std::vector<Row>& rows, const Terminal& terminal,
                  bool has_heading = false) {
  std::vector<TableRow> cells;
  for (const Row& row : rows) {
    cells.emplace_back();
    for (const std::string& cell : row)
      cells.back().push_back({cell, cells.back().empty() ? Tint::Name : Tint::Plain});
  }
  return table_text(cells, terminal, {.indent = 2, .has_heading = has_heading});
}

std::string title(const std::string& text, const Terminal& terminal) {
  return tinted(terminal, Tint::Heading, text) + "\n";
}

std::string default_text(const AttributeSpec& attribute) {
  if (attribute.required) return "(required)";
  if (!attribute.default_value) return "(none)";
  const std::string text = to_string(*attribute.default_value);
  return text.empty() ? "(empty)" : text;
}

std::string expansion_text(const TagSpec& tag) {
  return tag.host.empty() ? tag.expansion : fmt::format("[{}] + {}", tag.host, tag.expansion);
}

std::vector<Row> tag_rows(const std::vector<TagSpec>& tags, const std::string& origin) {
  std::vector<Row> rows;
  for (const TagSpec& tag : tags) {
    if (!origin.empty() && tag.origin != origin) continue;
    rows.push_back({tag.name, tag.summary, expansion_text(tag)});
  }
  return rows;
}

std::string catalogue_text(const TargetCatalogue& catalogue, const Terminal& terminal) {
  std::string text = title("Target kinds", terminal);
  std::vector<Row> rows;
  for (const KindSpec& kind : catalogue.kinds()) {
    rows.push_back({kind.name, role_name(kind.role), kind.summary});
  }
  text += table(rows, terminal) + "\n" +
          title("Tags (in brackets: the host when the tag is used alone)", terminal);
  text += table(tag_rows(catalogue.tags(), {}), terminal);
  return text +
         fmt::format("\nCompose with '+', the host first: --target {}.\n",
                     example_target(catalogue).composed) +
         "Attributes of a kind: intarsia targets NAME. Values of a target: intarsia targets "
         "TARGET.\n";
}

std::string kind_text(const TargetCatalogue& catalogue, const KindSpec& kind,
                      const Terminal& terminal) {
  std::string text = fmt::format("{} ({}): {}\n", kind.name, role_name(kind.role), kind.summary);
  std::vector<Row> rows = {{"attribute", "default", "help", "values"}};
  for (const AttributeSpec& spec : kind.attributes) {
    rows.push_back({"-" + spec.name, default_text(spec), spec.help, describe_type(spec)});
  }
  text +=
      kind.attributes.empty() ? "\nIt has no attributes.\n" : "\n" + table(rows, terminal, true);
  const std::vector<Row> tags = tag_rows(catalogue.tags(), kind.name);
  if (!tags.empty()) text += "\n" + title("Tags", terminal) + table(tags, terminal);
  return text;
}

std::string target_text(const TargetCatalogue& catalogue, const TargetSpec& target,
                        const Terminal& terminal) {
  std::string text = table({{"target string", to_string(target)},
                            {"JSON", to_json(target)},
                            {"tag", to_tag(catalogue, target).value_or("(none)")}},
                           terminal);
  for (const Target& device : target.devices()) {
    const KindSpec& kind = *catalogue.kind(device.kind);
    text += fmt::format("\n{}: {} ({})\n", device.name, device.kind, role_name(kind.role));
    std::vector<Row> rows;
    for (const AttributeSpec& spec : kind.attributes) {
      const AttributeValue* value = device.attributes.find(spec.name);
      const bool written = device.attributes.written(spec.name);
      rows.push_back({"-" + spec.name + "=" + (value ? to_string(*value) : ""),
                      value == nullptr ? "not set"
                      : written        ? ""
                                       : "follows",
                      spec.help});
    }
    text += table(rows, terminal);
  }
  return text;
}

}  // namespace

ExampleTarget example_target(const TargetCatalogue& catalogue) {
  // A host that is nothing but a kind is this machine, and examples are of chips.
  const auto names_a_core = [](const TagSpec& host) {
    return host.expansion.find(' ') != std::string::npos;
  };
  for (const TagSpec& device : catalogue.tags())
    for (const TagSpec& host : catalogue.tags())
      if (!device.host.empty() && device.host == host.expansion && names_a_core(host))
        return {host.name + "+" + device.name, device.name,
                device.expansion.substr(0, device.expansion.find(' '))};
  return {};
}

Result<std::string> describe_targets(const TargetCatalogue& catalogue,
                                     const std::optional<std::string>& name, bool json,
                                     const Terminal& terminal) {
  if (json) return targets_json(catalogue, name);
  if (!name) return catalogue_text(catalogue, terminal);
  if (const KindSpec* kind = catalogue.kind(*name)) return kind_text(catalogue, *kind, terminal);
  INTARSIA_TRY(const TargetSpec target, parse_target(catalogue, *name, "targets"));
  const TagSpec* tag = catalogue.tag(*name);
  const std::string heading =
      tag == nullptr ? ""
                     : fmt::format("{} (from {}): {}\n\n", tag->name, tag->origin, tag->summary);
  return heading + target_text(catalogue, target, terminal);
}

int run_targets_command(const TargetCatalogue& catalogue, std::optional<std::string> name,
                        bool json) {
  const Result<std::string> text = describe_targets(catalogue, name, json, output_terminal());
  if (!text) {
    return fail(text.error());
  }
  std::fputs(text->c_str(), stdout);
  return 0;
}

}  // namespace intarsia::cli
