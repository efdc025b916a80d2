// What CUDA C needs to be C++ of the host: the words of the language, and the numbers of the work item that runs.
#pragma once

#define __global__
#define __device__

struct HostDim {
  unsigned x, y, z;
};
static HostDim blockIdx, blockDim, threadIdx;

// Runs every work item of a grid along x, in an order that is nobody's: each block number times a number that shares no
// factor with their count, and threads backwards in every second block.
template <typename Item>
static void run_grid(unsigned blocks, unsigned threads, Item item) {
  blockDim = {threads, 1, 1};
  unsigned step = 7919;
  for (; blocks % step == 0 && step > 1; --step) {
  }
  const auto shares_factor = [&](unsigned a) {
    unsigned b = blocks;
    while (b != 0) {
      const unsigned rest = a % b;
      a = b;
      b = rest;
    }
    return a != 1;
  };
  while (shares_factor(step)) --step;
  for (unsigned i = 0; i < blocks; ++i) {
    blockIdx.x = static_cast<unsigned>(static_cast<unsigned long long>(i) * step % blocks);
    for (unsigned t = 0; t < threads; ++t) {
      threadIdx.x = blockIdx.x % 2 == 0 ? t : threads - 1 - t;
      item();
    }
  }
}
