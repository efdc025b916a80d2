#include "build/exchanged_files.h"

#include <algorithm>
#include <string_view>

#include <fmt/format.h>

#include "support/files.h"

namespace intarsia::build {
namespace {

int64_t bytes_of_run(const std::vector<TensorInfo>& tensors) {
  int64_t bytes = 0;
  for (const TensorInfo& tensor : tensors) bytes += tensor.bytes;
  return bytes;
}

// All inputs of a run one after another, and then those of the next; one run, where all runs have the same.
void write_joined(const PackageManifest& manifest, const ExecuteRequest& request,
                  const TextSink& sink) {
  const auto size = [&](size_t i) { return static_cast<size_t>(manifest.inputs[i].bytes); };
  bool differ = false;
  for (size_t i = 0; i < request.inputs.size(); ++i) differ |= request.inputs[i].size() > size(i);
  for (int32_t run = 0; run < (differ ? request.repeat : 1); ++run)
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      const std::vector<uint8_t>& bytes = request.inputs[i];
      const size_t at = bytes.size() > size(i) ? static_cast<size_t>(run) * size(i) : 0;
      sink(std::string_view(reinterpret_cast<const char*>(bytes.data()) + at, size(i)));
    }
}

}  // namespace

Result<void> exchange_files(const PackageManifest& manifest, const ExecuteRequest& request,
                            const std::string& folder, board::RunRequest& run) {
  if (request.inputs.size() > kMostFiles) {
    run.joined_inputs = folder + "/in.bin";
    INTARSIA_TRY_VOID(write_file(
        run.joined_inputs, [&](const TextSink& sink) { write_joined(manifest, request, sink); }));
  } else {
    for (size_t i = 0; i < request.inputs.size(); ++i) {
      run.inputs.push_back(fmt::format("{}/in{}.bin", folder, i));
      const std::vector<uint8_t>& bytes = request.inputs[i];
      INTARSIA_TRY_VOID(write_file(run.inputs.back(), bytes));
    }
  }
  if (manifest.outputs.size() > kMostFiles) {
    run.joined_outputs = folder + "/out.bin";
  } else {
    for (size_t i = 0; i < manifest.outputs.size(); ++i)
      run.outputs.push_back(fmt::format("{}/out{}.bin", folder, i));
  }
  return {};
}

Result<std::vector<std::vector<uint8_t>>> read_outputs(const PackageManifest& manifest,
                                                       const board::RunRequest& run) {
  std::vector<std::vector<uint8_t>> outputs;
  if (run.joined_outputs.empty()) {
    for (const std::string& path : run.outputs) {
      INTARSIA_TRY(std::vector<uint8_t> bytes, read_file(path));
      outputs.push_back(std::move(bytes));
    }
    return outputs;
  }
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(run.joined_outputs));
  const int64_t runs = run.keep_all ? run.repeat : 1;
  if (static_cast<int64_t>(bytes.size()) != runs * bytes_of_run(manifest.outputs))
    return Diagnostics(run.joined_outputs,
                       fmt::format("has {} bytes, and the outputs of {} runs have {}", bytes.size(),
                                   runs, runs * bytes_of_run(manifest.outputs)),
                       "the program did not write what its manifest says");
  outputs.resize(manifest.outputs.size());
  auto at = bytes.begin();
  for (int64_t n = 0; n < runs; ++n)
    for (size_t i = 0; i < outputs.size(); ++i) {
      const auto end = at + manifest.outputs[i].bytes;
      outputs[i].insert(outputs[i].end(), at, end);
      at = end;
    }
  return outputs;
}

}  // namespace intarsia::build
