#include "packaging/headers_apart.h"

#include <algorithm>

namespace intarsia::packaging {
namespace {

void add_included(const ReadFiles& files, const std::string& path, std::set<std::string>& found) {
  const auto file = files.find(path);
  if (file == files.end()) return;
  for (const std::string& included : file->second.includes)
    if (found.insert(included).second) add_included(files, included, found);
}

std::set<std::string> included_by(const ReadFiles& files, const std::string& path) {
  std::set<std::string> found;
  add_included(files, path, found);
  return found;
}

// Headers for several sources: they say how one calls another.
std::set<std::string> headers_between(const ReadFiles& files, const std::string& model) {
  std::set<std::string> called;
  for (const auto& [path, file] : files)
    called.insert(file.text.defines.begin(), file.text.defines.end());
  std::set<std::string> between = included_by(files, model);
  for (const auto& [path, file] : files) {
    const bool declares = std::ranges::any_of(
        file.text.declares, [&](const std::string& name) { return called.contains(name); });
    if (!path.ends_with(".h") || !declares) continue;
    between.insert(path);
    between.merge(included_by(files, path));
  }
  return between;
}

// The files that define each name.
std::map<std::string, std::set<std::string>> owners_of(const ReadFiles& files) {
  std::map<std::string, std::set<std::string>> owners;
  for (const auto& [path, file] : files)
    for (const std::string& name : own_names(file.text)) owners[name].insert(path);
  return owners;
}

}  // namespace

std::set<std::string> own_names(const CText& text) {
  std::set<std::string> names = text.locals;
  names.insert(text.macros.begin(), text.macros.end());
  names.insert(text.tags.begin(), text.tags.end());
  return names;
}

std::set<std::string> headers_apart(const ReadFiles& files, const std::string& model) {
  const auto owners = owners_of(files);
  const std::set<std::string> between = headers_between(files, model);
  std::map<std::string, std::set<std::string>> included;
  for (const auto& [path, file] : files)
    if (path.ends_with(".h") && !between.contains(path)) included[path] = included_by(files, path);

  std::set<std::string> apart;
  for (const auto& [path, below] : included)
    if (std::ranges::any_of(own_names(files.at(path).text),
                            [&](const std::string& name) { return owners.at(name).size() > 1; }))
      apart.insert(path);
  // What stands on a name that a source or another header that stands apart gives it does so too.
  const auto depends = [&](const std::string& path, const std::set<std::string>& below) {
    if (std::ranges::any_of(below, [&](const std::string& each) { return apart.contains(each); }))
      return true;
    const CText& text = files.at(path).text;
    return std::ranges::any_of(text.uses, [&](const std::string& name) {
      const auto found = owners.find(name);
      return found != owners.end() && !found->second.contains(path) &&
             std::ranges::none_of(
                 found->second, [&](const std::string& owner) { return below.contains(owner); }) &&
             std::ranges::any_of(found->second, [&](const std::string& owner) {
               return !owner.ends_with(".h") || apart.contains(owner);
             });
    });
  };
  for (bool more = true; more;) {
    more = false;
    for (const auto& [path, below] : included)
      if (!apart.contains(path) && depends(path, below)) more = apart.insert(path).second;
  }
  return apart;
}

}  // namespace intarsia::packaging
