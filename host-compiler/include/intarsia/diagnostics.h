// The user's trouble, as text: what happened, where, and what to do about it.
// A stage collects as many as it safely can and returns them together (see result.h).
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace intarsia {

// One problem.
struct Diagnostic {
  std::string where;  // "kws.tflite: operator 3 'conv_7' (CONV_2D)", "--target", a file, a tensor
  std::string what;   // one sentence, lower case, no full stop
  std::string hint;   // what to do; may be empty

  // "where: what; hint": the one line a user reads.
  std::string to_string() const;
  bool operator==(const Diagnostic&) const = default;
};

// Problems that were found, in the order in which they were: a stage reports all that it finds.
class Diagnostics {
 public:
  Diagnostics() = default;
  Diagnostics(std::string where, std::string what, std::string hint = {}) {
    add(std::move(where), std::move(what), std::move(hint));
  }

  // `hint` may be empty.
  void add(std::string where, std::string what, std::string hint = {}) {
    items_.push_back({std::move(where), std::move(what), std::move(hint)});
  }
  // All of another list, behind these.
  void append(const Diagnostics& other) {
    items_.insert(items_.end(), other.items_.begin(), other.items_.end());
  }

  // Whether nothing was found.
  bool empty() const { return items_.empty(); }
  // In the order in which they were added.
  const std::vector<Diagnostic>& items() const { return items_; }
  // One line per problem, each ending in a newline.
  std::string to_string() const;

 private:
  std::vector<Diagnostic> items_;
};

// The candidate nearest to `word` by edit distance when it is near enough to be a typing slip
// (at most a third of the word, at least one edit), otherwise an empty string.
std::string nearest_name(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace intarsia
