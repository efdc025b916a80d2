// Recorded results, wherever they lie: those of this repository (tests/golden), always, and those of the same layout
// beside it (shared_data.h) when they are there. A name that both have means the repository's own.
//
//   models/NAME/       model.tflite, meta.json; in<k>_<t>.bin -> out<k>_<t>.bin, sample k, input or output t
//   operators/NAME/    one or a few operators: in<t>.bin -> out<t>.bin; beside the repository `conformance/NAME/`
//   npu-streams/ethos-u/[RELEASE/]NAME/CONFIGURATION-MEMORY_MODE-AIM.tflite
//                      the model or case NAME as Arm's compiler Vela made it
#pragma once

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "shared_data.h"

namespace intarsia::test {

// Where the repository's own recorded results lie.
inline std::filesystem::path golden_folder() {
  return INTARSIA_GOLDEN_DIR;
}

namespace recorded {

// The folders below `root` that hold a model, sorted by name.
inline void add_folders(const std::filesystem::path& root,
                        std::vector<std::filesystem::path>& folders) {
  const size_t first = folders.size();
  // Every test that is named after a folder makes the list when it starts: names are looked up, not compared with all.
  std::set<std::string> known;
  for (const std::filesystem::path& folder : folders) known.insert(folder.filename().string());
  std::error_code error;
  for (std::filesystem::directory_iterator it(root, error), end; !error && it != end;
       it.increment(error))
    if (!known.contains(it->path().filename().string()) &&
        std::filesystem::exists(it->path() / "model.tflite"))
      folders.push_back(it->path());
  std::sort(folders.begin() + static_cast<ptrdiff_t>(first), folders.end());
}

}  // namespace recorded

// The repository's first.
inline std::vector<std::filesystem::path> recorded_models() {
  std::vector<std::filesystem::path> folders;
  recorded::add_folders(golden_folder() / "models", folders);
  recorded::add_folders(shared_folder() / "models", folders);
  return folders;
}

// Without those that TFLite Micro itself rejects, whose meta.json says `"optional": true`. Every test that is named after
// a case asks for this list when it starts: the text is looked through, not parsed.
inline std::vector<std::filesystem::path> recorded_cases() {
  std::vector<std::filesystem::path> folders;
  recorded::add_folders(golden_folder() / "operators", folders);
  recorded::add_folders(shared_folder() / "conformance", folders);
  std::erase_if(folders, [](const std::filesystem::path& folder) {
    const std::vector<uint8_t> meta = read_bytes(folder / "meta.json");
    const std::string_view text(reinterpret_cast<const char*>(meta.data()), meta.size());
    return text.find("\"optional\": true") != text.npos;
  });
  return folders;
}

// The folder of a model or case; empty when there is none of this name.
inline std::filesystem::path recorded_folder(const std::string& name) {
  for (const std::filesystem::path& folder :
       {golden_folder() / "models" / name, golden_folder() / "operators" / name,
        shared_folder() / "conformance" / name, shared_folder() / "models" / name})
    if (std::filesystem::exists(folder / "model.tflite")) return folder;
  return {};
}

// Only the repository's, of those names that `recorded_models` and `recorded_cases` return.
inline bool is_own(const std::filesystem::path& folder) {
  return folder.string().starts_with(golden_folder().string());
}

// The repository's models or cases of these names, and those of `beside` that lie beside it.
inline std::vector<std::string> with_beside(std::vector<std::string> own,
                                            const std::vector<std::string>& beside) {
  for (const std::string& name : beside)
    if (!recorded_folder(name).empty()) own.push_back(name);
  return own;
}

// Every output of Vela for a family of NPUs, the repository's first, sorted by path.
inline std::vector<std::filesystem::path> vela_streams(const std::string& family = "ethos-u") {
  std::vector<std::filesystem::path> files;
  for (const std::filesystem::path& root : {golden_folder(), shared_folder()}) {
    const size_t first = files.size();
    std::error_code error;
    for (std::filesystem::recursive_directory_iterator it(root / "npu-streams" / family, error),
         end;
         !error && it != end; it.increment(error))
      if (it->path().extension() == ".tflite") files.push_back(it->path());
    std::sort(files.begin() + static_cast<ptrdiff_t>(first), files.end());
  }
  return files;
}

// One of them, below `root`, which is one of the two folders.
inline std::filesystem::path vela_stream(const std::filesystem::path& root,
                                         const std::string& name) {
  return root / "npu-streams/ethos-u" / (name + ".tflite");
}

// "ethos-u55-128" of an output of Vela.
inline std::string stream_tag(const std::filesystem::path& file) {
  const std::string stem = file.stem().string();
  return stem.substr(0, stem.find('-', stem.find('-', 6) + 1));
}

// Inputs and the outputs recorded for them. A case has one sample, whose files may hold several invocations on one
// state; its outputs are those of the last.
struct RecordedSample {
  std::vector<std::vector<uint8_t>> inputs, outputs;
};

inline std::vector<RecordedSample> recorded_samples(const std::filesystem::path& folder) {
  const bool is_case = std::filesystem::exists(folder / "out0.bin");
  std::vector<RecordedSample> samples;
  for (int k = 0; !is_case || k == 0; ++k) {
    const auto all = [&](const char* what) {
      std::vector<std::vector<uint8_t>> values;
      for (int t = 0;; ++t) {
        const std::string name =
            what + (is_case ? "" : std::to_string(k) + "_") + std::to_string(t);
        if (!std::filesystem::exists(folder / (name + ".bin"))) return values;
        values.push_back(read_bytes(folder / (name + ".bin")));
      }
    };
    RecordedSample sample{all("in"), all("out")};
    if (sample.outputs.empty()) break;
    samples.push_back(std::move(sample));
  }
  return samples;
}

// For the name of a test: letters, digits and underscores; data that are not the repository's say so.
inline std::string test_name(const std::filesystem::path& folder) {
  std::string name = (is_own(folder) ? "" : "shared_") + folder.filename().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

// The same for an output of Vela: model, release and configuration.
inline std::string stream_test_name(const std::filesystem::path& file) {
  const std::string release = file.parent_path().parent_path().filename().string();
  std::string name = (is_own(file) ? "" : "shared_") + file.parent_path().filename().string() +
                     "_" + (release == "ethos-u" ? "" : release + "_") + file.stem().string();
  for (char& letter : name)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return name;
}

}  // namespace intarsia::test
