// What the stand-in of the CUDA driver has seen, for tests.
#pragma once

extern "C" {

struct intarsia_stand_in_counts {
  int launches;
  int refused;  // calls with something wrong
  long long bytes_in, bytes_out;
  // What is there now.
  int allocations, modules, programs, contexts;
};

intarsia_stand_in_counts intarsia_stand_in_count();
}
