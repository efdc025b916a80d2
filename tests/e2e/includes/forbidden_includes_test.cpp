// Where the architecture has no arrow there is no include path: asked with the include paths of the real libraries, the
// preprocessor must not find the header. Next to each such try stands one that must, so that a wrong command line does
// not pass for an unreachable header.
//
//   contract <- host-compiler <- targets/*/compiler <- cli;  core <- targets/*/device
//   host-compiler <- npu-kit, gpu-kit <- targets/*/compiler
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include <fmt/format.h>

#include "support/files.h"
#include "support/process.h"

namespace intarsia::test {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

const fs::path kRoot = INTARSIA_SOURCE_DIR;

struct Library {
  std::string kind;  // host, runtime, kit; of a target: compiler, device, sim; of a compiler: stage
  std::string name;  // of a target's part: the target
  Strings paths;
};

std::vector<Library> all_libraries() {
  std::vector<Library> libraries;
  std::istringstream lines(*read_text_file(INTARSIA_INCLUDE_PATHS));
  for (std::string line; std::getline(lines, line);) {
    const size_t space = line.find(' '), bar = line.find('|');
    Library library{line.substr(0, space), line.substr(space + 1, bar - space - 1), {}};
    std::istringstream paths(line.substr(bar + 1));
    for (std::string path; std::getline(paths, path, ';');)
      if (!path.empty()) library.paths.push_back(path);
    libraries.push_back(std::move(library));
  }
  return libraries;
}

std::vector<Library> libraries_of(const std::string& kind) {
  std::vector<Library> some;
  for (Library& library : all_libraries())
    if (library.kind == kind) some.push_back(std::move(library));
  return some;
}

// Every header and table below a folder, by its path in it.
Strings headers_below(const fs::path& folder) {
  Strings headers;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder, error), end; !error && it != end;
       it.increment(error)) {
    const std::string ending = it->path().extension().string();
    if (ending == ".h" || ending == ".def")
      headers.push_back(fs::relative(it->path(), folder).generic_string());
  }
  std::sort(headers.begin(), headers.end());
  return headers;
}

class Includes : public testing::Test {
 protected:
  void SetUp() override {
    Result<TemporaryFolder> folder = TemporaryFolder::make();
    ASSERT_TRUE(folder.ok());
    folder_.emplace(std::move(folder).value());
  }

  // Whether the preprocessor finds `header`. Any other complaint fails the test.
  bool finds(const Library& library, const std::string& header) const {
    const auto outcome = preprocess(library.paths, fmt::format("#include \"{}\"\n", header));
    EXPECT_TRUE(outcome.ok()) << outcome.error().to_string();
    if (!outcome.ok()) return false;
    if (outcome->succeeded()) return true;
    const bool missing = outcome->err.find(header) != std::string::npos &&
                         (outcome->err.find("No such file") != std::string::npos ||
                          outcome->err.find("file not found") != std::string::npos);
    EXPECT_TRUE(missing) << outcome->err;
    return false;
  }
  void expect_unreachable(const Library& library, const std::string& header) {
    tries_[library.kind + " " + library.name].expect(library, header, false);
  }
  void expect_reachable(const Library& library, const std::string& header) {
    tries_[library.kind + " " + library.name].expect(library, header, true);
  }
  // One run of the preprocessor for all that was expected of a library: thousands of runs take minutes.
  void TearDown() override {
    for (const auto& [library, tries] : tries_) {
      std::string text;
      for (const auto& [header, reachable] : tries.headers)
        text += fmt::format("#if __has_include(\"{0}\")\nfinds \"{0}\"\n#endif\n", header);
      const auto outcome = preprocess(tries.paths, text);
      ASSERT_TRUE(outcome.ok()) << outcome.error().to_string();
      ASSERT_TRUE(outcome->succeeded()) << outcome->err;
      for (const auto& [header, reachable] : tries.headers)
        EXPECT_EQ(outcome->out.find("finds \"" + header + "\"") != std::string::npos, reachable)
            << library << (reachable ? " does not reach " : " reaches ") << header;
    }
  }

