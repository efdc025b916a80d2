// Runs a libFuzzer harness without libFuzzer, the same way each time: every seed once, then edits of them.
//   fuzz_short_<harness> ROUNDS [SEEDS...]     folders, or FOLDER/*.onnx: those files, wherever below it
//   fuzz_short_<harness> FILE...               these inputs alone
// $INTARSIA_FUZZ_ROUNDS takes the place of ROUNDS, $INTARSIA_FUZZ_SEED (1) chooses other edits. An input that the
// harness dies of, or that takes longer than $INTARSIA_FUZZ_INPUT_SECONDS (60), is written to <program>.input in the
// working directory.
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "on_death.h"

extern "C" {
int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size);
__attribute__((weak)) int LLVMFuzzerInitialize(int* argc, char*** argv);
__attribute__((weak)) size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                                     unsigned int seed);
size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);
}

namespace {

namespace fs = std::filesystem;
using Bytes = std::vector<uint8_t>;

int64_t from_environment(const char* name, int64_t otherwise) {
  const char* value = std::getenv(name);
  return value == nullptr ? otherwise : std::atoll(value);
}

// What is being run, for the last words.
struct {
  std::string program;  // without its folder
  const uint8_t* data = nullptr;
  size_t size = 0;
  std::string file;  // of a seed, or of an input given by name
  int64_t round = 0, seed = 1;
  bool is_running = false;
} current;

void say_input() {
  static char path[256], text[1024];
  std::snprintf(path, sizeof path, "%s.input", current.program.c_str());
  const int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
  const bool written =
      file >= 0 && write(file, current.data, current.size) == static_cast<ssize_t>(current.size);
  int length;
  if (current.round == 0)
    length = std::snprintf(text, sizeof text, "\n%s: died of %s", current.program.c_str(),
                           current.file.c_str());
  else
    length = std::snprintf(text, sizeof text, "\n%s: died in round %" PRId64 " of seed %" PRId64,
                           current.program.c_str(), current.round, current.seed);
  length += std::snprintf(text + length, sizeof text - static_cast<size_t>(length),
                          written ? "; its input is in %s\n" : "; %s cannot be written\n", path);
  (void)!write(STDERR_FILENO, text, static_cast<size_t>(length));
}

// What ends the process ends the run, whatever its exit code.
void fail_while_running() {
  if (!current.is_running) return;
  say_input();
  std::_Exit(1);
}

// In memory of its own and of exactly its size, so that a read past its end is seen.
void run(const Bytes& input) {
  const std::unique_ptr<uint8_t[]> copy(new uint8_t[input.size()]);
  std::copy(input.begin(), input.end(), copy.get());
  current.data = copy.get();
  current.size = input.size();
  static const auto limit =
      static_cast<unsigned>(from_environment("INTARSIA_FUZZ_INPUT_SECONDS", 60));
  alarm(limit);
  current.is_running = true;
  (void)LLVMFuzzerTestOneInput(copy.get(), input.size());
  current.is_running = false;
  alarm(0);
}

Bytes read(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// Sorted, so that the rounds are the same everywhere.
std::vector<fs::path> files_of(const fs::path& path) {
  const bool is_pattern = path.stem() == "*";
  std::vector<fs::path> files;
  std::error_code missing;
  for (const auto& entry :
       fs::recursive_directory_iterator(is_pattern ? path.parent_path() : path, missing))
    if (entry.is_regular_file() && (!is_pattern || entry.path().extension() == path.extension()))
      files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

class Editor {
 public:
  explicit Editor(uint64_t seed) : random_(seed) {}

  std::vector<Bytes> seeds;

  size_t max_size() const {
    size_t most = 4096;
    for (const Bytes& seed : seeds) most = std::max(most, seed.size());
    return most;
  }

  // Mostly a seed, now and then bytes that nobody wrote, more often few than many.
  Bytes beginning() {
    return seeds.empty() || below(16) == 0 ? noise(below(size_t{1} << below(10)))
                                           : seeds[below(seeds.size())];
  }

  void edit(Bytes& bytes, size_t max_size) {
    for (size_t n = size_t{1} << below(4); n > 0; --n) edit_once(bytes);
    if (bytes.size() > max_size) bytes.resize(max_size);
  }

  unsigned int number() { return static_cast<unsigned int>(random_()); }

 private:
  size_t below(size_t end) { return random_() % end; }

  Bytes noise(size_t size) {
    Bytes bytes(size);
    for (uint8_t& byte : bytes) byte = static_cast<uint8_t>(random_());
    return bytes;
  }

  // A few bytes, more often few than many.
  Bytes piece_of(const Bytes& bytes) {
    if (bytes.empty()) return {};
    const size_t begin = below(bytes.size());
    const size_t size = std::min(bytes.size() - begin, 1 + below(size_t{1} << below(8)));
    return {bytes.data() + begin, bytes.data() + begin + size};
  }

  void insert(Bytes& bytes, const Bytes& piece) {
    const auto at = bytes.begin() + static_cast<ptrdiff_t>(below(bytes.size() + 1));
    bytes.insert(at, piece.begin(), piece.end());
  }

  void edit_once(Bytes& bytes) {
    static constexpr uint32_t kNumbers[] = {0,    1,       2,          4,          0x7F,
                                            0xFF, 0x10000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    if (bytes.empty()) return insert(bytes, noise(1 + below(8)));
    const size_t at = below(bytes.size());
    switch (below(9)) {
      case 0:
        bytes[at] ^= static_cast<uint8_t>(1u << below(8));
        break;
      case 1:
        bytes[at] = static_cast<uint8_t>(random_());
        break;
      case 2:
        bytes[at] += static_cast<uint8_t>(below(2) == 0 ? 1 : -1);
        break;
      case 3: {
        const uint32_t word = kNumbers[below(std::size(kNumbers))];
        for (size_t i = 0; i < 4 && at + i < bytes.size(); ++i)
          bytes[at + i] = static_cast<uint8_t>(word >> (8 * i));
        break;
      }
      case 4:
        insert(bytes, noise(1 + below(8)));
        break;
      case 5: {
        const size_t size = piece_of(bytes).size();
        const auto begin = bytes.begin() + static_cast<ptrdiff_t>(below(bytes.size() - size + 1));
        bytes.erase(begin, begin + static_cast<ptrdiff_t>(size));
        break;
      }
      case 6:
        insert(bytes, piece_of(bytes));
        break;
      case 7:
        if (!seeds.empty()) insert(bytes, piece_of(seeds[below(seeds.size())]));
        break;
      default:
        if (!seeds.empty()) {  // the beginning of one, the end of another
          const Bytes& other = seeds[below(seeds.size())];
          bytes.resize(at);
          bytes.insert(bytes.end(), other.begin() + static_cast<ptrdiff_t>(below(other.size() + 1)),
                       other.end());
        }
    }
  }

  std::mt19937_64 random_;
};

Editor* editor = nullptr;

void edit(Bytes& bytes, size_t max_size) {
  if (LLVMFuzzerCustomMutator == nullptr) return editor->edit(bytes, max_size);
  size_t size = std::min(bytes.size(), max_size);
  bytes.resize(max_size);
  size = LLVMFuzzerCustomMutator(bytes.data(), size, max_size, editor->number());
  bytes.resize(size);
}

int run_files(int count, char** files) {
  for (int i = 0; i < count; ++i) {
    current.file = files[i];
    if (!fs::is_regular_file(files[i])) {
      std::fprintf(stderr, "%s: %s is no file\n", current.program.c_str(), files[i]);
      return 2;
    }
    run(read(files[i]));
  }
  std::printf("%s: %d inputs\n", current.program.c_str(), count);
  return 0;
}

int run_rounds(int64_t rounds, int count, char** paths) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  current.seed = from_environment("INTARSIA_FUZZ_SEED", 1);
  Editor made(static_cast<uint64_t>(current.seed));
  editor = &made;
  for (int i = 0; i < count; ++i) {
    const std::vector<fs::path> files = files_of(paths[i]);
    if (files.empty()) {
      std::fprintf(stderr, "%s: no seeds in %s\n", current.program.c_str(), paths[i]);
      return 2;
    }
    for (const fs::path& file : files) {
      current.file = file.string();
      made.seeds.push_back(read(file));
      run(made.seeds.back());
    }
  }
  current.file = "no bytes";
  run({});
  const size_t max_size = made.max_size();
  for (current.round = 1; current.round <= rounds; ++current.round) {
    Bytes input = made.beginning();
    edit(input, max_size);
    run(input);
  }
  std::printf("%s: %zu seeds, %" PRId64 " rounds of seed %" PRId64 ", %.1f s\n",
              current.program.c_str(), made.seeds.size(), rounds, current.seed,
              std::chrono::duration<double>(Clock::now() - begin).count());
  return 0;
}

}  // namespace

#ifdef __SANITIZE_ADDRESS__
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=2048";
}
#endif

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size) {
  Bytes bytes(data, data + size);
  editor->edit(bytes, max_size);
  std::copy(bytes.begin(), bytes.end(), data);
  return bytes.size();
}

int main(int argc, char** argv) {
  current.program = fs::path(argv[0]).filename().string();
  if (argc < 2) {
    std::fprintf(stderr, "usage: %s ROUNDS [SEEDS...] | FILE...\n", argv[0]);
    return 2;
  }
#ifndef __SANITIZE_ADDRESS__
  // A few bytes must not ask for all of the memory there is.
  const rlimit limit = {rlim_t{2} << 30, rlim_t{2} << 30};
  (void)setrlimit(RLIMIT_AS, &limit);
#endif
  if (LLVMFuzzerInitialize != nullptr) LLVMFuzzerInitialize(&argc, &argv);
  intarsia::test::on_death(say_input);
  std::atexit(fail_while_running);
  char* end = nullptr;
  const int64_t rounds = std::strtoll(argv[1], &end, 10);
  if (*end != '\0') return run_files(argc - 1, argv + 1);
  return run_rounds(from_environment("INTARSIA_FUZZ_ROUNDS", rounds), argc - 2, argv + 2);
}
