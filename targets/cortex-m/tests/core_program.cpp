#include "core_program.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include <fmt/format.h>

#include "board/board_firmware.h"
#include "build/compile_jobs.h"
#include "build/count_cycles.h"
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

// A slice of input: the operator's number, that of the input whose place the output takes and one, or 0, its inputs one after another. A slice of output: guard, output, and
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

// Calls an operator as code does that keeps values in every register that calls preserve: fills them, and returns 0 if
// they are as they were. `naked`: nothing of it is the compiler's. On 64-bit cores the kernels have no assembly, and a plain call
// does.
std::string strict_call() {
  constexpr int kFirstLow = 4, kFirstHigh = 8, kPattern = 0xA0, kFirstDouble = 8, kDoubles = 8;
  std::string fill, compare;
  for (int high = kFirstHigh; high < kFirstHigh + 4; ++high) {
    fill += fmt::format("  \"movs r4, #{}\\nmov r{}, r4\\n\"\n", kPattern + high, high);
    compare +=
        fmt::format("  \"mov r5, r{}\\nsubs r5, #{}\\norrs r4, r5\\n\"\n", high, kPattern + high);
  }
  std::string fill_low, compare_low;
  for (int low = kFirstLow; low < kFirstLow + 4; ++low) {
    fill_low += fmt::format("  \"movs r{}, #{}\\n\"\n", low, kPattern + low);
    compare_low += fmt::format("  \"subs r{}, #{}\\n\"\n", low, kPattern + low);
  }
  std::string fill_doubles, compare_doubles;
  for (int d = kFirstDouble; d < kFirstDouble + kDoubles; ++d) {
    fill_doubles += fmt::format("  \"vmov d{}, r4, r5\\n\"\n", d);
    compare_doubles += fmt::format(
        "  \"vmov r0, r1, d{}\\nsubs r0, #{}\\nsubs r1, #{}\\norrs r4, r0\\norrs r4, r1\\n\"\n", d,
        kPattern + kFirstLow, kPattern + kFirstLow + 1);
  }
  return "#ifndef __arm__\n"
         "static int32_t strict_call(void (*function)(void **), void **p) {\n"
         "  function(p);\n  return 0;\n}\n#else\n"
         "#if defined __ARM_FP && !defined __SOFTFP__\n#define DOUBLES(text) text\n#else\n#define "
         "DOUBLES(text)\n"
         "#endif\n"
         "__attribute__((naked, noinline)) static int32_t strict_call(\n"
         "    __attribute__((unused)) void (*function)(void **), __attribute__((unused)) void **p) "
         "{\n"
         "  __asm__ volatile(\".syntax unified\\npush {r3, r4, r5, r6, r7, lr}\\n\"\n"
         "  \"mov r4, r8\\nmov r5, r9\\nmov r6, r10\\nmov r7, r11\\npush {r4, r5, r6, r7}\\n\"\n"
         "  DOUBLES(\"vpush {d8-d15}\\n\")\n"
         "  \"mov r2, r0\\nmov r0, r1\\n\"\n" +
         fill + fill_low + "  DOUBLES(\n" + fill_doubles + "  )\n  \"blx r2\\n\"\n" + compare_low +
         "  \"orrs r4, r5\\norrs r4, r6\\norrs r4, r7\\n\"\n" + compare + "  DOUBLES(\n" +
         compare_doubles +
         "  \"vpop {d8-d15}\\n\")\n"
         "  \"mov r0, r4\\npop {r4, r5, r6, r7}\\nmov r8, r4\\nmov r9, r5\\nmov r10, r6\\nmov r11, "
         "r7\\n\"\n"
         "  \"pop {r3, r4, r5, r6, r7, pc}\\n\");\n}\n#endif\n";
}

