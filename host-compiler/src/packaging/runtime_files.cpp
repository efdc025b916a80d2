#include "packaging/runtime_files.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "packaging/c_text.h"

namespace intarsia::packaging {
namespace {

bool is_code(const std::string& path) {
  return path.ends_with(".c") || path.ends_with(".cpp") || path.ends_with(".h") ||
         path.ends_with(".def") || path.ends_with(".S");
}

class Selection {
 public:
  explicit Selection(const std::vector<SourceFile>& available) {
    for (const SourceFile& file : available) {
      const auto place = texts_.emplace(file.path, Text{&file.text, std::nullopt}).first;
      if (file.path.ends_with(".c"))
        for (const std::string& name : text_of(place->first).defines)
          source_of_[name].push_back(file.path);
    }
  }

  // The file's own names, and what they lead to.
  void need(const std::string& path, const CText& text) {
    for (const std::string& name : text.uses)
      if (const auto found = source_of_.find(name); found != source_of_.end())
        for (const std::string& source : found->second) need(source);
    for (const std::string& name : text.includes)
      if (const std::string* header = find(path, name)) need(*header);
  }
  void need(const std::string& path) {
    if (texts_.contains(path) && needed_.insert(path).second) need(path, text_of(path));
  }
  bool needs(const std::string& path) const { return needed_.contains(path); }

  // The headers that `name` collects and whose names are used; `name` itself where it is not such a header.
  std::vector<std::string> used_headers(const std::string& from, const std::string& name,
                                        const std::set<std::string>& used) const {
    const std::string* path = find(from, name);
    if (path == nullptr || !text_of(*path).only_includes) return {name};
    std::vector<std::string> headers;
    for (const std::string& collected : text_of(*path).includes) {
      const std::string* header = find(*path, collected);
      if (header == nullptr || declares_any(text_of(*header), used)) headers.push_back(collected);
    }
    return headers;
  }

  // The text of a header that warns, or includes one that does, with what it includes; empty for any other. Nothing of such
  // a header is called, and a model's source holds it, so that the warning is there once and in no file of its own.
  std::string warning_text(const std::string& from, const std::string& name) const {
    const std::string* path = find(from, name);
    if (path == nullptr || !warns(*path)) return "";
    std::string text = *texts_.find(*path)->second.original;
    for (const std::string& included : text_of(*path).includes) {
      const std::string line = "#include \"" + included + "\"\n";
      if (const std::string inner = warning_text(*path, included); !inner.empty())
        text.replace(text.find(line), line.size(), inner);
    }
    return text;
  }

 private:
  bool warns(const std::string& path) const {
    const CText& text = text_of(path);
    return path.ends_with(".h") &&
           (text.warns ||
            std::any_of(text.includes.begin(), text.includes.end(), [&](const std::string& name) {
              const std::string* included = find(path, name);
              return included != nullptr && warns(*included);
            }));
  }
  static bool declares_any(const CText& header, const std::set<std::string>& used) {
    return std::any_of(header.declares.begin(), header.declares.end(),
                       [&](const std::string& name) { return used.contains(name); });
  }
  // A header beside the file that includes it, or below the root.
  const std::string* find(const std::string& from, const std::string& name) const {
    for (const std::string& path : {folder_of(from) + name, name})
      if (const auto found = texts_.find(path); found != texts_.end()) return &found->first;
    return nullptr;
  }

  // Most headers are of other models: what a file says is read when somebody asks.
  struct Text {
    const std::string* original = nullptr;
    std::optional<CText> read;
  };
  const CText& text_of(const std::string& path) const {
    Text& text = texts_.find(path)->second;
    if (!text.read) text.read = read_c_text(*text.original);
    return *text.read;
  }

