#include "tflite_writer/file_draft.h"

#include <algorithm>
#include <numeric>

namespace intarsia::tflite_writer {

namespace {

constexpr const char* kAddresses = "OfflineMemoryAllocation";

// Of a tensor that the file's metadata places: its offset, else that the interpreter chooses.
std::vector<uint8_t> addresses_of(const std::vector<int32_t>& offsets) {
  std::vector<int32_t> words = {0, 1, static_cast<int32_t>(offsets.size())};
  words.insert(words.end(), offsets.begin(), offsets.end());
  std::vector<uint8_t> bytes;
  for (const int32_t word : words)
    for (int i = 0; i < 4; ++i)
      bytes.push_back(static_cast<uint8_t>(static_cast<uint32_t>(word) >> (8 * i)));
  return bytes;
}

// The draft of the whole file, tensors in the order of the original, then those of the streams.
class FileDraft {
 public:
  FileDraft(const Original& model, const Program& program, const ProgramOperator& container)
      : model_(model), program_(program), container_(container) {}

  ModelDraft run(const std::vector<Step>& steps) {
    keep_tensors(steps);
    size_t stream = 0;
    for (const Step& step : steps) {
      if (step.region != nullptr)
        add_stream(*step.region, stream++);
      else
        draft_.operators.push_back({.original = step.op,
                                    .inputs = mapped(model_.op(step.op).inputs),
                                    .outputs = mapped(model_.op(step.op).outputs)});
    }
    draft_.inputs = mapped(model_.inputs());
    draft_.outputs = mapped(model_.outputs());
    leave_other_subgraphs_open();
    draft_.metadata.push_back({kAddresses, addresses_of(offsets_)});
    return std::move(draft_);
  }

 private:
  int32_t add(TensorDraft tensor, int64_t offset) {
    draft_.tensors.push_back(std::move(tensor));
    offsets_.push_back(static_cast<int32_t>(offset));
    return static_cast<int32_t>(offsets_.size() - 1);
  }

  void keep_tensors(const std::vector<Step>& steps) {
    std::set<int32_t> kept(model_.inputs().begin(), model_.inputs().end());
    kept.insert(model_.outputs().begin(), model_.outputs().end());
    for (const Step& step : steps) {
      if (step.region == nullptr) {
        for (const int32_t id : model_.tensors_of(step.op)) kept.insert(id);
        continue;
      }
      kept.insert(step.region->inputs.begin(), step.region->inputs.end());
      kept.insert(step.region->outputs.begin(), step.region->outputs.end());
    }
    for (const int32_t id : kept) {
      const auto place = program_.places.find(id);
      number_[id] = add({id}, place == program_.places.end() ? -1 : place->second.offset);
    }
  }

  int32_t add_bytes(const char* name, int64_t bytes, int64_t offset, SharedBytes data = {}) {
    return add({.name = name, .shape = {bytes}, .data = std::move(data)}, offset);
  }

  void add_stream(const Region& region, size_t number) {
    const CommandStream& stream = program_.streams[number];
    // Streams work in one arena, of which every tensor is a part.
    if (arena_ < 0) {
      arena_ = add_bytes("scratch", program_.arena_bytes, 0);
      fast_ = program_.fast_bytes == 0
                  ? arena_
                  : add_bytes("scratch_fast", program_.fast_bytes, program_.arena_bytes);
    }
    const SharedBytes constants = stream.constants;
    std::vector<int32_t> inputs(container_.first_input);
    inputs[container_.payload] =
        add_bytes("command_stream", std::ssize(stream.commands), -1, stream.commands);
    auto known = std::ranges::find(read_only_, constants, &std::pair<SharedBytes, int32_t>::first);
    if (known == read_only_.end()) {
      const int32_t id = add_bytes("read_only", std::ssize(stream.constants), -1, constants);
      known = read_only_.insert(known, {constants, id});
    }
    inputs[container_.constants] = known->second;
    inputs[container_.arena] = arena_;
    inputs[container_.fast_arena] = fast_;
    for (const int32_t id : region.inputs) inputs.push_back(number_.at(id));
    // An interpreter fills them with their zero points before the first run, and leaves them alone from then on.
    for (const auto& [variable, place] : program_.kept[number])
      inputs.push_back(add({.name = variable.name,
                            .type = variable.type,
                            .shape = variable.shape,
                            .quantization = variable.quantization,
                            .is_variable = true},
                           place.offset));
    std::vector<int32_t> outputs;
    for (const int32_t id : region.outputs) outputs.push_back(number_.at(id));
    draft_.operators.push_back({.custom_code = container_.custom_code,
                                .custom_options = container_.custom_options,
                                .inputs = std::move(inputs),
                                .outputs = std::move(outputs)});
  }

