// What tests of `compile --format tflite` have in common.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "cli.h"
#include "tflite_builder.h"

namespace intarsia::test {

// A written file, as its readers see it.
class Written {
 public:
  explicit Written(std::vector<uint8_t> bytes) : bytes_(std::move(bytes)) {
    flatbuffers::Verifier verifier(bytes_.data(), bytes_.size());
    EXPECT_TRUE(format::VerifyModelBuffer(verifier));
  }
  const format::Model& model() const { return *format::GetModel(bytes_.data()); }
  const format::Subgraph& graph() const { return *model().subgraphs()->Get(0); }
  const format::Tensor& tensor(int32_t id) const {
    return *graph().tensors()->Get(static_cast<uint32_t>(id));
  }
  const format::OperatorCode& code(const format::Operator& op) const {
    return *model().operator_codes()->Get(op.opcode_index());
  }
  bool is_on_npu(const format::Operator& op) const {
    const auto* name = code(op).custom_code();
    return name != nullptr && name->str() == "ethos-u";
  }
  int on_npu() const {
    int count = 0;
    for (const format::Operator* op : *graph().operators()) count += is_on_npu(*op);
    return count;
  }
  std::span<const uint8_t> data(int32_t id) const {
    const auto* data = model().buffers()->Get(tensor(id).buffer())->data();
    return data == nullptr ? std::span<const uint8_t>() : std::span(data->data(), data->size());
  }
  std::vector<int32_t> addresses() const {
    for (const format::Metadata* entry : *model().metadata()) {
      if (entry->name()->str() != "OfflineMemoryAllocation") continue;
      const auto* data = model().buffers()->Get(entry->buffer())->data();
      std::vector<int32_t> words(data->size() / 4);
      std::memcpy(words.data(), data->data(), data->size());
      EXPECT_EQ(words.at(0), 0);
      // An interpreter counts the tensors of all subgraphs, and may take the first ones' offsets for those of each.
      size_t all = 0;
      for (const format::Subgraph* each : *model().subgraphs()) {
        all += each->tensors()->size();
        for (size_t i = 0; each != &graph() && i < each->tensors()->size(); ++i)
          EXPECT_EQ(words.at(3 + i), -1) << "tensor " << i;
      }
      EXPECT_EQ(words.at(2), static_cast<int32_t>(all));
      EXPECT_EQ(words.size(), 3 + all);
      return {words.begin() + 3, words.begin() + 3 + graph().tensors()->size()};
    }
    ADD_FAILURE() << "the file says nowhere where its tensors are";
    return {};
  }
  int64_t bytes_of(int32_t id) const {
    static const std::map<int, int> kSizes = {{0, 4}, {2, 4}, {3, 1}, {4, 8},
                                              {6, 1}, {7, 2}, {9, 1}};
    int64_t bytes = kSizes.at(tensor(id).type());
    for (const int32_t extent : *tensor(id).shape()) bytes *= extent;
    return bytes;
  }
  size_t size() const { return bytes_.size(); }
  const uint8_t* begin() const { return bytes_.data(); }

 private:
  std::vector<uint8_t> bytes_;
};

class Offload : public Cli {
 protected:
  // Into out.tflite.
  ProcessOutcome offload(const std::string& model, const std::string& target,
                         std::vector<std::string> more = {}) const;
  Written written(const std::string& name = "out.tflite") const { return Written(read(name)); }
  // Of two inferences, the last.
  std::vector<std::vector<uint8_t>> results(const std::string& model, const std::string& target,
                                            const std::vector<std::string>& inputs) const;
};

// A table of one file: rows of cells by column.
using Table = std::vector<std::map<std::string, std::string>>;
Table table_of(const std::vector<uint8_t>& bytes);

// The interpreter of the first virtual environment in INTARSIA_PEERS that has the package; empty: none has.
std::string python_with(const std::string& package);

}  // namespace intarsia::test