  // The same for a header named in a test: it has to be there, or nothing would be tested.
  void expect_existing_but_unreachable(const Library& library, const std::string& header) {
    const Strings places = {"host-compiler/include",
                            "host-compiler/src",
                            "host-compiler/cli",
                            "host-compiler/npu-kit/include",
                            "host-compiler/gpu-kit/include",
                            "host-compiler/layer-kit/include",
                            "device-runtime/core/include",
                            "device-runtime/kernels/include"};
    EXPECT_TRUE(
        std::any_of(places.begin(), places.end(),
                    [&](const std::string& place) { return fs::exists(kRoot / place / header); }))
        << "there is no " << header << " any more";
    expect_unreachable(library, header);
  }

  // One header of each part of each target, as sources include it: "intarsia/targets/<identifier>/x.h". Of names that
  // several parts have, only one that no allowed part has tells anything.
  struct TargetHeader {
    std::string target, part, name;
  };
  static std::vector<TargetHeader> target_headers() {
    std::vector<TargetHeader> headers;
    for (const Library& library : libraries_of("compiler")) {
      std::string folder = library.name;
      if (!fs::exists(kRoot / "targets" / folder))
        std::replace(folder.begin(), folder.end(), '_', '-');
      std::map<std::string, int> uses;
      for (const char* part : {"isa", "device", "sim", "compiler"})
        for (const std::string& header : headers_below(kRoot / "targets" / folder / part))
          ++uses[header];
      for (const char* part : {"isa", "device", "sim", "compiler"})
        for (const std::string& header : headers_below(kRoot / "targets" / folder / part))
          if (uses[header] == 1) {
            headers.push_back({library.name, part, header});
            break;
          }
    }
    return headers;
  }
  static std::string included_name(const TargetHeader& header) {
    return "intarsia/targets/" + header.target + "/" + header.name;
  }
  static Strings spellings(const TargetHeader& header) {
    if (header.part != "compiler") return {included_name(header)};
    return {included_name(header), "compiler/" + header.name, header.name};
  }

 private:
  struct Tries {
    Strings paths;
    std::map<std::string, bool> headers;  // whether it has to be found

    void expect(const Library& library, const std::string& header, bool reachable) {
      paths = library.paths;
      const bool agrees = headers.emplace(header, reachable).first->second == reachable;
      EXPECT_TRUE(agrees) << library.name << " has to reach " << header << " and must not";
    }
  };

  // What the preprocessor makes of a text, with these include paths.
  Result<ProcessOutcome> preprocess(const Strings& paths, const std::string& text) const {
    const std::string source = folder_->path() + "/try.cpp";
    EXPECT_TRUE(write_file(source, text).ok());
    Strings command = {INTARSIA_CXX, "-std=c++20", "-E", "-P"};
    for (const std::string& path : paths) command.push_back("-I" + path);
    command.push_back(source);
    return run_process(command);
  }

  std::optional<TemporaryFolder> folder_;
  std::map<std::string, Tries> tries_;
};

TEST_F(Includes, TheListIsComplete) {
  std::map<std::string, int> count;
  for (const Library& library : all_libraries()) {
    EXPECT_FALSE(library.paths.empty()) << library.name;
    ++count[library.kind];
  }
  EXPECT_GE(count["host"], 15);
  EXPECT_EQ(count["runtime"], 2);
  EXPECT_GE(count["compiler"], 2);
  EXPECT_GE(count["device"], 1);
  EXPECT_GE(count["sim"], 1);
}

TEST_F(Includes, NoPathLeadsToTheRootOrToAllTargets) {
  for (const Library& library : all_libraries())
    for (const std::string& path : library.paths)
      for (const fs::path& wide : {kRoot, kRoot / "targets", kRoot / "host-compiler",
                                   kRoot / "host-compiler/src", kRoot / "device-runtime"})
        EXPECT_FALSE(fs::equivalent(path, wide)) << library.name << " sees " << path;
}

TEST_F(Includes, HostCompilerReachesNoTarget) {
  for (const Library& library : libraries_of("host")) {
    expect_reachable(library, "intarsia/result.h");
    for (const TargetHeader& header : target_headers())
      if (header.part != "compiler") expect_unreachable(library, included_name(header));
  }
}

