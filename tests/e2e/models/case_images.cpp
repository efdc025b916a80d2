#include "case_images.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "build/model_descriptor.h"

namespace intarsia::test {
namespace {

// An image's blocks of activations are side by side, as every plan believes that the memory is its own.
constexpr int64_t kMostBlockBytes = 256 * 1024;
constexpr size_t kMostCases = 64;

struct Image {
  std::map<std::string, std::string> files;  // path -> text
  std::vector<std::string> sources;
  std::vector<std::string> include_dirs;
  std::string table;  // rows of the table of cases
  std::vector<const RecordedCase*> cases;
  std::vector<uint8_t> inputs;
  std::vector<size_t> output_bytes;  // per output of each case
  int64_t block_bytes = 0;
};

class Batch {
 public:
  explicit Batch(const board::Board& board) : board_(board) { add_builtin_targets(registry_); }

  Result<BoardOutcome> run(const std::vector<RecordedCase>& cases) {
    INTARSIA_TRY(const TargetSpec target,
                 parse_target(registry_.catalogue(), board_.cores.front().name));
    outcome_.cases = static_cast<int>(cases.size());
    for (const RecordedCase& recorded : cases) {
      const Result<void> added = add(recorded, target);
      if (!added.ok()) fail(recorded, added.error().to_string());
      if (image_.cases.size() == kMostCases || image_.block_bytes > kMostBlockBytes)
        INTARSIA_TRY_VOID(run_image());
    }
    INTARSIA_TRY_VOID(run_image());
    return outcome_;
  }

 private:
  void fail(const RecordedCase& recorded, const std::string& what) {
    outcome_.failures.push_back(recorded.name() + ": " + what);
  }

  Result<void> add(const RecordedCase& recorded, const TargetSpec& target) {
    const std::string name = fmt::format("case_{}", image_.cases.size());
    CompileOptions options;
    options.memory = board::memory_map(board_);
    INTARSIA_TRY(const CompiledModel model, compile(read_bytes(recorded.folder / "model.tflite"),
                                                    name + ".tflite", registry_, target, options));
    INTARSIA_TRY(const PackageContents package,
                 make_package(model, registry_, target,
                              {board_.name, board_.cores.front().name, INTARSIA_SOURCE_DIR}));
    for (const SourceFile& file : package.files) image_.files[file.path] = file.whole_text();
    // The model in one translation unit, with its descriptor under a name of its own.
    std::string unit = fmt::format("#define intarsia_model {}_descriptor\n", name);
    image_.files[name + "_descriptor.c"] = build::descriptor_text(package.manifest);
    unit += fmt::format("#include \"{}_descriptor.c\"\n", name);
    for (const std::string& source : package.manifest.sources) {
      if (source.find('/') == std::string::npos)
        unit += fmt::format("#include \"{}\"\n", source);
      else if (std::find(image_.sources.begin(), image_.sources.end(), source) ==
               image_.sources.end())
        image_.sources.push_back(source);
    }
    for (const std::string& folder : package.manifest.include_dirs)
      if (std::find(image_.include_dirs.begin(), image_.include_dirs.end(), folder) ==
          image_.include_dirs.end())
        image_.include_dirs.push_back(folder);
    image_.files["unit_" + name + ".c"] = unit;
    image_.sources.push_back("unit_" + name + ".c");
    image_.table +=
        fmt::format("  {{&{}_descriptor, {}}},\n", name, recorded.meta.value("invocations", 1));
    for (const auto& input : recorded.meta["inputs"]) {
      const std::vector<uint8_t> bytes =
          read_bytes(recorded.folder / input["file"].get<std::string>());
      image_.inputs.insert(image_.inputs.end(), bytes.begin(), bytes.end());
    }
    for (const TensorInfo& output : package.manifest.outputs)
      image_.output_bytes.push_back(static_cast<size_t>(output.bytes));
    for (const PoolUse& use : model.program().plan.use) image_.block_bytes += use.peak;
    image_.cases.push_back(&recorded);
    return {};
  }

