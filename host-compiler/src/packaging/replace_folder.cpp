#include "packaging/replace_folder.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::packaging {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAside = ".intarsia-new";

Diagnostics failure(const fs::path& path, const std::string& what, const std::error_code& why) {
  return file_failure(path.string(), what, why);
}

bool holds(const fs::path& file, const SourceFile& wanted) {
  std::ifstream in(file, std::ios::binary);
  bool same = in.is_open();
  std::string there;
  wanted.write_to([&](std::string_view piece) {
    there.resize(piece.size());
    same =
        same && in.read(there.data(), static_cast<std::streamsize>(there.size())) && there == piece;
  });
  return same && in.peek() == std::ifstream::traits_type::eof();
}

class Replacement {
 public:
  Replacement(const NewFolder& wanted, FileOperations& operations)
      : wanted_(wanted), operations_(operations) {
    std::error_code error;
    target_ = fs::weakly_canonical(fs::absolute(wanted.folder, error), error);
    if (target_.filename().empty()) target_ = target_.parent_path();
    for (const SourceFile& file : wanted.files) fresh_.emplace(file.path, &file);
  }

  Result<void> run() {
    std::error_code error;
    there_ = fs::exists(target_, error);
    if (there_ && !fs::is_directory(target_, error))
      return Diagnostics(wanted_.folder, "cannot be made: is a file", "name another folder");
    INTARSIA_TRY_VOID(look());
    if (is_where_we_are()) return replace_from_inside();
    aside_ = target_.parent_path() / fmt::format(".{}{}", target_.filename().string(), kAside);
    if (const std::error_code why = make_beside()) {
      // A folder that we may write into, in one that we may not.
      if (there_) return replace_from_inside();
      return failure(wanted_.folder, "cannot be made", why);
    }
    bool swapped = true;
    INTARSIA_TRY_VOID(fill_and([&] { return swap(swapped); }));
    if (swapped) return {};
    return replace_from_inside();
  }