TEST_F(Includes, HostCompilerReachesNoDeviceCode) {
  for (const Library& library : libraries_of("host")) {
    if (library.name == "intarsia_engine") {  // it executes what chips execute
      expect_reachable(library, "intarsia/core/register_bus.h");
      expect_reachable(library, "intarsia/kernels/kernels.h");
      continue;
    }
    expect_existing_but_unreachable(library, "intarsia/core/register_bus.h");
    expect_existing_but_unreachable(library, "intarsia/kernels/kernels.h");
  }
  for (const Library& library : libraries_of("runtime"))
    expect_reachable(library, library.name == "intarsia_kernels" ? "intarsia/kernels/kernels.h"
                                                                 : "intarsia/core/register_bus.h");
}

TEST_F(Includes, TargetsReachNoOtherTarget) {
  for (const char* kind : {"compiler", "device", "sim", "engine"})
    for (const Library& library : libraries_of(kind))
      for (const TargetHeader& header : target_headers()) {
        if (header.target == library.name) {
          if (header.part == "isa") expect_reachable(library, included_name(header));
          continue;
        }
        for (const std::string& spelling : spellings(header)) expect_unreachable(library, spelling);
      }
}

// The parts of one target share the tables of isa/ and nothing else.
TEST_F(Includes, PartsOfATargetReachOnlyTheirTables) {
  const std::map<std::string, std::set<std::string>> allowed = {
      {"compiler", {"isa", "compiler"}},
      {"device", {"isa", "device"}},
      {"sim", {"isa", "sim"}},
      {"engine", {"isa", "device", "sim", "engine"}}};
  int walls = 0;
  for (const auto& [kind, parts] : allowed)
    for (const Library& library : libraries_of(kind))
      for (const TargetHeader& header : target_headers()) {
        if (header.target != library.name) continue;
        if (parts.contains(header.part)) {
          if (header.part != "compiler") expect_reachable(library, included_name(header));
          continue;
        }
        for (const std::string& spelling : spellings(header))
          expect_unreachable(library, spelling), ++walls;
      }
  EXPECT_GE(walls, 6);
}

TEST_F(Includes, DeviceAndSimulatorReachNothingOfTheHost) {
  for (const char* kind : {"runtime", "device", "sim"})
    for (const Library& library : libraries_of(kind)) {
      for (const char* header :
           {"intarsia/result.h", "intarsia/graph.h", "intarsia/plugin/target_kind.h",
            "support/files.h", "tir/linear.h", "emission/emit.h"})
        expect_existing_but_unreachable(library, header);
      if (library.name != "intarsia_kernels")
        expect_reachable(library, "intarsia/contract/status.h");
      if (library.kind == "device") expect_reachable(library, "intarsia/core/register_bus.h");
      if (library.kind == "sim")
        expect_existing_but_unreachable(library, "intarsia/core/register_bus.h");
    }
}

// A stage of a compiler reaches those that it uses, and none of these reaches it.
TEST_F(Includes, StagesOfACompilerReachEachOtherOneWay) {
  const std::vector<Library> stages = libraries_of("stage");
  EXPECT_GE(stages.size(), 5u);
  const auto folder_of = [](const Library& stage, const Library& other) -> fs::path {
    for (const std::string& path : stage.paths)
      if (path.ends_with("/targets/" + std::regex_replace(other.name, std::regex("/"), "/stages/")))
        return path;
    return {};
  };
  size_t walls = 0, ways = 0;
  for (const Library& stage : stages)
    for (const Library& other : stages) {
      const fs::path own = folder_of(other, other), seen = folder_of(stage, other);
      ASSERT_FALSE(own.empty()) << other.name;
      if (stage.name.substr(0, stage.name.find('/')) !=
          other.name.substr(0, other.name.find('/'))) {
        EXPECT_TRUE(seen.empty()) << stage.name << " sees " << other.name;
        continue;  // several targets have stages, and headers, of one name
      }
      const std::string folder = own.filename().string();
      const Strings headers = headers_below(own / folder);  // a link, which is followed from here
      ASSERT_FALSE(headers.empty()) << own;
      const std::string header = folder + "/" + headers.front();
      expect_reachable(other, header);
      if (seen.empty()) {
        expect_unreachable(stage, header);
        ++walls;
      } else if (stage.name != other.name) {
        EXPECT_TRUE(folder_of(other, stage).empty()) << stage.name << " and " << other.name;
        ++ways;
      }
    }
  EXPECT_GT(walls, ways);
  EXPECT_GT(ways, 0u);
}

