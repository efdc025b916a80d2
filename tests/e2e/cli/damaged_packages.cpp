// A program that runs damaged copies of a package on the kernels that it is linked with: PACKAGE INPUT OUTPUT COUNT. With
// the checksum that they have none may run; with one that is right none may leave its memory, which AddressSanitizer
// watches.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <vector>

#include "intarsia/executor/executor.h"
#include "intarsia/executor/image.h"

namespace {

std::vector<unsigned char> read(const char* path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

unsigned checksum(const unsigned char* bytes, size_t size) {
  unsigned crc = ~0u;
  for (size_t i = 0; i < size; ++i) {
    crc ^= bytes[i];
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ (0xEDB88320u & (0u - (crc & 1)));
  }
  return ~crc;
}

// In a block of its own size, and memories likewise: every byte beyond them is noticed.
struct Run {
  explicit Run(const std::vector<unsigned char>& package) {
    const intarsia_executor_image& linked = *intarsia_image();
    bytes.reset(
        static_cast<unsigned char*>(std::aligned_alloc(16, (package.size() + 15) / 16 * 16)));
    std::memcpy(bytes.get(), package.data(), package.size());
    image = linked;
    for (uint32_t i = 0; i < linked.memory_count; ++i) {
      const uint32_t size = (linked.memories[i].bytes + 15) / 16 * 16;
      blocks.emplace_back(static_cast<unsigned char*>(std::aligned_alloc(16, size)));
      std::memset(blocks.back().get(), 0, size);
      memories.push_back({linked.memories[i].name, blocks.back().get(), linked.memories[i].bytes});
    }
    image.memories = memories.data();
    status = intarsia_executor_open(&executor, bytes.get(), static_cast<uint32_t>(package.size()),
                                    &image, nullptr);
  }
  std::vector<unsigned char> run(const std::vector<unsigned char>& input) {
    intarsia_executor_tensor tensor{};
    if (intarsia_executor_input(&executor, 0, &tensor) == INTARSIA_OK)
      std::memcpy(tensor.data, input.data(), std::min<size_t>(tensor.bytes, input.size()));
    if (intarsia_executor_run(&executor) != INTARSIA_OK) return {};
    if (intarsia_executor_output(&executor, 0, &tensor) != INTARSIA_OK) return {};
    const auto* out = static_cast<const unsigned char*>(tensor.data);
    return {out, out + tensor.bytes};
  }
  struct Free {
    void operator()(unsigned char* block) const { std::free(block); }
  };
  std::unique_ptr<unsigned char, Free> bytes;
  std::vector<std::unique_ptr<unsigned char, Free>> blocks;
  std::vector<intarsia_executor_memory> memories;
  intarsia_executor_image image{};
  intarsia_executor executor{};
  intarsia_status status = 0;
};

}  // namespace

int main(int, char** arguments) {
  const std::vector<unsigned char> good = read(arguments[1]), input = read(arguments[2]),
                                   output = read(arguments[3]);
  const int count = std::atoi(arguments[4]);
  Run undamaged(good);
  if (undamaged.status != 0 || undamaged.run(input) != output) return 10;
  std::mt19937 random(11);
  int refused = 0, ran = 0;
  for (int n = 0; n < count; ++n) {
    std::vector<unsigned char> bytes = good;
    const size_t at = random() % bytes.size();
    bytes[at] = static_cast<unsigned char>(bytes[at] ^ (1 + random() % 255));
    Run damaged(bytes);
    if (damaged.status != 0)
      ++refused;
    else if (damaged.run(input) != output)
      return 11;
  }
  // What is not weights is a small part of a package: half of the damage is there.
  for (int n = 0; n < count; ++n) {
    std::vector<unsigned char> bytes = good;
    const size_t size = bytes.size() - 16, part = std::min<size_t>(size, 2048);
    const size_t at = 16 + (n % 4 == 0   ? size - 1 - random() % part
                            : n % 4 == 1 ? random() % part
                                         : random() % size);
    bytes[at] = static_cast<unsigned char>(random());
    const unsigned crc = checksum(bytes.data() + 16, size);
    for (int i = 0; i < 4; ++i)
      bytes[12 + static_cast<size_t>(i)] = static_cast<unsigned char>(crc >> (8 * i));
    Run damaged(bytes);
    if (damaged.status != 0) continue;
    (void)damaged.run(input);
    ++ran;
  }
  std::printf("%d refused, %d of those with a right checksum ran\n", refused, ran);
  return 0;
}
