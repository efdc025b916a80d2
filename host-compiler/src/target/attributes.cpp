#include "intarsia/target.h"

namespace intarsia {

bool Attributes::written(std::string_view name) const {
  const auto found = entries_.find(name);
  return found != entries_.end() && found->second.written;
}

const AttributeValue* Attributes::find(std::string_view name) const {
  const auto found = entries_.find(name);
  return found == entries_.end() ? nullptr : &found->second.value;
}

void Attributes::write(std::string name, AttributeValue value) {
  entries_.insert_or_assign(std::move(name), Entry{std::move(value), true});
}

void Attributes::derive(std::string name, AttributeValue value) {
  if (!written(name)) entries_.insert_or_assign(std::move(name), Entry{std::move(value), false});
}

void Attributes::normalise(std::string_view name, AttributeValue value) {
  const auto found = entries_.find(name);
  INTARSIA_CHECK(found != entries_.end(), "a value that is normalised exists");
  found->second.value = std::move(value);
}

void Attributes::erase(std::string_view name) {
  if (const auto found = entries_.find(name); found != entries_.end()) entries_.erase(found);
}

const Target* TargetSpec::device(std::string_view name) const {
  for (const Target& device : devices_) {
    if (device.name == name) return &device;
  }
  return nullptr;
}

}  // namespace intarsia
