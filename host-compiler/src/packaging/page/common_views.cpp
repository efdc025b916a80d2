#include <fmt/format.h>

#include "packaging/page/markup.h"
#include "packaging/page/views.h"

namespace intarsia::packaging::page {

std::string section_id(const char* view, const Part& part) {
  return part.cpu.empty() ? view : fmt::format("{}-{}", view, part.number);
}

std::string heading(const Part& part, int below, const std::string& html, const std::string& id) {
  const int level = (part.cpu.empty() ? 2 : 3) + below;
  return fmt::format("<h{0}{1}>{2}</h{0}>", level, id.empty() ? "" : fmt::format(" id=\"{}\"", id),
                     html);
}

std::string section_begin(const char* view, const Part& part, const std::string& title) {
  const std::string id = section_id(view, part);
  const std::string which = part.cpu.empty()
                                ? ""
                                : fmt::format("<span class=\"visually-hidden\"> of {}</span>",
                                              escaped(part.report.model));
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-title\">{1}\n", id,
                     heading(part, 0, title + which, id + "-title"));
}

std::string operator_attribute(const Part& part, const std::string& name) {
  const std::string id = part.id(name);
  return id.empty() ? "" : fmt::format(" data-op=\"{}\"", id);
}

std::string scrolled(const std::string& label, const std::string& content) {
  return fmt::format(
      "<div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"{}\">\n{}</div>\n",
      escaped(label), content);
}

std::string label_in(const Part& part, const std::string& label) {
  return part.cpu.empty() ? label : fmt::format("{} of {}", label, part.report.model);
}

std::string folded(const std::string& title, const std::string& content) {
  return fmt::format("<details><summary>{}</summary>\n{}</details>\n", title, content);
}

}  // namespace intarsia::packaging::page
