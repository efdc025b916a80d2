// A package as one .c and one .h: every header once, in front of the first that needs it, the model, and behind it the
// sources of the runtime, with such headers before them as are theirs alone.
#include <algorithm>
#include <functional>
#include <map>
#include <set>

#include <fmt/format.h>

#include "intarsia/package.h"
#include "packaging/build_glue.h"
#include "packaging/headers_apart.h"

namespace intarsia {
namespace {

using packaging::folder_of;

std::string stem_of(const std::string& path) {
  const size_t begin = folder_of(path).size();
  return path.substr(begin, path.rfind('.') - begin);
}

class Amalgamation {
 public:
  explicit Amalgamation(const PackageContents& package) : model_(package.manifest.model) {
    for (const SourceFile& file : package.files) files_.emplace(file.path, &file);
  }

  // The model's header, with those of the runtime that it includes.
  std::string header() {
    std::string text;
    append(model_ + ".h", text);
    return text;
  }

  // The model's source: what comes before its weights, and what comes behind them.
  std::pair<std::string, std::string> source(const std::vector<std::string>& runtime) {
    read(runtime);
    std::string before = file_names(runtime);
    std::string text;
    append(model_ + ".c", text);
    for (const std::string& path : runtime) append_apart(path, text);
    const size_t data = text.find(kData);
    before += text.substr(0, data);
    return {before, data == std::string::npos ? "" : text.substr(data + kData.size())};
  }

 private:
  static constexpr std::string_view kData =
      "/* weights */\n";  // behind which come the arrays of <model>_data.h

  // Other models of a program have the same functions, maybe from another version.
  std::string file_names(const std::vector<std::string>& runtime) const {
    std::string text = fmt::format(
        "/* {0}: the model, its weights and all that it calls, in one file. Generated file. */\n\n"
        "/* Functions of the runtime, under names of this model. */\n",
        model_);
    for (const std::string& path : runtime)
      for (const std::string& name : read_.at(path).text.defines)
        text += fmt::format("#define {0} {1}_{0}\n", name, model_);
    return text +
           "\n#if defined(__clang__)\n"
           "#pragma clang diagnostic ignored \"-Wunused-function\" /* inline ones, of headers */\n"
           "#endif\n\n";
  }

  const SourceFile* find(const std::string& from, const std::string& name) const {
    for (const std::string& path : {folder_of(from) + name, name})
      if (const auto found = files_.find(path); found != files_.end()) return found->second;
    return nullptr;
  }

  // What the model and the runtime say of themselves, and what names can therefore not be used again.
  void read(const std::vector<std::string>& runtime) {
    const auto add = [&](const std::string& path) {
      packaging::ReadFile& file = read_[path];
      file.text = packaging::read_c_text(files_.at(path)->text);
      for (const std::string& name : file.text.includes)
        if (const SourceFile* included = find(path, name)) file.includes.insert(included->path);
    };
    for (const auto& [path, file] : files_)
      if (path.ends_with(".h") || path.ends_with(".def")) add(path);
    add(model_ + ".c");
    for (const std::string& path : runtime) add(path);
    apart_ = packaging::headers_apart(read_, model_ + ".c");
    for (const auto& [path, file] : read_)
      if ((path.ends_with(".h") && !apart_.contains(path)) || path == model_ + ".c")
        taken_.merge(own_names(file.text));
  }

  // The file's text with what it includes; headers that are in the text already are left out.
  void append(const std::string& path, std::string& text) {
    lines_of(path, [&](std::string_view line, const SourceFile* included) {
      if (included == nullptr || included->path == model_ + ".h") {
        text.append(line).append("\n");
      } else if (included->path == model_ + "_data.h") {
        append(included->path, text);
        text += kData;
      } else if (included->path.ends_with(".def") || headers_.insert(included->path).second) {
        append(included->path, text);
      }
    });
  }

