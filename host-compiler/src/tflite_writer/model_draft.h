// A .tflite file to be written: tensors and operators of another one, and new ones.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tflite_writer/original.h"

namespace intarsia::tflite_writer {

struct TensorDraft {
  int32_t original = -1;  // of the file's first subgraph; what follows is of a new one
  std::string name = {};
  DataType type = DataType::UInt8;
  Shape shape = {};
  graph::Quantization quantization = {};
  SharedBytes data = {};  // empty: no constant
  bool is_variable = false;
};

struct OperatorDraft {
  int32_t original = -1;  // of the file's first subgraph; what follows is of a new, custom one
  std::string custom_code = {};
  std::vector<uint8_t> custom_options = {};
  std::vector<int32_t> inputs = {}, outputs = {};  // tensors of the draft
};

struct MetadataDraft {
  std::string name;
  std::vector<uint8_t> bytes;  // replaces what the file has by that name
};

struct ModelDraft {
  std::string name;  // of the subgraph of a file that is written from nothing
  std::vector<TensorDraft> tensors;
  std::vector<OperatorDraft> operators;
  std::vector<int32_t> inputs, outputs;  // tensors of the draft
  // For our own importer: without the file's other subgraphs, signatures and metadata.
  bool is_part = false;
  std::vector<MetadataDraft> metadata = {};
};

// `original`: the file that parts are of; null where there is none. Constants that are equal are written once, at multiples of 16 bytes.
Result<std::vector<uint8_t>> write_model(const Original* original, const ModelDraft& draft);

}  // namespace intarsia::tflite_writer
