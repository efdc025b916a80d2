// The reference evaluator against the built program, on samples made here; on a difference, the same
// with every intermediate tensor as an output names the first operator that differs, and where devices may
// round in their own way says whether each stayed within what it is allowed.
#include <algorithm>
#include <numeric>
#include <random>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "commands.h"
#include "intarsia/import.h"
#include "program.h"
#include "support/files.h"
#include "verify_operators.h"

namespace intarsia::cli {
namespace {

// Sample 0 is all zero points, 1 and 2 the smallest and largest values, the rest random.
Values make_sample(const graph::Function& function, int index) {
  std::mt19937 random(static_cast<uint32_t>(index));
  Values sample;
  for (const graph::TensorId id : function.inputs) {
    const graph::Tensor& tensor = function.tensor(id);
    graph::TensorValue bytes(static_cast<size_t>(tensor.bytes()));
    if (tensor.type == DataType::Float32) {
      std::uniform_real_distribution<float> values(-1, 1);
      for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
        const float value = index == 0 ? 0.0f : values(random);
        std::memcpy(&bytes[i], &value, 4);
      }
    } else {
      const size_t width = std::max<size_t>(1, static_cast<size_t>(bits(tensor.type)) / 8);
      const int64_t zero = tensor.quantization.present() ? tensor.quantization.zero_point[0] : 0;
      const int64_t low = is_signed(tensor.type) ? -(int64_t{1} << (8 * width - 1)) : 0;
      const int64_t high = is_signed(tensor.type) ? ~low : (int64_t{1} << (8 * width)) - 1;
      std::uniform_int_distribution<int64_t> values(low, high);
      for (size_t i = 0; i + width <= bytes.size(); i += width) {
        const int64_t value = index == 0   ? zero
                              : index == 1 ? low
                              : index == 2 ? high
                                           : values(random);
        std::memcpy(&bytes[i], &value, width);
      }
    }
    sample.push_back(std::move(bytes));
  }
  return sample;
}

bool has_state(const graph::Module& module) {
  for (const graph::Function& function : module.functions)
    for (const graph::Tensor& tensor : function.tensors)
      if (tensor.variable) return true;
  return false;
}

// One value after another, per tensor; and one of `count` such slices.
Values joined(const std::vector<Values>& samples) {
  Values all(samples.front().size());
  for (const Values& sample : samples)
    for (size_t i = 0; i < sample.size(); ++i)
      all[i].insert(all[i].end(), sample[i].begin(), sample[i].end());
  return all;
}
Values slice(const Values& all, size_t index, size_t count) {
  Values one;
  for (const graph::TensorValue& values : all) {
    const auto bytes = static_cast<int64_t>(values.size() / count);
    const auto begin = values.begin() + static_cast<int64_t>(index) * bytes;
    one.emplace_back(begin, begin + bytes);
  }
  return one;
}

struct Ran {
  std::vector<Values> results;
  Explanation explanation;
};

struct Runner {
  Context& context;
  const VerifyCommand& command;
  Selection selection;

