#include "build/object_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>
#include <sstream>
#include <string_view>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::build {
namespace {

namespace fs = std::filesystem;

constexpr const char* kVersion = "1";  // of the entries' form
constexpr const char* kEndings[] = {".o", ".ci", ".d"};

// FNV-1a of 128 bits; every item ends with its length, so that moved borders are another hash.
class Hash {
 public:
  void add(std::string_view bytes) {
    for (const char byte : bytes) step(static_cast<unsigned char>(byte));
    for (uint64_t length = bytes.size(), i = 0; i < 8; ++i) step(length >> (8 * i) & 255);
  }
  std::string text() const {
    return fmt::format("{:016x}{:016x}", static_cast<uint64_t>(state_ >> 64),
                       static_cast<uint64_t>(state_));
  }

 private:
  __extension__ using Word = unsigned __int128;

  void step(uint64_t byte) { state_ = (state_ ^ byte) * kPrime; }

  static constexpr Word kPrime = Word{1} << 88 | 0x13b;
  Word state_ = Word{0x6c62272e07bb0142} << 64 | 0x62b821756295c58d;
};

// "size date", or nothing: what tells that a file is another one without reading it.
std::optional<std::string> stamp_of(const std::string& path) {
  struct stat about = {};
  if (stat(path.c_str(), &about) != 0) return std::nullopt;
  return fmt::format("{} {}.{:09}", about.st_size, about.st_mtim.tv_sec, about.st_mtim.tv_nsec);
}

std::optional<std::string> find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  const char* path = std::getenv("PATH");
  std::istringstream folders(path != nullptr ? path : "");
  for (std::string folder; std::getline(folders, folder, ':');)
    if (const std::string file = folder + "/" + name; access(file.c_str(), X_OK) == 0) return file;
  return std::nullopt;
}

// The names in #include lines, whatever conditions they stand under.
std::vector<std::string> included_names(std::string_view text) {
  std::vector<std::string> names;
  for (size_t at = 0; (at = text.find("#include", at)) != std::string_view::npos;) {
    at += std::string_view("#include").size();
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos || (text[begin] != '"' && text[begin] != '<')) continue;
    const size_t end = text.find_first_of("\">\n", begin + 1);
    if (end == std::string_view::npos || text[end] == '\n') continue;
    names.emplace_back(text.substr(begin + 1, end - begin - 1));
  }
  return names;
}

// The source and all that it includes from its own folder or the given ones, each once.
class Inclusions {
 public:
  Inclusions(Hash& hash, const ObjectCache::Source& source) : hash_(hash), source_(source) {}

  bool add(const fs::path& path) {
    if (!seen_.insert(path.lexically_normal()).second) return true;
    const Result<std::string> text = read_text_file((fs::path(source_.directory) / path).string());
    if (!text.ok()) return false;
    hash_.add(path.is_absolute() ? path.filename().string() : path.string());
    hash_.add(*text);
    for (const std::string& name : included_names(*text)) {
      const std::optional<fs::path> found = find(path.parent_path(), name);
      if (found && !add(*found)) return false;
    }
    return true;
  }

 private:
  std::optional<fs::path> find(const fs::path& beside, const std::string& name) const {
    std::error_code error;
    const fs::path root(source_.directory);
    if (fs::is_regular_file(root / beside / name, error)) return beside / name;
    for (const std::string& folder : source_.include_dirs)
      if (fs::is_regular_file(root / folder / name, error)) return fs::path(folder) / name;
    return std::nullopt;  // the system's
  }

  Hash& hash_;
  const ObjectCache::Source& source_;
  std::set<fs::path> seen_;
};

// The absolute paths in what -MD wrote.
std::vector<std::string> system_headers(const std::string& dependencies) {
  std::vector<std::string> paths;
  std::istringstream words(dependencies);
  for (std::string word; words >> word;)
    if (word.starts_with('/') && !word.ends_with(':')) paths.push_back(word);
  return paths;
}

bool are_unchanged(const std::string& stamps) {
  std::istringstream lines(stamps);
  for (std::string line; std::getline(lines, line);) {
    const size_t name = line.find('/');
    if (name == std::string::npos || name == 0) return false;
    if (stamp_of(line.substr(name)) != line.substr(0, name - 1)) return false;
  }
  return true;
}

std::string base_of(const std::string& object) {
  return fs::path(object).replace_extension().string();
}

}  // namespace