  // Interpreters want an offset for every tensor of every subgraph, and TFLite Micro takes the first ones again for each
  // subgraph, by its tensors' numbers. Nothing of the others is placed, so the first tensors of this one are not either.
  void leave_other_subgraphs_open() {
    size_t all = 0, most = 0;
    const auto& subgraphs = *model_.file().model().subgraphs();
    for (flatbuffers::uoffset_t i = 1; i < subgraphs.size(); ++i) {
      const auto* tensors = subgraphs.Get(i)->tensors();
      const size_t count = tensors == nullptr ? 0 : tensors->size();
      all += count;
      most = std::max(most, count);
    }
    const auto is_open = [&](int32_t tensor) { return offsets_[static_cast<size_t>(tensor)] < 0; };
    for (auto open = static_cast<size_t>(std::ranges::count(offsets_, -1)); open < most; ++open)
      add_bytes("unplaced", 1, -1, std::vector<uint8_t>{0});
    if (most > 0) {
      std::vector<int32_t> order(offsets_.size());
      std::iota(order.begin(), order.end(), 0);
      std::ranges::stable_partition(order, is_open);
      put_in_order(order);
    }
    offsets_.insert(offsets_.end(), all, -1);
  }

  // The tensor that is order[n] becomes the n-th.
  void put_in_order(const std::vector<int32_t>& order) {
    std::vector<TensorDraft> tensors;
    std::vector<int32_t> offsets, number(order.size());
    for (const int32_t from : order) {
      number[static_cast<size_t>(from)] = static_cast<int32_t>(tensors.size());
      tensors.push_back(std::move(draft_.tensors[static_cast<size_t>(from)]));
      offsets.push_back(offsets_[static_cast<size_t>(from)]);
    }
    draft_.tensors = std::move(tensors);
    offsets_ = std::move(offsets);
    const auto renumber = [&](std::vector<int32_t>& ids) {
      for (int32_t& id : ids)
        if (id >= 0) id = number[static_cast<size_t>(id)];
    };
    renumber(draft_.inputs);
    renumber(draft_.outputs);
    for (OperatorDraft& op : draft_.operators) {
      renumber(op.inputs);
      renumber(op.outputs);
    }
  }

  std::vector<int32_t> mapped(std::span<const int32_t> ids) const {
    std::vector<int32_t> result;
    for (const int32_t id : ids) result.push_back(id < 0 ? -1 : number_.at(id));
    return result;
  }

  const Original& model_;
  const Program& program_;
  const ProgramOperator& container_;
  ModelDraft draft_;
  std::vector<int32_t> offsets_;
  std::map<int32_t, int32_t> number_;
  std::vector<std::pair<SharedBytes, int32_t>> read_only_;
  int32_t arena_ = -1, fast_ = -1;
};

}  // namespace

ModelDraft draft_file(const Original& model, const std::vector<Step>& steps, const Program& program,
                      const ProgramOperator& container) {
  return FileDraft(model, program, container).run(steps);
}

}  // namespace intarsia::tflite_writer
