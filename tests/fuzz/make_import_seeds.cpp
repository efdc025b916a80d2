// Writes small valid models into a folder, to start fuzz_import from: make_import_seeds FOLDER
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <utility>

#include "tflite_builder.h"

int main(int argc, char** argv) {
  using namespace intarsia::test;
  if (argc != 2) return std::fputs("usage: make_import_seeds FOLDER\n", stderr), 2;
  const std::pair<const char*, ModelSpec> seeds[] = {{"conv2d", conv2d_model()},
                                                     {"depthwise_conv2d", depthwise_conv2d_model()},
                                                     {"dense", fully_connected_model()},
                                                     {"pool", average_pool2d_model()},
                                                     {"add", add_model()},
                                                     {"softmax", softmax_model()},
                                                     {"reshape", reshape_model()},
                                                     {"pad", pad_model()},
                                                     {"mean", mean_model()},
                                                     {"quantize", quantize_model()},
                                                     {"chain", chain_model()}};
  std::filesystem::create_directories(argv[1]);
  for (const auto& [name, model] : seeds) {
    const std::vector<uint8_t> bytes = build(model);
    std::ofstream file(std::filesystem::path(argv[1]) / (std::string(name) + ".tflite"),
                       std::ios::binary);
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    if (!file) return std::fprintf(stderr, "cannot write to %s\n", argv[1]), 1;
  }
}
