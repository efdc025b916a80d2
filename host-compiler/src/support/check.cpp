#include "intarsia/plugin/check.h"

#include <atomic>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>

#include "intarsia/check_handler.h"

namespace intarsia {
namespace {

void print(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
}

std::atomic<CheckHandler> current{print};

}  // namespace

CheckHandler set_check_handler(CheckHandler handler) {
  const CheckHandler before = current.exchange(handler != nullptr ? handler : print);
  return before == print ? nullptr : before;
}

void check_failed(const char* file, int line, const char* condition, const std::string& assumed) {
  current.load()(fmt::format("intarsia: internal error at {}:{}: {} ({}); please report this", file,
                             line, assumed, condition));
  std::fflush(nullptr);
  std::_Exit(3);
}

}  // namespace intarsia