ObjectCache ObjectCache::of_user() {
  if (const char* given = std::getenv("INTARSIA_CACHE"))
    return ObjectCache(std::string_view(given) == "off" ? "" : given);
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && cache[0] == '/')
    return ObjectCache(std::string(cache) + "/intarsia");
  if (const char* home = std::getenv("HOME"); home != nullptr && home[0] == '/')
    return ObjectCache(std::string(home) + "/.cache/intarsia");
  return ObjectCache("");
}

std::optional<std::string> ObjectCache::key_of(const Source& source) const {
  if (folder_.empty() || source.command.empty()) return std::nullopt;
  const std::optional<std::string> compiler = find_program(source.command[0]);
  if (!compiler) return std::nullopt;
  std::error_code error;
  const std::string real = fs::canonical(*compiler, error).string();
  const std::optional<std::string> stamp = error ? std::nullopt : stamp_of(real);
  if (!stamp) return std::nullopt;
  Hash hash;
  hash.add(kVersion);
  hash.add(real);
  hash.add(*stamp);
  for (const std::string& word : source.command) hash.add(word);
  if (!Inclusions(hash, source).add(source.path)) return std::nullopt;
  return hash.text();
}

bool ObjectCache::take(const std::string& key, const std::string& object) const {
  const fs::path entry = fs::path(folder_) / "objects" / key;
  const Result<std::string> stamps = read_text_file((entry / "system").string());
  if (!stamps.ok() || !are_unchanged(*stamps)) return false;
  const std::string base = base_of(object);
  std::error_code error;
  for (const char* ending : kEndings) {
    const fs::path kept = entry / (std::string("object") + ending);
    if (std::string_view(ending) != ".o" && !fs::exists(kept, error)) continue;
    fs::copy_file(kept, base + ending, fs::copy_options::overwrite_existing, error);
    if (error) return false;  // somebody trims the cache
  }
  fs::last_write_time(entry, fs::file_time_type::clock::now(), error);
  return true;
}

void ObjectCache::put(const std::string& key, const std::string& object) const {
  const fs::path objects = fs::path(folder_) / "objects";
  std::error_code error;
  fs::create_directories(objects, error);
  if (error) return;
  const interrupt::RemovedPath removed =
      interrupt::RemovedPath::new_folder((objects / ".new-XXXXXX").string());
  if (removed.path().empty()) return;
  const fs::path fresh = removed.path();
  const std::string base = base_of(object);
  bool complete = true;
  for (const char* ending : kEndings) {
    if (!fs::exists(base + ending, error)) continue;
    fs::copy_file(base + ending, fresh / (std::string("object") + ending), error);
    complete &= !error;
  }
  std::string stamps;
  const Result<std::string> dependencies = read_text_file(base + ".d");
  complete &= dependencies.ok();
  if (dependencies.ok())
    for (const std::string& header : system_headers(*dependencies)) {
      const std::optional<std::string> stamp = stamp_of(header);
      complete &= stamp.has_value();
      stamps += fmt::format("{} {}\n", stamp.value_or(""), header);
    }
  complete = complete && write_file((fresh / "system").string(), stamps).ok();
  if (complete) {
    // One that did not hold any more gives way. Of two that come at the same time, one stays.
    fs::rename(fresh, objects / key, error);
    if (error) {
      fs::remove_all(objects / key, error);
      fs::rename(fresh, objects / key, error);
    }
  }
  fs::remove_all(fresh, error);
}

void ObjectCache::trim() const {
  if (folder_.empty()) return;
  struct Entry {
    fs::file_time_type used;
    int64_t bytes = 0;
    fs::path path;
  };
  std::vector<Entry> entries;
  int64_t all = 0;
  std::error_code error;
  for (const fs::directory_entry& folder :
       fs::directory_iterator(fs::path(folder_) / "objects", error)) {
    std::error_code gone;
    Entry entry{folder.last_write_time(gone), 0, folder.path()};
    for (const fs::directory_entry& file : fs::directory_iterator(folder.path(), gone))
      if (const auto size = file.file_size(gone); !gone) entry.bytes += static_cast<int64_t>(size);
    all += entry.bytes;
    entries.push_back(std::move(entry));
  }
  if (all <= most_bytes_) return;
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.used < b.used; });
  for (const Entry& entry : entries) {
    if (all <= most_bytes_ / 4 * 3) break;
    std::error_code gone;
    fs::remove_all(entry.path, gone);
    all -= entry.bytes;
  }
}

}  // namespace intarsia::build