// What compilers of NPUs share: compilers of targets have it, the host compiler and what runs on devices do not, and it
// has of the host compiler the public headers and the planner of memory.
TEST_F(Includes, TheKitForNpusIsOfTargetsAlone) {
  const Strings headers = headers_below(kRoot / "host-compiler/npu-kit/include");
  ASSERT_GE(headers.size(), 10u);
  for (const char* kind : {"host", "runtime", "device", "sim"})
    for (const Library& library : libraries_of(kind))
      expect_existing_but_unreachable(library, headers.front());
  const std::vector<Library> kits = libraries_of("kit");
  ASSERT_EQ(kits.size(), 2u);
  for (const char* kind : {"compiler", "stage"})
    for (const Library& library : libraries_of(kind))
      for (const std::string& header : headers) expect_reachable(library, header);
  for (const std::string& header : headers) {
    expect_reachable(kits.front(), header);
    expect_unreachable(kits.back(), header);
  }
  for (const Library& kit : kits) {
    expect_reachable(kit, "intarsia/memory_plan.h");
    for (const char* header : {"tir/linear.h", "operators/operator.h", "partitioning/offers.h",
                               "intarsia/core/register_bus.h"})
      expect_existing_but_unreachable(kit, header);
    for (const TargetHeader& header : target_headers())
      for (const std::string& spelling : spellings(header)) expect_unreachable(kit, spelling);
  }
}

// What makes kernels for GPUs: those targets have it that ask for it, and the others do not.
TEST_F(Includes, TheKitForGpusIsOfTargetsThatLinkIt) {
  const Strings headers = headers_below(kRoot / "host-compiler/gpu-kit/include");
  ASSERT_GE(headers.size(), 5u);
  for (const char* kind : {"host", "runtime", "device", "sim", "stage"})
    for (const Library& library : libraries_of(kind))
      expect_existing_but_unreachable(library, headers.front());
  int users = 0, others = 0;
  for (const Library& library : libraries_of("compiler"))
    ++(finds(library, headers.front()) ? users : others);
  EXPECT_GE(users, 2);
  EXPECT_GE(others, 4);
}

// Compilers of targets stand on the public headers alone: on those for plug-ins, and on the kit for NPUs.
TEST_F(Includes, TargetCompilersReachThePublicHeadersAndNoPrivateOne) {
  const Strings hidden = headers_below(kRoot / "host-compiler/src");
  ASSERT_GE(hidden.size(), 50u);
  for (const char* kind : {"compiler", "stage"})
    for (const Library& library : libraries_of(kind)) {
      expect_reachable(library, "intarsia/plugin/target_kind.h");
      expect_existing_but_unreachable(library, "context.h");
      expect_existing_but_unreachable(library, "intarsia/core/register_bus.h");
      for (const std::string& path : library.paths)
        for (const std::string& header : hidden)
          EXPECT_FALSE(fs::exists(fs::path(path) / header))
              << library.name << " reaches " << header;
    }
}

// An embedding program, or a target outside of this tree, has the installed headers and nothing else. Each can be included
// by itself.
TEST_F(Includes, PublicHeadersIncludeOnlyPublicHeaders) {
  const Strings roots = {(kRoot / "host-compiler/include").string(),
                         (kRoot / "host-compiler/npu-kit/include").string(),
                         (kRoot / "host-compiler/gpu-kit/include").string(),
                         (kRoot / "host-compiler/layer-kit/include").string()};
  // What compiler and chip agree on is installed with them.
  Strings seen = roots;
  seen.push_back((kRoot / "device-runtime/contract/include").string());
  size_t count = 0;
  for (const std::string& root : roots)
    for (const std::string& header : headers_below(root)) {
      if (!header.ends_with(".h")) continue;
      EXPECT_TRUE(finds({"public", header, seen}, header)) << header;
      ++count;
    }
  EXPECT_GE(count, 40u);
}

