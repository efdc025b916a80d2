#include "multicore_testing.h"

namespace intarsia::test {
namespace {

constexpr const char* kRacingMain = R"(#include <stdio.h>
#include <string.h>

#include "intarsia/contract/model_descriptor.h"
#include "intarsia/contract/status.h"

static uint8_t images[@images@][64], scores[@images@][10];

int main(int argc, char **argv) {
  FILE *file = argc == 3 ? fopen(argv[1], "rb") : NULL;
  int given = 0, taken = 0;
  if (file == NULL || fread(images, sizeof images, 1, file) != 1) return 1;
  if (intarsia_model.init() != 0) return 2;
  while (taken < 200) {
    int status;
    if (given < 200) {
      memcpy(intarsia_model.input(0), images[given % @images@], 64);
      status = intarsia_model.submit();
      if (status == INTARSIA_OK) ++given;
      if (status != INTARSIA_OK && status != INTARSIA_PENDING) return 3;
    }
    status = intarsia_model.collect();
    if (status == INTARSIA_OK) memcpy(scores[taken++ % @images@], intarsia_model.output(0), 10);
    if (status != INTARSIA_OK && status != INTARSIA_PENDING) return 4;
  }
  file = fopen(argv[2], "wb");
  return file == NULL || fwrite(scores, sizeof scores, 1, file) != 1 || fclose(file) != 0;
}
)";

}  // namespace

void Multicore::run_under_thread_sanitizer(const std::string& folder, bool& ran) const {
  ran = false;
  std::string text = kRacingMain;
  for (size_t at; (at = text.find("@images@")) != std::string::npos;)
    text.replace(at, 8, std::to_string(kImages));
  write("main.c", text);
  // The barrier of the drivers orders registers, not the memory that threads share.
  const std::vector<std::string> flags = {"-O1", "-g", "-fsanitize=thread", "-Wno-tsan",
                                          "-pthread"};
  std::vector<std::string> objects;
  const auto compile = [&](std::vector<std::string> sources,
                           const std::vector<std::string>& includes) {
    for (const std::string& source : sources) {
      objects.push_back(path(fmt::format("object{}.o", objects.size())));
      const bool cpp = source.ends_with(".cpp");
      std::vector<std::string> command = {
          cpp ? "c++" : "cc", cpp ? "-std=c++20" : "-std=gnu11", "-c", source, "-o",
          objects.back()};
      command.insert(command.end(), flags.begin(), flags.end());
      command.insert(command.end(), includes.begin(), includes.end());
      ASSERT_TRUE(done(program(command)));
    }
  };
  std::vector<std::string> sources = {path("main.c"), std::string(INTARSIA_SOURCE_DIR) +
                                                          "/boards/host/second_core.c"},
                           includes;
  for (const std::string& argument : sources_of(folder))
    (argument.starts_with("-I") ? includes : sources).push_back(argument);
  compile(sources, includes);
  if (HasFatalFailure()) return;
  std::vector<std::string> link = {"c++", "-o", path("racing")};
  link.insert(link.end(), flags.begin(), flags.end());
  link.insert(link.end(), objects.begin(), objects.end());
  link.push_back("-lm");
  const ProcessOutcome built = program(link);
  if (!built.succeeded() && built.err.find("tsan") != std::string::npos) return;
  ASSERT_TRUE(built.succeeded()) << built.err;
  ASSERT_TRUE(done(program({"env", "INTARSIA_DEVICE_PROFILE=" + path("profile.json"),
                            path("racing"), path("images.bin"), path("scores.bin")})));
  ran = true;
}

}  // namespace intarsia::test
