// The views of a report, each an HTML section of its own: drawings are SVG, and all that is drawn is in a table too.
// What stands for an operator has its id in `data-op`, a buffer its number in `data-buf`: page.js joins the views by them.
#pragma once

#include <string>

#include "packaging/page/page_report.h"
#include "packaging/page/trace.h"

namespace intarsia::packaging::page {

std::string summary_view(const PageReport& page);
// Of one part. What a report of an earlier version does not say is left out with a sentence that says so.
std::string memory_view(const PageReport& page, const Part& part);
std::string flash_view(const PageReport& page, const Part& part);
std::string operators_view(const PageReport& page, const Part& part);
std::string graph_view(const PageReport& page, const Part& part);
// What the compiler estimates, operator by operator.
std::string estimate_view(const PageReport& page, const Part& part);
// What simulated devices did.
std::string trace_view(const PageReport& page, const Trace& trace);
std::string comparison_view(const PageReport& now, const PageReport& before,
                            const std::string& before_name);

// A section's heading, or one that many levels below it.
std::string heading(const Part& part, int below, const std::string& html,
                    const std::string& id = "");
// The beginning of a section with its heading.
std::string section_begin(const char* view, const Part& part, const std::string& title);
// Attributes of what stands for an operator; nothing for what is none of the report's.
std::string operator_attribute(const Part& part, const std::string& name);
// A box that scrolls by itself, also by keyboard; no other box of the page has its label.
std::string scrolled(const std::string& label, const std::string& content);
// A label of one of several parts says which.
std::string label_in(const Part& part, const std::string& label);
// Where a part of several begins, ids of its sections end on its number.
std::string section_id(const char* view, const Part& part);
// A button of the section for what a drawing shows: a list under the drawing, closed at first.
std::string folded(const std::string& title, const std::string& content);

}  // namespace intarsia::packaging::page
