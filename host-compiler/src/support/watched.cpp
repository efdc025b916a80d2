#include "support/watched.h"

#include <utility>

#include "intarsia/watch.h"

namespace intarsia {
namespace {

constexpr std::chrono::milliseconds kBetweenQuestions{20};

thread_local Watch* innermost = nullptr;

}  // namespace

struct WatchedThread {
  static bool asks(std::string_view stage) {
    return innermost == nullptr || innermost->asks(stage);
  }
};

Watch::Watch(GoesOn goes_on) : goes_on_(std::move(goes_on)), outer_(innermost) {
  innermost = this;
}

Watch::~Watch() {
  innermost = outer_;
}

bool Watch::asks(std::string_view stage) {
  if (!wanted_) return false;
  const auto now = std::chrono::steady_clock::now();
  if (stage.empty() && now - asked_ < kBetweenQuestions) return true;
  asked_ = now;
  wanted_ = goes_on_(stage);
  return wanted_;
}

namespace watched {

Result<void> begins(std::string_view stage) {
  if (!WatchedThread::asks(stage)) return stopped();
  return {};
}

bool is_wanted() {
  return WatchedThread::asks("");
}

Result<void> goes_on() {
  if (!is_wanted()) return stopped();
  return {};
}

Diagnostics stopped() {
  return Diagnostics("compilation", "was stopped by who had started it");
}

}  // namespace watched
}  // namespace intarsia
