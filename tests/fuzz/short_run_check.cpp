// A harness that is broken on purpose, to see that a short run notices: after a hundred edits comes an input that it
// dies of in the way that $SHORT_RUN_FAULT names.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string_view>

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace {

constexpr std::string_view kFault = "fault";
bool initialised = false;
int edits = 0;

int recurse(int depth) {
  volatile char frame[4096];
  frame[depth % 4096] = static_cast<char>(depth);
  return depth >= 0 ? recurse(depth + 1) + frame[0] : 0;
}

void die(std::string_view how) {
  if (how == "abort") std::abort();
  if (how == "exit") std::exit(0);
  volatile uintptr_t nowhere = how == "segv" ? 64 : 0;
  if (how == "null" || how == "segv") *reinterpret_cast<volatile int*>(nowhere) = 1;
  if (how == "stack") std::exit(recurse(0));
  if (how == "time") {
    volatile bool forever = true;
    while (forever) {
    }
  }
}

}  // namespace

extern "C" int LLVMFuzzerInitialize(int*, char***) {
  initialised = true;
  return 0;
}

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size, size_t max_size,
                                          unsigned int) {
  size = LLVMFuzzerMutate(data, size, max_size);
  if (++edits != 100) return size;
  std::memcpy(data, kFault.data(), kFault.size());
  return kFault.size();
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  if (!initialised) std::abort();
  if (std::string_view(reinterpret_cast<const char*>(data), size) == kFault)
    die(std::getenv("SHORT_RUN_FAULT"));
  return 0;
}