  mutable std::map<std::string, Text> texts_;  // by path
  std::map<std::string, std::vector<std::string>>
      source_of_;  // the sources in C that define a function
  std::set<std::string> needed_;
};

constexpr std::string_view kInclude = "#include \"";

// Which files include what, line by line.
class Users {
 public:
  explicit Users(const std::vector<SourceFile>& files) : includes_(files.size()) {
    for (size_t file = 0; file < files.size(); ++file) {
      const std::string_view text = files[file].text;
      for (size_t at = text.find(kInclude); at != std::string_view::npos;
           at = text.find(kInclude, at + 1)) {
        const size_t begin = at + kInclude.size(), end = text.find('"', begin);
        if (end == std::string_view::npos) break;
        includes_[file].emplace_back(text.substr(begin, end - begin));
        users_[includes_[file].back()].push_back(file);
      }
    }
  }

  // The one file that includes `part`, and once; none where there are more of them or none.
  std::optional<size_t> only_user(const std::string& path, size_t part) const {
    const auto found = users_.find(path);
    if (found == users_.end() || found->second.size() != 1 || found->second.front() == part)
      return std::nullopt;
    return found->second.front();
  }
  // The part stands in its user's text: what it includes, that one does.
  void move(size_t part, size_t user) {
    for (const std::string& name : includes_[part]) {
      std::ranges::replace(users_[name], part, user);
      includes_[user].push_back(name);
    }
    includes_[part].clear();
  }

 private:
  std::vector<std::vector<std::string>> includes_;  // by file
  std::map<std::string, std::vector<size_t>> users_;
};

// A table (.def) of one file alone stands in that file: there is nothing else to look it up for. So does a header of one
// header of the same folder, if that does more than collect. It depends on the whole runtime, not on the model, so that a
// file is the same for all models.
std::vector<SourceFile> with_own_parts(std::vector<SourceFile> files) {
  std::set<std::string> written;
  Users users(files);
  for (size_t index = 0; index < files.size(); ++index) {
    SourceFile& part = files[index];
    const bool header = part.path.ends_with(".h");
    if (!header && !part.path.ends_with(".def")) continue;
    const std::optional<size_t> place = users.only_user(part.path, index);
    if (!place) continue;
    SourceFile* const user = &files[*place];
    if (header && (!user->path.ends_with(".h") || folder_of(user->path) != folder_of(part.path) ||
                   read_c_text(user->text).only_includes))
      continue;
    const size_t include = user->text.find(std::string(kInclude) + part.path + '"');
    const size_t next_line =
        user->text.find('\n', include) + 1;  // a remark may stand behind the name
    user->text.replace(include, next_line - include, part.text);
    part.text.clear();
    users.move(index, *place);
    written.insert(part.path);
  }
  std::erase_if(files, [&](const SourceFile& file) { return written.contains(file.path); });
  return files;
}

// The text with each #include of a collecting header, or of one that warns, replaced. Lines stay as they are otherwise.
std::string with_used_headers(const std::string& path, const std::string& text, const CText& read,
                              const Selection& selection) {
  std::string out;
  std::set<std::string> written;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::optional<std::string> name = included_name(line);
    if (!name) {
      out.append(line).append("\n");
      continue;
    }
    if (const std::string warning = selection.warning_text(path, *name); !warning.empty()) {
      out.append(warning);
      continue;
    }
    for (const std::string& header : selection.used_headers(path, *name, read.uses))
      if (written.insert(header).second) out.append(kInclude).append(header).append("\"\n");
  }
  return out;
}

}  // namespace

void add_runtime_files(std::vector<SourceFile> runtime, std::vector<SourceFile>& package) {
  const std::vector<SourceFile> available = with_own_parts(std::move(runtime));
  Selection selection(available);
  for (SourceFile& file : package) {
    if (!is_code(file.path)) continue;
    const CText read = read_c_text(file.text);
    std::string text = with_used_headers(file.path, file.text, read, selection);
    const bool changed = text != file.text;
    file.text = std::move(text);
    selection.need(file.path, changed ? read_c_text(file.text) : read);
  }
  for (const SourceFile& file : available)
    if (file.path.ends_with(".cpp")) selection.need(file.path);
  std::copy_if(available.begin(), available.end(), std::back_inserter(package),
               [&](const SourceFile& file) { return selection.needs(file.path); });
}

}  // namespace intarsia::packaging
