// The last words of a program of random inputs: which input it was at.
#pragma once

#include <csignal>
#include <initializer_list>

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());
// gcc's libraries for addresses and for undefined behaviour each have a callback of their own, and the first hides the
// second's: what the second finds shall end as a signal.
extern "C" __attribute__((used)) inline const char* __ubsan_default_options() {
  return "abort_on_error=1";
}

namespace intarsia::test {
namespace death {

inline void (*last_words)() = nullptr;

inline void speak() {
  void (*words)() = last_words;
  last_words = nullptr;
  if (words != nullptr) words();
}

inline void on_signal(int number) {
  speak();
  (void)std::signal(number, SIG_DFL);
  (void)std::raise(number);
}

}  // namespace death

// `last_words` is called once, before the process dies of a signal (also of alarm's, and of a stack that is too deep)
// or of what a sanitizer found.
inline void on_death(void (*last_words)()) {
  death::last_words = last_words;
  struct sigaction action = {};
  action.sa_handler = death::on_signal;
  for (const int number : {SIGABRT, SIGALRM, SIGTERM}) (void)sigaction(number, &action, nullptr);
  if (__sanitizer_set_death_callback != nullptr) {
    // Sanitizers take the other signals, on a stack of their own.
    __sanitizer_set_death_callback(death::speak);
    return;
  }
  constexpr size_t kStackBytes = 1 << 16;
  static char stack[kStackBytes];
  stack_t other_stack = {};
  other_stack.ss_sp = stack;
  other_stack.ss_size = kStackBytes;
  (void)sigaltstack(&other_stack, nullptr);
  action.sa_flags = SA_ONSTACK;
  for (const int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL})
    (void)sigaction(number, &action, nullptr);
}

}  // namespace intarsia::test
