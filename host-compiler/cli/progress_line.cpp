#include "progress_line.h"

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <optional>
#include <system_error>
#include <thread>

#include <fmt/format.h>

#include "terminal.h"

namespace intarsia::cli {
namespace {

using Moment = std::chrono::steady_clock::time_point;

// What takes no longer shows no line, which would only flicker.
constexpr std::chrono::milliseconds kBeforeShown{400}, kBetweenLines{100};

// A thread of its own draws, so that the seconds go on where a stage has no news.
class ProgressLine {
 public:
  // The first call starts the thread. It is never ended: it outlives main, as the line's state does.
  static ProgressLine& only() {
    static ProgressLine& line = *new ProgressLine;
    return line;
  }

  void show(const Progress& progress) {
    const std::lock_guard lock(mutex_);
    // The seconds are those of the piece of work, not of its last step.
    if (!now_ || now_->what != progress.what) since_ = std::chrono::steady_clock::now();
    now_ = progress;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    now_.reset();
    erase();
  }

 private:
  ProgressLine() : begin_(std::chrono::steady_clock::now()) {
    try {
      std::thread([this] { draw_for_ever(); }).detach();
    } catch (const std::system_error&) {
      // No thread can be had, so nothing is drawn.
    }
  }

  void draw_for_ever() {
    for (;;) {
      {
        const std::lock_guard lock(mutex_);
        draw();
      }
      std::this_thread::sleep_for(kBetweenLines);
    }
  }

  void draw() {
    const Moment time = std::chrono::steady_clock::now();
    if (!now_ || time - begin_ < kBeforeShown) return;
    const double seconds = std::chrono::duration<double>(time - since_).count();
    // The last column stays free: some terminals begin another line behind it.
    const std::string text =
        progress_text(*now_, seconds, static_cast<size_t>(error_terminal().width) - 1);
    fmt::print(stderr, "\r\033[K{}", tinted(error_terminal(), Tint::Faint, text));
    std::fflush(stderr);
    is_drawn_ = true;
  }

  void erase() {
    if (!is_drawn_) return;
    std::fputs("\r\033[K", stderr);
    std::fflush(stderr);
    is_drawn_ = false;
  }

  std::mutex mutex_;
  std::optional<Progress> now_;
  Moment begin_, since_;
  bool is_drawn_ = false;
};

}  // namespace

std::string progress_text(const Progress& progress, double seconds, size_t columns) {
  constexpr int64_t kBar = 20;
  std::string tail;
  if (progress.total > 0) {
    const int64_t done = std::clamp<int64_t>(progress.done, 0, progress.total);
    // Steps of a search are more than a bar of 20 places tells apart, and can be billions.
    const auto filled =
        static_cast<size_t>(static_cast<double>(done) / static_cast<double>(progress.total) * kBar);
    tail = fmt::format(" [{}{}] {} of {}", std::string(filled, '='),
                       std::string(static_cast<size_t>(kBar) - filled, ' '), done, progress.total);
  } else if (progress.done > 0) {
    tail = fmt::format(" {}", progress.done);
  }
  if (seconds >= 1) tail += fmt::format("  {:.0f} s", seconds);
  const size_t room = columns > tail.size() ? columns - tail.size() : 0;
  return clipped(clipped(progress.what, room) + tail, columns);
}

ProgressListener progress_listener() {
  if (!error_terminal().is_terminal) return {};
  return [](const Progress& progress) { ProgressLine::only().show(progress); };
}

void show_progress(const std::string& what) {
  if (error_terminal().is_terminal) ProgressLine::only().show({what});
}

void clear_progress() {
  if (error_terminal().is_terminal) ProgressLine::only().clear();
}

}  // namespace intarsia::cli
