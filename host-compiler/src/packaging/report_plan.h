// What a report says about the plan of the memory and about the graph, row by row.
#pragma once

#include "intarsia/report.h"

namespace intarsia::packaging {

// Report::buffers and Report::step_rows.
void add_buffers(const CompiledProgram& program, Report& report);
// Report::graph and Report::edges of a partitioned module.
void add_graph(const graph::Module& partitioned, Report& report);

// Of the operator `node`: "i8[1,8,8,1] -> i8[1,4,4,8]", without constants.
std::string shapes_of(const graph::Function& function, const graph::Node& node);

}  // namespace intarsia::packaging
