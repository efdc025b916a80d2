// Placement that the user asks for: --section weights=.qspi, --section conv_1_weights=.itcm, --section sram=.dtcm.
#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "emission/model_text.h"

namespace intarsia::emission {
namespace {

constexpr std::string_view kWeights = "weights", kStreams = "streams";

}  // namespace

static bool is_section_name(const std::string& name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '_' || c == '$' ||
           c == ',' || c == '-';
  });
}

std::string asked_section(const ModelContext& context, const std::string& name,
                          const std::string& kind) {
  const auto& sections = context.options.sections;
  for (const std::string& asked : {name, kind})
    if (const auto found = sections.find(asked); !asked.empty() && found != sections.end())
      return found->second;
  return "";
}

std::string section_attribute(const ModelContext& context, const std::string& name,
                              const std::string& kind, const std::string& otherwise) {
  const std::string section = asked_section(context, name, kind);
  return section.empty() ? otherwise : fmt::format("INTARSIA_SECTION(\"{}\")", section);
}

std::vector<std::string> placeable_objects(const ModelContext& context) {
  std::vector<std::string> names;
  if (!context.model.streams.empty()) names.emplace_back(kStreams);
  for (const int pool : context.pools)
    names.push_back(context.plan.memory.pools[static_cast<size_t>(pool)].name);
  bool in_object_file = false;
  for (size_t i = 0; i < context.module.constants.size(); ++i) {
    const tir::Constant& constant = context.module.constants[i];
    if (constant.use == tir::ConstantUse::Stream) continue;
    if (is_in_object_file(context, {static_cast<int32_t>(i)}))
      in_object_file = true;
    else
      names.push_back(constant.name);
  }
  if (!in_object_file) names.emplace_back(kWeights);
  return names;
}

}  // namespace intarsia::emission

namespace intarsia {

Result<void> check_sections(const std::map<std::string, std::string>& sections,
                            const std::vector<std::string>& objects) {
  Diagnostics problems;
  const auto has = [&](const std::string& object) {
    return std::find(objects.begin(), objects.end(), object) != objects.end();
  };
  const bool has_weights = has(std::string(emission::kWeights));
  for (const auto& [object, section] : sections) {
    const std::string where = fmt::format("--section {}={}", object, section);
    if (!emission::is_section_name(section))
      problems.add(where, "is no name of a section", "for example .qspi or .dtcm_data");
    if (has(object)) continue;
    if (!has_weights) {
      problems.add(where,
                   "constants of the model are in an object file, where nothing else places them",
                   "name a memory or 'streams', or compile for kind c");
      continue;
    }
    const std::string near = nearest_name(object, objects);
    problems.add(where, fmt::format("the model has no constant and no memory called '{}'", object),
                 near.empty()
                     ? "name 'weights', 'streams', a memory of the board, or a constant as "
                       "<model>_data.h calls it, without the model's name"
                     : fmt::format("did you mean '{}'?", near));
  }
  if (!problems.empty()) return problems;
  return {};
}

}  // namespace intarsia
