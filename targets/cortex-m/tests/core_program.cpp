#include "core_program.h"

#include <algorithm>
#include <filesystem>

#include <fmt/format.h>

#include "intarsia/board_firmware.h"
#include "support/files.h"
#include "support/process.h"

namespace intarsia::test::cortex_m {
namespace {

namespace fs = std::filesystem;

constexpr size_t kGuard = 32, kAlignment = 16;
constexpr uint8_t kPaint = 0xCD;

size_t rounded(size_t bytes) {
  return (bytes + kAlignment - 1) / kAlignment * kAlignment;
}

// A slice of input: the operator's number, its inputs one after another. A slice of output: guard, output, and
// at its end the scratch with a guard around every buffer. Nothing of it is the operator's but what it was given.
struct Layout {
  size_t input_bytes = kAlignment, output_bytes = 0, scratch_bytes = 0;
  std::vector<std::vector<size_t>>
      arguments;                // of inputs in the input, of scratch buffers in the scratch
  std::vector<size_t> outputs;  // sizes

  size_t slice() const { return output_bytes + scratch_bytes; }
};

Layout lay_out(const KernelProgram& kernels,
               const std::vector<std::vector<graph::TensorValue>>& inputs) {
  Layout layout;
  for (size_t i = 0; i < kernels.count(); ++i) {
    size_t in = kAlignment, scratch = kGuard;
    std::vector<size_t> places;
    for (const graph::TensorValue& input : inputs[i])
      places.push_back(in), in += rounded(input.size());
    for (const size_t bytes : kernels.scratch(i))
      places.push_back(scratch), scratch += rounded(bytes) + kGuard;
    const graph::Function& function = kernels.module(i).entry_function();
    const graph::Tensor& output = function.tensor(function.outputs[0]);
    layout.outputs.push_back(static_cast<size_t>(element_count(output.shape)) *
                             (bits(output.type) / 8));
    layout.input_bytes = std::max(layout.input_bytes, in);
    layout.output_bytes =
        std::max(layout.output_bytes, rounded(layout.outputs.back()) + 2 * kGuard);
    layout.scratch_bytes = std::max(layout.scratch_bytes, scratch);
    layout.arguments.push_back(std::move(places));
  }
  return layout;
}

// The model that the boards' main runs. The numbers `begin` and `end` belong to operator `count`, which
// does nothing: what a run costs beside its operator.
std::string driver(const KernelProgram& kernels, const Layout& layout) {
  std::string text = "#include <string.h>\n#include \"intarsia_contract/model_descriptor.h\"\n";
  text += fmt::format("enum {{ INPUT = {}, OUTPUT = {}, SLICE = {}, GUARD = {}, PAINT = {} }};\n",
                      layout.input_bytes, layout.output_bytes, layout.slice(), kGuard, kPaint);
  text += fmt::format(
      "static _Alignas({0}) uint8_t in[INPUT];\nstatic _Alignas({0}) uint8_t out[SLICE];\n",
      kAlignment);
  text += "static void nothing(void **p) { (void)p; }\n";
  text +=
      "static const struct { void (*run)(void **); int32_t inputs, scratch, at[6]; } operators[] = "
      "{\n";
  for (size_t i = 0; i < kernels.count(); ++i) {
    const size_t scratch = kernels.scratch(i).size();
    text += fmt::format("  {{m{}_run, {}, {}, {{{}}}}},\n", i, layout.arguments[i].size() - scratch,
                        scratch, fmt::join(layout.arguments[i], ", "));
  }
  text += R"(  {nothing, 0, 0, {0}}};
static int32_t init(void) { return 0; }
static int32_t run(void) {
  void *p[8] = {0};
  uint32_t number, next = 0;
  memcpy(&number, in, sizeof number);
  memset(out, PAINT, sizeof out);
  for (int32_t i = 0; i < operators[number].inputs; ++i, ++next) p[next] = in + operators[number].at[i];
  p[next] = out + GUARD;
  for (int32_t i = 0; i < operators[number].scratch; ++i, ++next) p[next + 1] = out + OUTPUT + operators[number].at[next];
  operators[number].run(p);
  return 0;
}
static void *input(int32_t index) { return index == 0 ? in : 0; }
static const void *output(int32_t index) { return index == 0 ? out : 0; }
static const struct intarsia_tensor_info inputs[] = {{"in", INPUT}};
static const struct intarsia_tensor_info outputs[] = {{"out", SLICE}};
const struct intarsia_model_descriptor intarsia_model = {"operators", 1, 1, inputs, outputs, init, input, output, run, 0, 0};
)";
  return text;
}

std::vector<uint8_t> input_file(const KernelProgram& kernels, const Layout& layout,
                                const std::vector<std::vector<graph::TensorValue>>& inputs) {
  std::vector<uint8_t> bytes((kernels.count() + 1) * layout.input_bytes);
  for (size_t i = 0; i <= kernels.count(); ++i) {
    uint8_t* slice = &bytes[i * layout.input_bytes];
    for (size_t byte = 0; byte < 4; ++byte) slice[byte] = static_cast<uint8_t>(i >> (8 * byte));
    if (i == kernels.count()) break;
    for (size_t t = 0; t < inputs[i].size(); ++t)
      std::copy(inputs[i][t].begin(), inputs[i][t].end(), slice + layout.arguments[i][t]);
  }
  return bytes;
}

bool painted(const uint8_t* begin, const uint8_t* end) {
  return std::all_of(begin, end, [](uint8_t byte) { return byte == kPaint; });
}

std::string damage_of(const KernelProgram& kernels, const Layout& layout, size_t i,
                      const uint8_t* slice) {
  const uint8_t* scratch = slice + layout.output_bytes;
  if (!painted(slice, slice + kGuard)) return "before its output";
  if (!painted(slice + kGuard + layout.outputs[i], scratch)) return "behind its output";
  const size_t inputs = layout.arguments[i].size() - kernels.scratch(i).size();
  size_t free = 0;
  for (size_t s = 0; s < kernels.scratch(i).size(); ++s) {
    const size_t begin = layout.arguments[i][inputs + s];
    if (!painted(scratch + free, scratch + begin)) return fmt::format("before its scratch {}", s);
    free = begin + kernels.scratch(i)[s];
  }
  return painted(scratch + free, scratch + layout.scratch_bytes) ? "" : "behind its scratch";
}

Result<std::string> build(const board::Board& board, const board::Core& core,
                          const CoreRequest& request, const std::string& source,
                          const std::string& folder) {
  const std::string root = INTARSIA_SOURCE_DIR;
  board::BuildRequest build;
  build.sources = {source};
  for (const char* sources : {"/targets/cortex-m/device", "/device-runtime/kernels/src"})
    for (const auto& entry : fs::directory_iterator(root + sources))
      if (entry.path().extension() == ".c") build.sources.push_back(entry.path().string());
  std::sort(build.sources.begin() + 1, build.sources.end());
  const std::string views = INTARSIA_CORTEX_M_VIEWS;
  build.flags = {request.optimise,
                 "-std=c11",
                 "-ffunction-sections",
                 "-fdata-sections",
                 "-Wall",
                 "-Wextra",
                 "-Wconversion",
                 "-Werror",
                 "-I" + views + "/isa",
                 "-I" + views + "/device",
                 "-I" + root + "/device-runtime/kernels/include"};
  build.linker_script_path = folder + "/board.ld";
  INTARSIA_TRY_VOID(write_file(build.linker_script_path, board::linker_script(board)));
  build.output = folder + "/program";
  INTARSIA_TRY(const ProcessOutcome built,
               run_process(board::build_command(board, core, root, build)));
  if (!built.succeeded())
    return Diagnostics(request.core, "the kernels do not build:\n" + built.err);
  return build.output;
}

Result<board::CountRequest> counting(const std::string& program, const std::string& folder) {
  board::CountRequest count;
  count.plugin = folder + "/count.so";
  count.output = folder + "/count.txt";
  INTARSIA_TRY(const ProcessOutcome made,
               run_process(board::count_plugin_command(INTARSIA_SOURCE_DIR, count.plugin)));
  if (!made.succeeded()) return Diagnostics("instruction counter", made.err);
  INTARSIA_TRY(const board::ElfImage image, board::read_elf(program));
  count.begin = image.symbols.at("intarsia_mark_begin");
  count.end = image.symbols.at("intarsia_mark_end");
  return count;
}

}  // namespace