 private:
  // The other files of the folder, and what of them is in the way.
  Result<void> look() {
    if (!there_) return {};
    std::error_code error;
    for (const SourceFile& file : wanted_.files) {
      const fs::path path(file.path);
      if (fs::is_directory(target_ / path, error))
        return Diagnostics((wanted_.folder / path).string(), "cannot be written: is a folder",
                           "move it away, or name another folder");
      for (fs::path parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
        if (fs::exists(target_ / parent, error) && !fs::is_directory(target_ / parent, error) &&
            !wanted_.earlier.contains(parent.generic_string()))
          return Diagnostics((wanted_.folder / parent).string(), "cannot be made: is a file",
                             "move it away, or name another folder");
    }
    fs::recursive_directory_iterator it(target_, error), end;
    for (; !error && it != end; it.increment(error)) {
      // By its text: a symbolic link is itself, and not what it leads to.
      const std::string path = it->path().lexically_relative(target_).generic_string();
      if (path == kAside) {
        it.disable_recursion_pending();
      } else if (it->is_directory(error) && !it->is_symlink(error)) {
        folders_.push_back(path);
      } else if (wanted_.earlier.contains(path)) {
        if (!fresh_.contains(path)) stale_.push_back(path);
      } else if (const auto mine = fresh_.find(path); mine == fresh_.end()) {
        others_.push_back(path);
      } else if (!wanted_.overwrite && !holds(it->path(), *mine->second)) {
        return Diagnostics((wanted_.folder / fs::path(path)).string(),
                           "is not of an earlier 'intarsia compile' and would be overwritten",
                           "move it away, or name another folder");
      }
    }
    if (error) return failure(wanted_.folder, "cannot be read", error);
    return {};
  }

  std::error_code make_beside() {
    if (const std::error_code why = operations_.make_folders(target_.parent_path())) return why;
    (void)operations_.remove_all(aside_);  // of a compilation that was interrupted
    return operations_.make_folders(aside_);
  }

  template <typename Then>
  Result<void> fill_and(const Then& then) {
    Result<void> result = fill();
    if (result.ok()) result = then();
    (void)operations_.remove_all(aside_);
    return result;
  }

  Result<void> fill() {
    std::set<fs::path> made;
    for (const SourceFile& file : wanted_.files) {
      const fs::path path = aside_ / file.path;
      std::error_code why;
      if (made.insert(path.parent_path()).second)
        why = operations_.make_folders(path.parent_path());
      if (!why) why = operations_.write(path, [&](const TextSink& sink) { file.write_to(sink); });
      if (why) return failure(wanted_.folder, "cannot be written", why);
    }
    return {};
  }

  // Whether a program, ours or the shell that started it, would be left in a folder that is gone.
  bool is_where_we_are() const {
    std::error_code error;
    for (fs::path at = fs::current_path(error); !error; at = at.parent_path()) {
      if (there_ && fs::equivalent(at, target_, error)) return true;
      if (!at.has_relative_path()) return false;
    }
    return false;
  }

  // False in `swapped`: the two folders cannot change places, and nothing has changed.
  Result<void> swap(bool& swapped) {
    std::error_code why;
    if (!there_) {
      why = operations_.rename(aside_, target_);
      if (why) return failure(wanted_.folder, "cannot be made", why);
      return {};
    }
    // Folders of people's own, those without files too; not those that only earlier files were in.
    const auto only_earlier = [&](const std::string& folder) {
      const auto inside = [&](const std::string& path) { return path.starts_with(folder + "/"); };
      return std::ranges::none_of(others_, inside) && std::ranges::any_of(wanted_.earlier, inside);
    };
    for (const std::string& folder : folders_)
      if (!why && !only_earlier(folder)) why = operations_.make_folders(aside_ / folder);
    for (const std::string& path : others_)
      if (!why) why = operations_.link(target_ / path, aside_ / path);
    if (why) return failure(wanted_.folder, "cannot be written", why);
    std::error_code ignored;
    fs::permissions(aside_, fs::status(target_, ignored).permissions(), ignored);
    swapped = !operations_.exchange(aside_, target_);
    return {};
  }

  // The new files are made inside the folder: what lies beside a mount point is on another file system, from which
  // files cannot be moved.
  Result<void> replace_from_inside() {
    aside_ = target_ / kAside;
    (void)operations_.remove_all(aside_);
    if (const std::error_code why = operations_.make_folders(aside_))
      return failure(wanted_.folder, "cannot be written", why);
    return fill_and([&] { return replace_each(); });
  }

  // From here on the folder is neither the old one nor the new one until the guard's own file is in place.
  Result<void> replace_each() {
    const auto give_up = [&](const std::string& path, const std::error_code& why) {
      return failure(wanted_.folder / fs::path(path), "cannot be written", why);
    };
    const std::string guard_aside = wanted_.guard + ".part";
    std::error_code why = operations_.write(
        aside_ / guard_aside, [&](const TextSink& sink) { sink(wanted_.guard_text); });
    if (!why) why = operations_.rename(aside_ / guard_aside, target_ / wanted_.guard);
    if (why) return give_up(wanted_.guard, why);
    for (const std::string& path : stale_)
      if ((why = operations_.remove(target_ / path))) return give_up(path, why);
    for (const SourceFile& file : wanted_.files) {
      if (file.path == wanted_.guard) continue;
      const fs::path path = target_ / file.path;
      why = operations_.make_folders(path.parent_path());
      if (!why) why = operations_.rename(aside_ / file.path, path);
      if (why) return give_up(file.path, why);
    }
    // Folders that are empty now; the innermost come last in the list.
    for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) {
      const auto inside = [&](const std::string& path) { return path.starts_with(*folder + "/"); };
      if (std::ranges::any_of(stale_, inside)) (void)operations_.remove(target_ / *folder);
    }
    why = operations_.rename(aside_ / wanted_.guard, target_ / wanted_.guard);
    if (why) return give_up(wanted_.guard, why);
    return {};
  }

  const NewFolder& wanted_;
  FileOperations& operations_;
  fs::path target_, aside_;
  bool there_ = false;
  std::map<std::string, const SourceFile*> fresh_;
  std::vector<std::string> others_, stale_, folders_;  // of the target, by their paths in it
};

}  // namespace

Result<void> replace_folder(const NewFolder& wanted, FileOperations& operations) {
  return Replacement(wanted, operations).run();
}

}  // namespace intarsia::packaging