// What a program that embeds the compiler includes are the headers directly below intarsia/; there are few.
TEST_F(Includes, TheApiIsSmall) {
  size_t count = 0;
  for (const auto& entry : fs::directory_iterator(kRoot / "host-compiler/include/intarsia"))
    count += entry.path().extension() == ".h";
  EXPECT_LE(count, 19u);
}

// The graph and its importers are below the operators: they call them through graph.h.
TEST_F(Includes, GraphAndImportersReachNoOperator) {
  size_t seen = 0;
  for (const Library& library : libraries_of("host")) {
    if (library.name == "intarsia_operators") {
      expect_reachable(library, "operators/operator.h");
      expect_reachable(library, "graph/op_check.h");
      expect_existing_but_unreachable(library, "standard_lowering/function_schedule.h");
      ++seen;
    }
    if (library.name != "intarsia_graph" && library.name != "intarsia_import") continue;
    for (const char* header :
         {"operators/operator.h", "tir/linear.h", "standard_lowering/function_schedule.h"})
      expect_existing_but_unreachable(library, header);
    ++seen;
  }
  EXPECT_EQ(seen, 3u);
}

// The lines `#include "..."` of a file.
Strings includes_of(const fs::path& file) {
  const std::string text = *read_text_file(file.string());
  static const std::regex line("(?:^|\n)[ \t]*#[ \t]*include[ \t]*\"([^\"]*)\"");
  Strings found;
  for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it)
    found.push_back((*it)[1]);
  return found;
}

std::vector<fs::path> sources_below(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    static const std::set<std::string> kEndings = {".h", ".def", ".c", ".cpp"};
    if (entry.is_regular_file() && kEndings.contains(entry.path().extension().string()))
      files.push_back(entry.path());
  }
  return files;
}

// A path upwards would go round every wall above.
TEST(Sources, NoIncludeClimbs) {
  size_t files = 0, includes = 0;
  for (const char* folder : {"host-compiler", "device-runtime", "targets", "boards"})
    for (const fs::path& file : sources_below(kRoot / folder)) {
      ++files;
      for (const std::string& include : includes_of(file)) {
        ++includes;
        EXPECT_EQ(include.find(".."), std::string::npos) << file << " includes " << include;
        EXPECT_FALSE(include.starts_with("/")) << file << " includes " << include;
      }
    }
  EXPECT_GT(files, 150u);
  EXPECT_GT(includes, 500u);
}

// The page about the kit names each of its headers, and what it shows of the example is there.
TEST(Sources, ThePageAboutTheKitIsTrue) {
  const std::string page = *read_text_file((kRoot / "docs/adding-an-npu.md").string());
  for (const std::string& header : headers_below(kRoot / "host-compiler/npu-kit/include"))
    EXPECT_NE(page.find(fs::path(header).filename().string() + "`"), std::string::npos) << header;
  const std::string example =
      *read_text_file((kRoot / "targets/example-npu/compiler/npu_kind.cpp").string());
  const std::string opening = "```cpp npu_kind.cpp\n";
  const size_t begin = page.find(opening);
  ASSERT_NE(begin, std::string::npos);
  std::istringstream shown(page.substr(begin + opening.size()));
  size_t lines = 0;
  for (std::string line; std::getline(shown, line) && line != "```"; ++lines)
    EXPECT_NE(example.find(line.substr(line.find_first_not_of(' '))), std::string::npos) << line;
  EXPECT_GE(lines, 5u);
}

// What is particular to a target is said in its folder, and the rest asks its kind.
TEST(Sources, NoneOutsideATargetNamesIt) {
  std::vector<std::regex> names;
  for (const auto& entry : fs::directory_iterator(kRoot / "targets")) {
    const std::string folder = entry.path().filename().string();
    if (!entry.is_directory() || folder == "c") continue;  // "c" is a letter as well
    // As a word: <arm_acle.h> is a header of C compilers.
    names.emplace_back(std::regex_replace(folder, std::regex("-"), "[-_ ]?") + "(?![a-z])",
                       std::regex::icase);
  }
  EXPECT_GE(names.size(), 4u);
  for (const char* folder : {"host-compiler", "device-runtime"})
    for (const fs::path& file : sources_below(kRoot / folder)) {
      const std::string text = *read_text_file(file.string());
      for (const std::regex& name : names) {
        std::smatch found;
        EXPECT_FALSE(std::regex_search(text, found, name)) << file << " names " << found.str();
      }
    }
}

