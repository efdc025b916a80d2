// Where a search stands: which items are placed, and bounds on where the waiting ones can lie.
// `floor(s)` bounds the next item alive in section s, `least(i)` the offset of item i; each raises
// the other until both rest. Every change can be undone.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/instance.h"

namespace intarsia::plan {

class SearchState {
 public:
  SearchState(const Instance& instance, int64_t capacity);

  // These return false when some section is left without room; undo_to() then repairs the state.
  bool start();
  bool place(int item);                    // at its least offset; nothing goes beneath it later
  bool raise_floor(int s, int64_t value);  // the next item alive in s lies no lower than this

  int64_t work() const { return work_; }  // items and sections looked at, so far

  size_t mark() const { return trail_.size(); }
  void undo_to(size_t mark);

  int64_t floor(int s) const { return floor_[s]; }
  // Bytes of section s that may still go to waste.
  int64_t slack(int s) const { return capacity_ - floor_[s] - waiting_size_[s]; }
  bool has_waiting(int s) const { return waiting_[s] > 0; }
  // The first section from `from` on that no item waits in which waits in the one before as well; or `end`.
  int next_uncrossed(int from, int end) const {
    const int* const across = across_.data();
    while (from < end && across[from] > 0) ++from;
    return from;
  }
  // The first section behind s whose floor is another; or `end`.
  int end_of_floor(int s, int end) const {
    const int64_t* const floors = floor_.data();
    const int64_t level = floors[s];
    while (++s < end && floors[s] == level) continue;
    return s;
  }
  double trouble(int s) const { return trouble_[s]; }  // 1 and the times s was without room
  int64_t least(int item) const { return least_[item]; }
  bool is_waiting(int item) const { return !placed_[item]; }
  // Whether an item waits whose least offset is that.
  bool may_lie_at(int item, int64_t offset) const { return waiting_least_[item] == offset; }
  const std::vector<int64_t>& offsets() const { return least_; }  // once all are placed

 private:
  enum class Kind : uint8_t { Floor, Least, Placed };
  struct Change {
    Kind kind;
    int index;
    int64_t old;
  };

  // Sections from `first` to `last`; those whose floor is not below `low` are disturbed so.
  void enqueue(int first, int last, int64_t low, uint8_t how);
  void set_floor(int s, int64_t value);
  bool raise_item(int item, int64_t at_least);
  bool propagate();
  bool has_lowest(int s) const;
  bool settle_section(int s);
  void count_waiting(int item, int direction);

  const Instance& in_;
  const int64_t capacity_;
  std::vector<int64_t> floor_;
  std::vector<int64_t> waiting_size_;
  std::vector<int> waiting_;
  std::vector<int> across_;
  std::vector<double> trouble_;
  std::vector<int64_t> least_;
  std::vector<int64_t> waiting_least_;  // the same of items that wait, and more than any of others
  std::vector<char> placed_;
  std::vector<Change> trail_;
  std::vector<int> queue_;  // the first `queue_size_`, and room for one more
  size_t queue_size_ = 0;
  // Of sections in the queue. Those that nothing has disturbed are at rest: their lowest waiting item lies at their floor, and they
  // have room. The floor of some has been raised, so that items may lie below it.
  enum : uint8_t { kQueued = 1, kDisturbed = 2, kRaised = 4 };
  std::vector<uint8_t> queued_;
  int64_t work_ = 0;
};

}  // namespace intarsia::plan