// The model that the boards' main runs. The numbers `begin` and `end` belong to operator `count`, which
// does nothing: what a run costs beside its operator.
std::string driver(const KernelProgram& kernels, const Layout& layout) {
  std::string text = "#include <string.h>\n#include \"intarsia/contract/model_descriptor.h\"\n";
  text += fmt::format("enum {{ INPUT = {}, OUTPUT = {}, SLICE = {}, GUARD = {}, PAINT = {} }};\n",
                      layout.input_bytes, layout.output_bytes, layout.slice(), kGuard, kPaint);
  text += fmt::format(
      "static _Alignas({0}) uint8_t in[INPUT];\nstatic _Alignas({0}) uint8_t out[SLICE];\n",
      kAlignment);
  text += strict_call();
  text += "enum { REGISTERS_CHANGED = 77 };\nstatic void nothing(void **p) { (void)p; }\n";
  text +=
      "static const struct { void (*run)(void **); int32_t inputs, scratch, bytes, at[6]; } "
      "operators[] = "
      "{\n";
  for (size_t i = 0; i < kernels.count(); ++i) {
    const size_t scratch = kernels.scratch(i).size();
    text +=
        fmt::format("  {{m{}_run, {}, {}, {}, {{{}}}}},\n", i, layout.arguments[i].size() - scratch,
                    scratch, layout.outputs[i], fmt::join(layout.arguments[i], ", "));
  }
  text += R"(  {nothing, 0, 0, 0, {0}}};
static int32_t init(void) { return 0; }
static int32_t run(void) {
  void *p[8] = {0};
  uint32_t number, shared, next = 0;
  memcpy(&number, in, sizeof number);
  memcpy(&shared, in + sizeof number, sizeof shared);
  memset(out, PAINT, sizeof out);
  for (int32_t i = 0; i < operators[number].inputs; ++i, ++next) p[next] = in + operators[number].at[i];
  p[next] = out + GUARD;
  if (shared != 0) {
    memcpy(out + GUARD, p[shared - 1], (size_t)operators[number].bytes);
    p[shared - 1] = out + GUARD;
  }
  for (int32_t i = 0; i < operators[number].scratch; ++i, ++next) p[next + 1] = out + OUTPUT + operators[number].at[next];
  return strict_call(operators[number].run, p) == 0 ? 0 : REGISTERS_CHANGED;
}
static void *input(int32_t index) { return index == 0 ? in : 0; }
static const void *output(int32_t index) { return index == 0 ? out : 0; }
static const struct intarsia_tensor_info inputs[] = {{"in", INPUT}};
static const struct intarsia_tensor_info outputs[] = {{"out", SLICE}};
const struct intarsia_model_descriptor intarsia_model = {"operators", 1, 1, inputs, outputs, init, input, output, run, 0, 0, 0};
)";
  return text;
}

// One run: an operator, and the input whose place its output takes and one, or 0.
struct Step {
  size_t number, shared;
};

// All operators and the one that does nothing; then those that may write in place of an input.
std::vector<Step> steps_of(const KernelProgram& kernels, bool in_place) {
  std::vector<Step> steps;
  for (size_t i = 0; i <= kernels.count(); ++i) steps.push_back({i, 0});
  for (size_t i = 0; in_place && i < kernels.count(); ++i)
    for (const tir::InPlace& pair : kernels.in_place(i))
      steps.push_back({i, static_cast<size_t>(pair.input) + 1});
  return steps;
}