bool can_run_cores(std::string& reason) {
  for (const char* program : {"arm-none-eabi-gcc", "qemu-system-arm"}) {
    const auto outcome = run_process({program, "--version"});
    if (outcome.ok() && outcome->succeeded()) continue;
    reason = std::string(program) + " is not installed";
    return false;
  }
  return true;
}

Result<CoreRun> run_on_core(const CoreRequest& request, const KernelProgram& kernels,
                            const std::vector<std::vector<graph::TensorValue>>& inputs) {
  INTARSIA_TRY(const board::Board board,
               board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", request.board));
  INTARSIA_TRY(const board::Core core, board::core_for(board, request.core));
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  const std::string folder = work.path();
  const Layout layout = lay_out(kernels, inputs);
  INTARSIA_TRY_VOID(write_file(folder + "/operators.c", kernels.text() + driver(kernels, layout)));
  board::StartRequest start;
  INTARSIA_TRY(start.program, build(board, core, request, folder + "/operators.c", folder));

  const std::vector<uint8_t> file = input_file(kernels, layout, inputs);
  board::RunRequest run;
  run.repeat = static_cast<int32_t>(kernels.count() + 1);
  run.keep_all = true;
  run.inputs = {folder + "/in0.bin"};
  run.outputs = {folder + "/out0.bin"};
  INTARSIA_TRY_VOID(
      write_file(run.inputs[0], {reinterpret_cast<const char*>(file.data()), file.size()}));
  INTARSIA_TRY(const std::string run_text, board::run_file_text(run));
  start.run_file = folder + "/run.txt";
  INTARSIA_TRY_VOID(write_file(start.run_file, run_text));
  if (request.count) {
    INTARSIA_TRY(start.count, counting(start.program, folder));
  }
  INTARSIA_TRY(const std::vector<std::string> command, board::run_command(board, start));
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command));
  if (!outcome.succeeded())
    return Diagnostics(request.board, fmt::format("the run ended with {}: {}{}", outcome.ending(),
                                                  outcome.out, outcome.err));

  INTARSIA_TRY(const std::vector<uint8_t> all, read_file(run.outputs[0]));
  CoreRun result;
  for (size_t i = 0; i < kernels.count(); ++i) {
    const uint8_t* slice = &all[i * layout.slice()];
    result.outputs.emplace_back(slice + kGuard, slice + kGuard + layout.outputs[i]);
    result.damage.push_back(damage_of(kernels, layout, i, slice));
  }
  if (start.count) {
    INTARSIA_TRY(result.instructions, board::read_counts(start.count->output));
    const uint64_t around = result.instructions.back();
    result.instructions.pop_back();
    for (uint64_t& count : result.instructions) count -= around;
  }
  return result;
}

}  // namespace intarsia::test::cortex_m
