// The files that make up the pages, in this folder: page.html, page.css, page.js of a report, sweep.html and sweep.css of a
// sweep, which has page.css too. The build puts them into the library.
#pragma once

#include <string_view>

namespace intarsia::packaging::page {

std::string_view template_text();
std::string_view style_text();
std::string_view script_text();
std::string_view sweep_template_text();
std::string_view sweep_style_text();

}  // namespace intarsia::packaging::page
