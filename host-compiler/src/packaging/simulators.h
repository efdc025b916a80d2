// Simulators of devices in a package: a part of the program on this machine, or a program of their own beside an emulator.
#pragma once

#include <string_view>

#include "intarsia/compiled_model.h"
#include "packaging/runtime_trees.h"

namespace intarsia::packaging {

// What their files are below.
inline constexpr std::string_view kSimulatorFolder = "simulator/";

// Whose devices they are.
struct DevicesOf {
  const EmittedModel& model;
  const TargetRegistry& registry;
  const TargetSpec& target;
};

// In a folder that holds all they include.
void add_simulators(const DevicesOf& devices, const RuntimeTrees& runtime, bool remotely,
                    PackageContents& package);

// The manifest's lists of sources, from the package's files.
void list_sources(bool simulated_remotely, PackageContents& package);

}  // namespace intarsia::packaging