std::vector<uint8_t> input_file(const std::vector<Step>& steps, const Layout& layout,
                                const std::vector<std::vector<graph::TensorValue>>& inputs) {
  std::vector<uint8_t> bytes(steps.size() * layout.input_bytes);
  for (size_t s = 0; s < steps.size(); ++s) {
    const size_t i = steps[s].number;
    uint8_t* slice = &bytes[s * layout.input_bytes];
    for (size_t byte = 0; byte < 4; ++byte) slice[byte] = static_cast<uint8_t>(i >> (8 * byte));
    slice[4] = static_cast<uint8_t>(steps[s].shared);
    if (i == inputs.size()) continue;
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

std::vector<std::string> kernel_sources() {
  const std::string root = INTARSIA_SOURCE_DIR;
  std::vector<std::string> sources;
  for (const char* folder : {"/targets/cortex-m/device", "/device-runtime/kernels/src"})
    for (const auto& entry : fs::directory_iterator(root + folder))
      if (entry.path().extension() == ".c") sources.push_back(entry.path().string());
  std::sort(sources.begin(), sources.end());
  return sources;
}

std::vector<std::string> strict_flags() {
  const std::string root = INTARSIA_SOURCE_DIR, views = INTARSIA_CORTEX_M_VIEWS;
  return {"-std=c11",
          "-ffunction-sections",
          "-fdata-sections",
          "-Wall",
          "-Wextra",
          "-Wconversion",
          "-Werror",
          "-I" + views + "/isa",
          "-I" + views + "/device",
          "-I" + root + "/device-runtime/kernels/include",
          "-I" + root + "/device-runtime/contract/include"};
}

// Objects in `folder`. What they are of is the same for all programs of tests: one that another program compiled with the
// same command comes from the cache.
Result<std::vector<std::string>> compile_or_take(std::vector<std::string> command,
                                                 const std::vector<std::string>& sources,
                                                 const std::string& folder) {
  std::vector<std::string> include_dirs;
  std::erase_if(command, [&](const std::string& flag) {
    if (!flag.starts_with("-I")) return false;
    include_dirs.push_back(flag.substr(2));
    return true;
  });
  std::vector<build::Job> jobs;
  std::vector<std::string> objects;
  for (const std::string& source : sources) {
    objects.push_back(folder + "/" + fs::path(source).stem().string() + ".o");
    jobs.push_back({command, include_dirs, source, "", objects.back(),
                    source.starts_with(INTARSIA_SOURCE_DIR)});
  }
  INTARSIA_TRY_VOID(build::run_jobs(BuildSetting(), jobs));
  return objects;
}

// Objects of the kernels as the board compiles them: once for all programs of this process that ask for the same.
Result<std::vector<std::string>> kernel_objects(const board::Board& board, const board::Core& core,
                                                const std::vector<std::string>& flags) {
  static const Result<TemporaryFolder> all = TemporaryFolder::make();
  if (!all.ok()) return all.error();
  static std::map<std::vector<std::string>, std::vector<std::string>> made;
  std::vector<std::string> command = {board.compiler, "-std=c11"};
  for (const std::vector<std::string>& some :
       {board::compile_flags(board, core), board::include_flags(INTARSIA_SOURCE_DIR), flags})
    command.insert(command.end(), some.begin(), some.end());
  const auto found = made.find(command);
  if (found != made.end()) return found->second;
  const std::string folder = fmt::format("{}/{}", all->path(), made.size());
  fs::create_directory(folder);
  INTARSIA_TRY(std::vector<std::string> objects,
               compile_or_take(command, kernel_sources(), folder));
  return made.emplace(std::move(command), std::move(objects)).first->second;
}

Result<std::string> build(const board::Board& board, const board::Core& core,
                          const CoreRequest& request, const std::string& source,
                          const std::string& folder) {
  const std::string root = INTARSIA_SOURCE_DIR;
  board::BuildRequest build;
  if (request.setting) {
    INTARSIA_TRY(build.sources, compile_kernels(*request.setting, source, folder));
    build.flags = {"-Os", "-std=c11"};
    // The linker compiles once more what GCC left to it.
    if (request.setting->whole_program && request.setting->compiler != "clang")
      build.flags = {"-Os", "-std=c11", "-flto"};
  } else {
    build.flags = strict_flags();
    build.flags.insert(build.flags.begin(), request.optimise);
    // Loops that are unrolled as a whole leave weights that nothing reads: no fault of what is counted.
    if (request.count_cycles) build.flags.emplace_back("-Wno-unused-const-variable");
    INTARSIA_TRY(build.sources, kernel_objects(board, core, build.flags));
    build.sources.push_back(source);
  }
  if (!board.native()) {
    build.linker_script_path = folder + "/board.ld";
    INTARSIA_TRY_VOID(write_file(build.linker_script_path, board::linker_script(board)));
  }
  build.output = folder + "/program";
  INTARSIA_TRY(const ProcessOutcome built,
               run_process(board::build_command(board, core, root, build)));
  if (!built.succeeded())
    return Diagnostics(request.core, "the kernels do not build:\n" + built.err);
  return build.output;
}

Result<board::CountRequest> counting(const board::Board& board, const board::Core& core,
                                     const CoreRequest& request, const std::string& program,
                                     const std::string& folder) {
  board::CountRequest count;
  count.plugin = folder + "/count.so";
  count.output = folder + "/count.txt";
  if (request.count_cycles) {
    BuildSetting setting;
    setting.board = board, setting.core = core, setting.resource_root = INTARSIA_SOURCE_DIR;
    count.core = core.name, count.listing = folder + "/code.txt";
    INTARSIA_TRY_VOID(build::write_cycle_listing(setting, program, count.listing));
  }
  INTARSIA_TRY(const ProcessOutcome made,
               run_process(request.count_cycles
                               ? board::cycles_plugin_command(INTARSIA_SOURCE_DIR, count.plugin)
                               : board::count_plugin_command(INTARSIA_SOURCE_DIR, count.plugin)));
  if (!made.succeeded()) return Diagnostics("instruction counter", made.err);
  INTARSIA_TRY(const board::ElfImage image, board::read_elf(program));
  count.begin = image.symbols.at("intarsia_mark_begin");
  count.end = image.symbols.at("intarsia_mark_end");
  return count;
}

}  // namespace

Result<std::vector<std::string>> compile_kernels(const Setting& setting, const std::string& source,
                                                 const std::string& folder) {
  const bool clang = setting.compiler == "clang";
  std::vector<std::string> command = {setting.compiler};
  // Headers of the C library that the cross compiler brings.
  if (clang) command.insert(command.end(), {"--target=arm-none-eabi", "-isystem", INTARSIA_NEWLIB});
  command.push_back("-mthumb");
  command.insert(command.end(), setting.core.begin(), setting.core.end());
  for (const std::string& flag : strict_flags()) command.push_back(flag);
  command.insert(command.end(), setting.flags.begin(), setting.flags.end());
  const auto run = [&](const std::vector<std::string>& what) -> Result<void> {
    INTARSIA_TRY(const ProcessOutcome outcome, run_process(what));
    if (!outcome.succeeded()) return Diagnostics(what.front(), "fails:\n" + outcome.err);
    return {};
  };
  std::vector<std::string> sources = kernel_sources();
  if (!source.empty()) sources.push_back(source);
  if (setting.whole_program) command.push_back("-flto");
  // Clang's way to a whole program, without its linker: one module, optimised once more.
  if (!setting.whole_program || !clang) return compile_or_take(command, sources, folder);
  std::vector<std::string> objects;
  for (const std::string& file : sources) {
    std::vector<std::string> one = command;
    objects.push_back(folder + "/" + fs::path(file).stem().string() + ".bc");
    one.insert(one.end(), {"-c", file, "-o", objects.back()});
    INTARSIA_TRY_VOID(run(one));
  }
  std::vector<std::string> link = {"llvm-link", "-o", folder + "/all.bc"};
  link.insert(link.end(), objects.begin(), objects.end());
  INTARSIA_TRY_VOID(run(link));
  std::vector<std::string> whole = {setting.compiler, "--target=arm-none-eabi", "-mthumb"};
  whole.insert(whole.end(), setting.core.begin(), setting.core.end());
  whole.insert(whole.end(), setting.flags.begin(), setting.flags.end());
  whole.insert(whole.end(), {"-Wno-unused-command-line-argument", "-c", folder + "/all.bc", "-o",
                             folder + "/all.o"});
  INTARSIA_TRY_VOID(run(whole));
  return std::vector<std::string>{folder + "/all.o"};
}

std::string core_source(const KernelProgram& kernels,
                        const std::vector<std::vector<graph::TensorValue>>& inputs) {
  return kernels.text() + driver(kernels, lay_out(kernels, inputs));
}

bool can_run_cores(std::string& reason, bool riscv) {
  const char* const of_arm[] = {"arm-none-eabi-gcc", "qemu-system-arm"};
  const char* const of_riscv[] = {"riscv64-unknown-elf-gcc", "qemu-system-riscv32"};
  for (const char* program : riscv ? of_riscv : of_arm) {
    const auto outcome = run_process({program, "--version"});
    if (outcome.ok() && outcome->succeeded()) continue;
    reason = std::string(program) + " is not installed";
    return false;
  }
  return true;
}

std::vector<graph::TensorValue> first_states(const graph::Module& module) {
  std::vector<graph::TensorValue> states;
  const graph::Function& function = module.entry_function();
  for (const graph::TensorId id : function.nodes[0].inputs) {
    if (!id.valid() || !function.tensor(id).variable) continue;
    const graph::Tensor& state = function.tensor(id);
    const auto zero =
        static_cast<uint8_t>(state.type == DataType::Int8 ? state.quantization.zero_point[0] : 0);
    states.emplace_back(static_cast<size_t>(state.bytes()), zero);
  }
  return states;
}

Result<CoreRun> run_on_core(const CoreRequest& request, const KernelProgram& kernels,
                            const std::vector<std::vector<graph::TensorValue>>& inputs) {
  INTARSIA_TRY(board::Board board,
               board::find_board(std::string(INTARSIA_SOURCE_DIR) + "/boards", request.board));
  if (!request.waits)
    for (board::Memory& memory : board.memories) memory.cycles_per_access = 1;
  INTARSIA_TRY(board::Core core, board::core_for(board, request.core));
  // What is around the kernels is called as they are.
  if (request.setting && std::count(request.setting->core.begin(), request.setting->core.end(),
                                    "-mfloat-abi=soft") != 0) {
    std::erase_if(core.flags, [](const std::string& flag) {
      return flag.starts_with("-mfpu=") || flag.starts_with("-mfloat-abi=");
    });
    core.flags.push_back("-mfloat-abi=soft");
  }
  INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
  const std::string folder = work.path();
  const Layout layout = lay_out(kernels, inputs);
  INTARSIA_TRY_VOID(write_file(folder + "/operators.c", core_source(kernels, inputs)));
  board::StartRequest start;
  INTARSIA_TRY(start.program, build(board, core, request, folder + "/operators.c", folder));

  const std::vector<Step> steps = steps_of(kernels, !request.count && !request.count_cycles);
  const std::vector<uint8_t> file = input_file(steps, layout, inputs);
  board::RunRequest run;
  run.repeat = static_cast<int32_t>(steps.size());
  run.keep_all = true;
  run.inputs = {folder + "/in0.bin"};
  run.outputs = {folder + "/out0.bin"};
  INTARSIA_TRY_VOID(
      write_file(run.inputs[0], {reinterpret_cast<const char*>(file.data()), file.size()}));
  INTARSIA_TRY(const std::string run_text, board::run_file_text(run));
  start.run_file = folder + "/run.txt";
  INTARSIA_TRY_VOID(write_file(start.run_file, run_text));
  if (request.count || request.count_cycles) {
    INTARSIA_TRY(start.count, counting(board, core, request, start.program, folder));
  }
  INTARSIA_TRY(const std::vector<std::string> command, board::run_command(board, start));
  INTARSIA_TRY(const ProcessOutcome outcome, run_process(command));
  if (!outcome.succeeded())
    return Diagnostics(request.board, fmt::format("the run ended with {}: {}{}", outcome.ending(),
                                                  outcome.out, outcome.err));

  INTARSIA_TRY(const std::vector<uint8_t> all, read_file(run.outputs[0]));
  CoreRun result;
  for (size_t s = 0; s < steps.size(); ++s) {
    const size_t i = steps[s].number;
    if (i == kernels.count()) continue;
    const uint8_t* slice = &all[s * layout.slice()];
    std::vector<uint8_t> output(slice + kGuard, slice + kGuard + layout.outputs[i]);
    const std::string damage = damage_of(kernels, layout, i, slice);
    if (s < kernels.count()) {
      result.outputs.push_back(std::move(output));
      result.damage.push_back(damage);
      continue;
    }
    // What is in place of an input has to be what it is elsewhere.
    if (output != result.outputs[i] && result.damage[i].empty())
      result.damage[i] = fmt::format("by writing in place of input {}", steps[s].shared - 1);
    if (result.damage[i].empty()) result.damage[i] = damage;
  }
  if (request.count_cycles) {
    INTARSIA_TRY(const auto counts, board::read_cycle_counts(start.count->output));
    const double around = counts.back().cycles.nominal;
    for (size_t i = 0; i < kernels.count(); ++i) {
      if (counts[i].unknown)
        return Diagnostics(
            request.core,
            fmt::format("no timing is known of the instruction at {:#x}", *counts[i].unknown));
      result.cycles.push_back(counts[i].cycles.nominal - around);
    }
  } else if (start.count) {
    INTARSIA_TRY(result.instructions, board::read_counts(start.count->output));
    const uint64_t around = result.instructions.back();
    result.instructions.pop_back();
    for (uint64_t& count : result.instructions) count -= around;
  }
  return result;
}

}  // namespace intarsia::test::cortex_m
