// A registry with this target and plain C; the stand-in of the CUDA driver, opened, or a GPU.
#pragma once

#include <dlfcn.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "intarsia/plugin/target_kind.h"
#include "intarsia/targets/cuda/driver.h"
#include "stand_in/stand_in.h"
#include "support/opened_driver.h"
#include "support/parsed.h"

namespace intarsia::targets::cuda {
void add_kinds(TargetRegistry& registry);
}

namespace intarsia::test::cuda {

inline TargetRegistry make_registry() {
  return registry_beside_c(targets::cuda::add_kinds);
}

struct OpenDevice : OpenedDriver<intarsia_cuda, intarsia_cuda_open, intarsia_cuda_close> {
  intarsia_status run(const std::vector<uint8_t>& commands, void* const* bases, uint32_t count) {
    const intarsia_stream stream = {commands.data(), static_cast<uint32_t>(commands.size()),
                                    nullptr, 0, nullptr};
    return cuda.device.run(&cuda.device, &stream, bases, count);
  }
  intarsia_cuda& cuda = driver;
};

// For as long as it lives, the driver opens the stand-in.
class StandIn : public ::testing::Test {
 protected:
  StandIn() : refused_before_(seen().refused) {
    setenv("INTARSIA_CUDA_DRIVER", INTARSIA_CUDA_STAND_IN, 1);
    setenv("INTARSIA_NVRTC", INTARSIA_CUDA_STAND_IN, 1);
  }
  ~StandIn() override {
    unsetenv("INTARSIA_CUDA_DRIVER");
    if (nvrtc_.empty())
      unsetenv("INTARSIA_NVRTC");
    else
      setenv("INTARSIA_NVRTC", nvrtc_.c_str(), 1);
  }
  // What it has seen in this process.
  static intarsia_stand_in_counts seen() {
    void* library = dlopen(INTARSIA_CUDA_STAND_IN, RTLD_NOW);
    auto* count = reinterpret_cast<decltype(&intarsia_stand_in_count)>(
        dlsym(library, "intarsia_stand_in_count"));
    return count();
  }
  void expect_nothing_left() const {
    const intarsia_stand_in_counts counts = seen();
    EXPECT_EQ(counts.allocations, 0);
    EXPECT_EQ(counts.modules, 0);
    EXPECT_EQ(counts.programs, 0);
    EXPECT_EQ(counts.contexts, 0);
    EXPECT_EQ(counts.refused, refused_before_);
  }

 private:
  static std::string variable(const char* name) {
    const char* value = std::getenv(name);
    return value == nullptr ? "" : value;
  }
  int refused_before_;
  std::string nvrtc_ = variable("INTARSIA_NVRTC");
};

}  // namespace intarsia::test::cuda