  // The program's own model: its input is all inputs, case by case, its output all outputs.
  std::string all_cases_source(size_t output_bytes) const {
    std::string text =
        "#include \"intarsia/contract/model_descriptor.h\"\n#include "
        "\"intarsia/contract/placement.h\"\n\n";
    for (size_t i = 0; i < image_.cases.size(); ++i)
      text += fmt::format("extern const struct intarsia_model_descriptor case_{}_descriptor;\n", i);
    text += fmt::format(
        "\nstatic const struct {{ const struct intarsia_model_descriptor *model; int32_t runs; }} "
        "cases[] = {{\n{}}};\n",
        image_.table);
    text += fmt::format("enum {{ kCases = {}, kInputBytes = {}, kOutputBytes = {} }};\n",
                        image_.cases.size(), image_.inputs.size(), output_bytes);
    text += R"(static uint8_t all_inputs[kInputBytes] INTARSIA_IN_MEMORY(sram);
static uint8_t all_outputs[kOutputBytes] INTARSIA_IN_MEMORY(sram);
static const struct intarsia_tensor_info input_info[] = {{"inputs", kInputBytes}};
static const struct intarsia_tensor_info output_info[] = {{"outputs", kOutputBytes}};

static void copy(uint8_t *to, const uint8_t *from, int32_t bytes) {
  for (int32_t i = 0; i < bytes; ++i) to[i] = from[i];
}

/* Inputs of a case lie one after another, each with all of its runs. */
static int32_t run_case(const struct intarsia_model_descriptor *model, int32_t runs, const uint8_t **in, uint8_t **out) {
  int32_t status = model->init();
  for (int32_t run = 0; run < runs && status == 0; ++run) {
    const uint8_t *from = *in;
    for (int32_t i = 0; i < model->input_count; ++i) {
      const int32_t bytes = model->inputs[i].bytes;
      copy(model->input(i), from + run * bytes, bytes);
      from += runs * bytes;
    }
    status = model->run();
  }
  for (int32_t i = 0; i < model->input_count; ++i) *in += runs * model->inputs[i].bytes;
  for (int32_t i = 0; i < model->output_count; ++i) {
    const int32_t bytes = model->outputs[i].bytes;
    copy(*out, model->output(i), bytes);
    *out += bytes;
  }
  return status;
}

static int32_t init(void) { return 0; }
static void *input(int32_t index) { return index == 0 ? all_inputs : 0; }
static const void *output(int32_t index) { return index == 0 ? all_outputs : 0; }
static int32_t run(void) {
  const uint8_t *in = all_inputs;
  uint8_t *out = all_outputs;
  for (int32_t i = 0; i < kCases; ++i) {
    const int32_t status = run_case(cases[i].model, cases[i].runs, &in, &out);
    if (status != 0) return status;
  }
  return 0;
}

const struct intarsia_model_descriptor intarsia_model = {
  .name = "cases", .input_count = 1, .output_count = 1, .inputs = input_info, .outputs = output_info,
  .init = init, .input = input, .output = output, .run = run,
};
)";
    return text;
  }

  Result<void> run_image() {
    if (image_.cases.empty()) return {};
    size_t output_bytes = 0;
    for (const size_t bytes : image_.output_bytes) output_bytes += bytes;
    image_.files["all_cases.c"] = all_cases_source(output_bytes);
    image_.sources.push_back("all_cases.c");
    INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
    std::vector<SourceFile> files;
    for (const auto& [path, text] : image_.files) files.push_back({path, text});
    INTARSIA_TRY_VOID(write_folder(work.path() + "/package", files));
    PackageManifest manifest;
    manifest.model = "cases";
    manifest.outputs.resize(1);
    manifest.sources = image_.sources;
    manifest.include_dirs = image_.include_dirs;
    manifest.include_dirs.emplace_back(INTARSIA_SOURCE_DIR "/device-runtime/contract/include");
    BuildSetting setting{work.path() + "/package", manifest, board_, board_.cores.front(),
                         INTARSIA_SOURCE_DIR,      "-Os"};
    setting.has_descriptor = true;
    ExecuteRequest execution;
    INTARSIA_TRY(execution.program, build_program(setting, work.path()));
    execution.inputs = {image_.inputs};
    INTARSIA_TRY(const ExecuteResult result, execute(setting, execution, work.path()));
    compare(result.outputs[0]);
    ++outcome_.images;
    image_ = {};
    return {};
  }

  void compare(const std::vector<uint8_t>& outputs) {
    size_t at = 0, next = 0;
    for (const RecordedCase* recorded : image_.cases) {
      std::string found;
      for (const auto& output : recorded->meta["outputs"]) {
        const size_t bytes = image_.output_bytes[next++];
        const std::vector<uint8_t> actual(outputs.begin() + static_cast<ptrdiff_t>(at),
                                          outputs.begin() + static_cast<ptrdiff_t>(at + bytes));
        at += bytes;
        const std::string wrong =
            difference(recorded->meta, output["type"], actual,
                       read_bytes(recorded->folder / output["file"].get<std::string>()));
        if (found.empty() && !wrong.empty())
          found = output["file"].get<std::string>() + ": " + wrong;
      }
      if (!found.empty()) fail(*recorded, found);
    }
  }

  const board::Board& board_;
  TargetRegistry registry_;
  Image image_;
  BoardOutcome outcome_;
};

}  // namespace

std::vector<RecordedCase> integer_cases(const fs::path& root) {
  std::vector<RecordedCase> cases;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (!entry.is_directory()) continue;
    const std::vector<uint8_t> text = read_bytes(entry.path() / "meta.json");
    RecordedCase recorded{entry.path(), nlohmann::json::parse(text.begin(), text.end())};
    bool is_integer = !recorded.meta.value("optional", false);
    for (const char* side : {"inputs", "outputs"})
      for (const auto& tensor : recorded.meta[side]) is_integer &= tensor["type"] != "FLOAT32";
    if (is_integer) cases.push_back(std::move(recorded));
  }
  std::sort(cases.begin(), cases.end(),
            [](const auto& a, const auto& b) { return a.folder < b.folder; });
  return cases;
}

Result<BoardOutcome> run_on_board(const std::vector<RecordedCase>& cases,
                                  const std::string& board_name) {
  INTARSIA_TRY(const board::Board board,
               board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", board_name));
  return Batch(board).run(cases);
}

}  // namespace intarsia::test