  // A source of the runtime, and the headers that stand apart, as one piece: what they include besides is put in front of
  // it. Names that stand elsewhere already get the source's own in front.
  struct Piece {
    std::string text;
    std::set<std::string> headers, names, macros, tags;
  };
  void append_apart(const std::string& path, std::string& text) {
    Piece piece;
    add_to_piece(path, piece, text);
    packaging::OtherNames renamed, tags;
    const auto find_taken = [&](const std::set<std::string>& names, packaging::OtherNames& others) {
      for (const std::string& name : names)
        if (taken_.contains(name)) others[name] = stem_of(path) + "_" + name;
    };
    find_taken(piece.names, renamed), find_taken(piece.macros, renamed),
        find_taken(piece.tags, tags);
    taken_.merge(piece.names), taken_.merge(piece.tags);  // macros end with the piece
    text += fmt::format("\n/* ---- {} ---- */\n", path) +
            packaging::with_names(piece.text, renamed, tags);
    for (const std::string& name : piece.macros)
      text += fmt::format("#undef {}\n", renamed.contains(name) ? renamed.at(name) : name);
  }
  void add_to_piece(const std::string& path, Piece& piece, std::string& in_front) {
    const packaging::CText& own = read_.at(path).text;
    piece.names.insert(own.locals.begin(), own.locals.end());
    piece.macros.insert(own.macros.begin(), own.macros.end());
    piece.tags.insert(own.tags.begin(), own.tags.end());
    lines_of(path, [&](std::string_view line, const SourceFile* included) {
      if (included == nullptr)
        piece.text.append(line).append("\n");
      else if (included->path.ends_with(".def") ||
               (apart_.contains(included->path) && piece.headers.insert(included->path).second))
        add_to_piece(included->path, piece, in_front);
      else if (!apart_.contains(included->path) && headers_.insert(included->path).second)
        append(included->path, in_front);
    });
  }

  // Each line, with the file of the package that it includes, if it does.
  void lines_of(const std::string& path,
                const std::function<void(std::string_view, const SourceFile*)>& take) const {
    const std::string& text = files_.at(path)->text;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      const std::string_view line = std::string_view(text).substr(begin, end - begin);
      begin = end + 1;
      const auto name = packaging::included_name(line);
      take(line, name ? find(path, *name) : nullptr);
    }
  }

  std::string model_;
  std::map<std::string, const SourceFile*> files_;
  packaging::ReadFiles read_;
  std::set<std::string> apart_;    // headers
  std::set<std::string> headers_;  // that are in the text
  std::set<std::string> taken_;    // names that mean something in it
};

}  // namespace

Result<PackageContents> single_file_package(const PackageContents& whole) {
  INTARSIA_TRY(const PackageContents package, without_weights_files(whole, "--single-file"));
  PackageManifest manifest = package.manifest;
  if (!manifest.devices.empty() || !manifest.parts.empty())
    return Diagnostics(
        "--single-file",
        fmt::format("{} needs more than one C file: {}", manifest.model,
                    manifest.parts.empty() ? "its devices have drivers in C++"
                                           : "it runs on several cores, a program for each"),
        "leave --single-file out");
  const auto& program = manifest.program_sources;
  std::vector<std::string> runtime;
  for (const std::string& source : manifest.sources)
    if (source != manifest.model + ".c" &&
        std::find(program.begin(), program.end(), source) == program.end())
      runtime.push_back(source);

  Amalgamation amalgamation(package);
  const std::string header = amalgamation.header();
  auto [before, behind] = amalgamation.source(runtime);
  const auto data =
      std::find_if(package.files.begin(), package.files.end(),
                   [&](const SourceFile& file) { return file.path == manifest.model + "_data.h"; });
  INTARSIA_CHECK(data != package.files.end(), "a model has its constants in a file");
  const auto rest = [weights = data->rest, behind = std::move(behind)](const TextSink& sink) {
    if (weights) weights(sink);
    sink(behind);
  };

  manifest.sources = {manifest.model + ".c"};
  manifest.program_sources.clear();
  PackageContents single;
  single.files = {{manifest.model + ".h", header}, {manifest.model + ".c", before, rest}};
  single.files.push_back({"CMakeLists.txt", packaging::cmake_text(manifest)});
  single.files.push_back({manifest.model + ".mk", packaging::make_text(manifest)});
  single.files.push_back({"manifest.json", manifest_json(manifest)});
  single.manifest = std::move(manifest);
  return single;
}

}  // namespace intarsia
