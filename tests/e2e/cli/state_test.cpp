// Models with state in C: instances run between each other's steps do not disturb each other, and a
// reset forgets.
#include "cli.h"
#include "needs.h"

namespace intarsia::test {
namespace {

// The sum of the last three inputs.
constexpr const char* kLastThree = R"(intarsia.graph last_three
const @0 one = f32[1]
const @1 ones = f32[1, 1, 1]
const @2 none = f32[0]
func @main(%0) -> (%5) {
  %0 value: f32[1,1]
  %1 feature: f32[1,1] = @0
  %2 time: f32[1,3] = @1
  %3 bias: f32[1] = @2
  %4 memory: f32[1,3] variable
  %5 total: f32[1,1]
  svdf layer(%0, %1, %2, %3, %4) -> (%5, %4)
}
entry @main
)";

constexpr const char* kMain = R"(#include <stdio.h>
#include <string.h>

#include "last_three.h"

static _Alignas(LAST_THREE_ALIGNMENT) uint8_t ram_a[LAST_THREE_RAM_BYTES], ram_b[LAST_THREE_RAM_BYTES];

static int step(struct last_three *model, float value) {
  memcpy(last_three_input(model, 0), &value, sizeof value);
  if (last_three_run(model) != 0) return -1;
  memcpy(&value, last_three_output(model, 0), sizeof value);
  return (int)value;
}

int main(void) {
  struct last_three a, b;
  const struct last_three_resources resources_a = {.ram = ram_a}, resources_b = {.ram = ram_b};
  memset(ram_a, 0x55, sizeof ram_a);
  if (last_three_init(&a, &resources_a) != 0 || last_three_init(&b, &resources_b) != 0) return 1;
  for (int i = 1; i <= 4; ++i) {
    printf("%d ", step(&a, (float)i));
    printf("%d\n", step(&b, (float)(10 * i)));
  }
  if (last_three_reset(&a) != 0) return 2;
  printf("%d %d\n", step(&a, 5.0f), step(&b, 50.0f));
  return 0;
}
)";

class State : public Cli {};

TEST_F(State, OfInterleavedInstancesIsTheirOwn) {
  write("last_three.graph", std::string(kLastThree));
  write("main.c", std::string(kMain));
  ASSERT_TRUE(done(intarsia({"compile", "last_three.graph", "-o", "last_three"})));
  write("Makefile",
        std::string("include last_three/last_three.mk\nfirmware:\n"
                    "\t$(CC) -std=c11 $(LAST_THREE_INCLUDES) main.c $(LAST_THREE_SOURCES) "
                    "$(INTARSIA_RUNTIME_SOURCES) -o $@\n"));
  if (!have_program("make")) GTEST_SKIP() << needs("make") << "it is not installed";
  const ProcessOutcome built = program({"make", "firmware"});
  ASSERT_TRUE(built.succeeded()) << built.out << built.err;
  const ProcessOutcome outcome = program({path("firmware")});
  EXPECT_TRUE(done(outcome));
  EXPECT_EQ(outcome.out, "1 10\n3 30\n6 60\n9 90\n5 120\n");
}

}  // namespace
}  // namespace intarsia::test