// A stage takes values and returns values; who calls whom is written down in compile.cpp alone.
TEST(Sources, NoStageIncludesAnother) {
  const std::map<std::string, std::string> stages = {
      {"import", "intarsia/import.h"},          {"passes", "passes/dead_channel_elimination.h"},
      {"partitioning", "intarsia/partition.h"}, {"lowering", "lowering/lower.h"},
      {"emission", "emission/emit.h"},          {"packaging", "intarsia/package.h"}};
  for (const auto& [stage, header] : stages) {
    bool own = false;
    for (const fs::path& file : sources_below(kRoot / "host-compiler/src" / stage))
      for (const std::string& include : includes_of(file)) {
        own = own || include == header;
        for (const auto& [other, other_header] : stages)
          EXPECT_TRUE(other == stage || include != other_header) << file << " includes " << include;
        EXPECT_NE(include, "intarsia/compile.h") << file;
        EXPECT_NE(include, "intarsia/build.h") << file;
      }
    EXPECT_TRUE(own) << stage << " has no source that includes its own header";
  }
}

// A namespace is named as its folder is, or as the file where that is a part of its own; what public headers declare is
// defined in the namespaces that they have.
TEST(Sources, NamespacesAreNamedAsTheirFolders) {
  const std::regex line("(?:^|\n)namespace intarsia::([a-z0-9_:]+) \\{");
  const std::set<std::string> of_public_headers = {"graph", "tir"};
  size_t count = 0;
  Strings folders = {"host-compiler/src", "host-compiler/cli", "host-compiler/npu-kit",
                     "host-compiler/layer-kit"};
  for (const auto& entry : fs::directory_iterator(kRoot / "targets"))
    for (const char* part : {"compiler", "device", "sim", "isa"})
      if (fs::exists(entry.path() / part))
        folders.push_back(fs::relative(entry.path() / part, kRoot).string());
  for (const std::string& folder : folders)
    for (const fs::path& file : sources_below(kRoot / folder)) {
      std::set<std::string> names = of_public_headers;
      for (const fs::path& part : fs::relative(file, kRoot)) names.insert(part.stem().string());
      std::set<std::string> identifiers;
      for (std::string name : names) {
        std::replace(name.begin(), name.end(), '-', '_');
        identifiers.insert(name);
      }
      if (identifiers.contains("npu_kit")) identifiers.insert("npu");
      if (identifiers.contains("layer_kit")) identifiers.insert("layers");
      const std::string text = *read_text_file(file.string());
      for (std::sregex_iterator it(text.begin(), text.end(), line), end; it != end; ++it, ++count) {
        const std::string name = (*it)[1];
        EXPECT_TRUE(identifiers.contains(name.substr(name.rfind(':') + 1)))
            << file << " is in intarsia::" << name;
      }
    }
  EXPECT_GT(count, 500u);
}

// docs/glossary.md has the words for what these once stood for, which nobody else uses. Keys of JSON keep them.
TEST(Sources, HaveTheWordsOfTheGlossary) {
  const std::regex words(
      R"((?:^|[^"\w])(road|roads|wish|wishes|wished|slim|slims|slimmed|slimming|leaf function|leaf functions|member of the target|members of the target|in a circle|by turns)(?![\w"(]))");
  size_t count = 0;
  for (const char* folder : {"host-compiler", "device-runtime", "targets", "boards", "tests/unit"})
    for (const fs::path& file : sources_below(kRoot / folder)) {
      const std::string text = *read_text_file(file.string());
      std::smatch found;
      ++count;
      EXPECT_FALSE(std::regex_search(text, found, words)) << file << " says '" << found[1] << "'";
    }
  EXPECT_GT(count, 1000u);
}

}  // namespace
}  // namespace intarsia::test