  // Outputs of the built program for every sample, and who ran what.
  Result<Ran> run(const graph::Module& module, const std::vector<Values>& samples) const {
    INTARSIA_TRY(const TemporaryFolder work, TemporaryFolder::make());
    INTARSIA_TRY(const CompiledProgram compiled, compile_program(context, selection, module));
    Ran ran;
    ran.explanation = partitioned_of(compiled).explanation;
    const std::string folder = work.path() + "/package";
    INTARSIA_TRY(const PackageManifest manifest,
                 write_package(context, selection, compiled, folder));
    const BuildSetting setting =
        build_setting(context, command.common, selection, folder, manifest);
    INTARSIA_TRY(const std::string program, build_program(setting, work.path()));
    // Samples are independent of each other: a program with state starts anew for each.
    const size_t at_once = has_state(module) ? 1 : samples.size();
    for (size_t first = 0; first < samples.size(); first += at_once) {
      ExecuteRequest request;
      request.program = program;
      request.inputs = joined({samples.begin() + static_cast<int64_t>(first),
                               samples.begin() + static_cast<int64_t>(first + at_once)});
      request.repeat = static_cast<int32_t>(at_once);
      request.keep_all = true;
      INTARSIA_TRY(const ExecuteResult result, execute(setting, request, work.path()));
      for (size_t run = 0; run < at_once; ++run)
        ran.results.push_back(slice(result.outputs, run, at_once));
    }
    return ran;
  }
};

Result<std::vector<Values>> evaluate(const graph::Module& module,
                                     const std::vector<Values>& samples) {
  std::vector<Values> results;
  for (const Values& sample : samples) {
    graph::Evaluator evaluator(module);
    INTARSIA_TRY(Values values, evaluator.run(sample));
    results.push_back(std::move(values));
  }
  return results;
}

// "operator 'conv_3' output 0, sample 2", or empty when all agree.
std::string first_difference(const graph::Module& module, const std::vector<Values>& expected,
                             const std::vector<Values>& actual) {
  const graph::Function& function = module.entry_function();
  for (const graph::Node& node : function.nodes)
    for (size_t o = 0; o < function.outputs.size(); ++o) {
      if (std::find(node.outputs.begin(), node.outputs.end(), function.outputs[o]) ==
          node.outputs.end())
        continue;
      const graph::Tensor& tensor = function.tensor(function.outputs[o]);
      for (size_t s = 0; s < expected.size(); ++s)
        if (!agree(tensor, expected[s][o], actual[s][o]))
          return describe_difference(node, tensor, s, expected[s][o], actual[s][o]);
    }
  return "";
}

struct Agreement {
  size_t samples = 0;
  int32_t allowed = 0,
          largest = 0;  // steps of an operator's result, where a device rounds differently
};

std::string text_of(const Agreement& agreement, const std::string& name,
                    const VerifyCommand& command, const Selection& selection) {
  const std::string target = to_string(selection.target);
  if (command.common.json) {
    nlohmann::ordered_json json = {{"model", name},
                                   {"target", target},
                                   {"board", selection.board.name},
                                   {"samples", agreement.samples},
                                   {"agree", true}};
    if (agreement.allowed > 0)
      json["allowed_difference"] = agreement.allowed,
      json["largest_difference"] = agreement.largest;
    return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
  }
  std::string text = fmt::format("{}: reference and program agree on {} samples ({} on board {})\n",
                                 name, agreement.samples, target, selection.board.name);
  if (agreement.allowed > 0)
    text += fmt::format(
        "each operator on the operands it had: devices that round in their own way within {} of "
        "the reference "
        "({} at most is allowed), all others exactly\n",
        agreement.largest, agreement.allowed);
  return text;
}

// The slimmed model with every tensor as an output, on the same members.
struct Opened {
  graph::Module module;
  Result<Ran> ran;
};
Result<Opened> run_opened(Runner& runner, const graph::Module& module,
                          const std::vector<Values>& samples, const Ran& closed) {
  INTARSIA_TRY(const Slimmed slimmed, slim_as_asked(module, runner.selection.options));
  INTARSIA_TRY_VOID(check_slimmed(module, slimmed.module, runner.command.samples));
  runner.selection.options.lowering.slim =
      false;  // outputs hold every channel: there is less to slim
  graph::Module opened = with_all_outputs(pinned_as(slimmed.module, closed.explanation));
  Result<Ran> ran = runner.run(opened, samples);
  return Opened{std::move(opened), std::move(ran)};
}

Result<std::string> verify(Context& context, const VerifyCommand& command) {
  INTARSIA_TRY(const Selection selection, select(context, command.common));
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(command.common.model));
  INTARSIA_TRY(const graph::Module module, import_file(bytes, command.common.model));
  std::vector<Values> samples;
  for (int i = 0; i < command.samples; ++i)
    samples.push_back(make_sample(module.entry_function(), i));

  Runner runner{context, command, selection};
  INTARSIA_TRY(const std::vector<Values> expected, evaluate(module, samples));
  INTARSIA_TRY(const Ran closed, runner.run(module, samples));
  std::string difference = first_difference(module, expected, closed.results);
  if (difference.empty()) return text_of({samples.size()}, module.name, command, selection);

  INTARSIA_TRY(const Opened opened, run_opened(runner, module, samples, closed));
  const std::map<std::string, int32_t> allowed =
      tolerances(opened.module, closed.explanation, context.registry, selection.target);
  const int32_t most =
      std::accumulate(allowed.begin(), allowed.end(), 0,
                      [](int32_t so_far, const auto& row) { return std::max(so_far, row.second); });
  if (most > 0) {
    INTARSIA_TRY(const Ran& ran, opened.ran);
    INTARSIA_TRY(const OperatorCheck check,
                 check_operators(opened.module, allowed, samples, ran.results));
    difference = check.difference;
    // What the operators were seen to do has to be what the program as it is does.
    if (difference.empty()) {
      std::vector<Values> outputs;
      for (const Values& all : ran.results)
        outputs.emplace_back(all.begin(),
                             all.begin() + static_cast<int64_t>(closed.results[0].size()));
      difference = first_difference(module, outputs, closed.results);
    }
    if (difference.empty())
      return text_of({samples.size(), most, check.largest}, module.name, command, selection);
  } else if (opened.ran.ok()) {
    INTARSIA_TRY(const std::vector<Values> all_expected, evaluate(opened.module, samples));
    const std::string first = first_difference(opened.module, all_expected, opened.ran->results);
    if (!first.empty()) difference = first;
  }
  return Diagnostics(module.name, "reference and program differ, first at " + difference,
                     "this is a fault of the compiler, please report it with the model");
}

}  // namespace

int run_verify(Context& context, const VerifyCommand& command) {
  const Result<std::string> text = verify(context, command);
  if (!text.ok()) return fail(text.error());
  fmt::print("{}", *text);
  return kDone;
}

}  // namespace intarsia::cli
