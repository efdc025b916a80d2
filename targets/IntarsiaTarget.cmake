# intarsia_add_target(<folder name>
#   COMPILER <sources>   compiler/: the hooks; sees isa, the public headers and the kit for NPUs, never
#                        device, sim or what is private to the host compiler
#   STAGES <names>       folders of compiler/ (intarsia_add_target_stage)
#   DEVICE <sources>     device/: freestanding driver; sees isa and the runtime core
#   SIM <sources>        sim/: register-level simulator; sees isa only
#   ENGINE <sources>     engine/: what the target brings to the engine, which executes programs in the compiler's process;
#                        sees isa, device, sim and the public headers
#   ALONE <sources>)     those that cannot be compiled together with others (scripts/IntarsiaLibrary.cmake)
#
# Headers and tables of isa/, device/ and sim/ are included as "intarsia/targets/<identifier>/x.h", where <identifier> is
# the folder's name as a C identifier. Each part is a library of its own that reaches no more than
# said above, so a forbidden #include does not compile. compiler/ defines
# `void intarsia::targets::<identifier>::add_kinds(TargetRegistry&)`, engine/ `add_engine(EngineRegistry&)` beside it.

# Interface library whose include path holds nothing but intarsia/targets/<identifier>/, a link to the part's folder.
function(intarsia_target_view library part identifier)
  add_library(${library} INTERFACE)
  if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part})
    set(view ${PROJECT_BINARY_DIR}/include/targets/${identifier}/${part})
    file(MAKE_DIRECTORY ${view}/intarsia/targets)
    file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/${part} ${view}/intarsia/targets/${identifier} SYMBOLIC)
    target_include_directories(${library} INTERFACE ${view})
  endif()
endfunction()

# intarsia_add_target_stage(<folder below compiler/> SOURCES <files in it> [USES <stages>...] [ALONE <files>...])
# A stage of a compiler that has many files, called before intarsia_add_target, which lists it. Its headers are included as
# "<stage>/x.h" by itself, by the stages that use it, directly or not, and by the files of COMPILER: an #include against
# the order of the stages does not compile.
function(intarsia_add_target_stage stage)
  cmake_parse_arguments(ARG "" "" "SOURCES;USES;ALONE" ${ARGN})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  string(MAKE_C_IDENTIFIER ${folder} identifier)
  set(target intarsia_target_${identifier})
  set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGET_STAGES ${identifier}/${stage})
  set(view ${PROJECT_BINARY_DIR}/include/targets/${identifier}/stages/${stage})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR}/compiler/${stage} ${view}/${stage} SYMBOLIC)
  add_library(${target}_${stage}_headers INTERFACE)
  target_include_directories(${target}_${stage}_headers INTERFACE ${view})
  foreach(used IN LISTS ARG_USES)
    target_link_libraries(${target}_${stage}_headers INTERFACE ${target}_${used}_headers)
  endforeach()
  list(TRANSFORM ARG_SOURCES PREPEND compiler/${stage}/)
  list(TRANSFORM ARG_ALONE PREPEND compiler/${stage}/)
  add_library(${target}_${stage} OBJECT ${ARG_SOURCES})
  target_link_libraries(${target}_${stage} PRIVATE ${target}_${stage}_headers ${target}_isa
    intarsia::headers intarsia::npu_kit fmt::fmt intarsia_options)
  intarsia_precompile(${target}_${stage} host)
  intarsia_compile_together(${target}_${stage} ALONE ${ARG_ALONE})
endfunction()

function(intarsia_add_target name)
  cmake_parse_arguments(ARG "" "" "COMPILER;STAGES;DEVICE;SIM;ENGINE;ALONE" ${ARGN})
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  string(MAKE_C_IDENTIFIER ${name} identifier)
  if(NOT folder STREQUAL name)
    string(MAKE_C_IDENTIFIER ${folder} folder_identifier)
    message(FATAL_ERROR "${CMAKE_CURRENT_SOURCE_DIR} calls itself '${name}'. If it is a copy, give it its name:\n"
      "  grep -rlE '${name}|${identifier}' ${CMAKE_CURRENT_SOURCE_DIR} | "
      "xargs sed -i 's/${name}/${folder}/g; s/${identifier}/${folder_identifier}/g'")
  endif()
  set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGETS ${name})
  # Where packages find the sources of device/ and sim/: below targets/ of the resource root, or
  # where a target of INTARSIA_EXTRA_TARGETS lies.
  set(resource_folder ${name})
  if(NOT CMAKE_CURRENT_SOURCE_DIR STREQUAL "${PROJECT_SOURCE_DIR}/targets/${name}")
    set(resource_folder ${CMAKE_CURRENT_SOURCE_DIR})
  endif()

  set(library intarsia_target_${identifier})
  intarsia_target_view(${library}_isa isa ${identifier})
  add_library(${library} STATIC ${ARG_COMPILER})
  # Compiled with the public headers alone; who links it links what they declare.
  target_link_libraries(${library}
    PRIVATE $<BUILD_INTERFACE:${library}_isa> intarsia::headers intarsia::npu_kit fmt::fmt
            $<BUILD_INTERFACE:intarsia_options>
    INTERFACE intarsia::target_kind $<LINK_ONLY:intarsia::standard_lowering>)
  # For tests: the headers of all stages, and of the kit.
  add_library(${library}_headers INTERFACE)
  target_link_libraries(${library}_headers INTERFACE intarsia::npu_kit)
  foreach(stage IN LISTS ARG_STAGES)
    target_link_libraries(${library}_headers INTERFACE ${library}_${stage}_headers)
    target_sources(${library} PRIVATE $<TARGET_OBJECTS:${library}_${stage}>)
    target_link_libraries(${library} PRIVATE $<BUILD_INTERFACE:${library}_${stage}_headers>)
  endforeach()
  target_compile_definitions(${library} PRIVATE INTARSIA_TARGET_FOLDER="${resource_folder}")
  intarsia_precompile(${library} host)
  intarsia_compile_together(${library} ALONE ${ARG_ALONE})

  if(ARG_DEVICE)
    intarsia_target_view(${library}_device_headers device ${identifier})
    add_library(${library}_device STATIC ${ARG_DEVICE})
    set_target_properties(${library}_device PROPERTIES INTARSIA_IS_FOR_DEVICES ON)
    target_link_libraries(${library}_device
      PUBLIC intarsia::rt_core $<BUILD_INTERFACE:${library}_device_headers>
      PRIVATE $<BUILD_INTERFACE:${library}_isa> $<BUILD_INTERFACE:intarsia_options>)
    target_compile_options(${library}_device PRIVATE
      -ffreestanding $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti> -Wconversion)
  endif()
  if(ARG_SIM)
    intarsia_target_view(${library}_sim_headers sim ${identifier})
    add_library(${library}_sim STATIC ${ARG_SIM})
    target_link_libraries(${library}_sim
      PUBLIC intarsia::contract $<BUILD_INTERFACE:${library}_sim_headers>
      PRIVATE $<BUILD_INTERFACE:${library}_isa> $<BUILD_INTERFACE:intarsia_options>)
    target_compile_features(${library}_sim PUBLIC cxx_std_20)
    intarsia_compile_together(${library}_sim ALONE ${ARG_ALONE})
  endif()
  if(ARG_ENGINE)
    add_library(${library}_engine STATIC ${ARG_ENGINE})
    target_link_libraries(${library}_engine
      PUBLIC intarsia::headers intarsia::contract
      PRIVATE $<BUILD_INTERFACE:${library}_isa> $<BUILD_INTERFACE:fmt::fmt> $<BUILD_INTERFACE:intarsia_options>)
    foreach(part IN ITEMS device sim)
      if(TARGET ${library}_${part})
        target_link_libraries(${library}_engine PRIVATE ${library}_${part})
        set_target_properties(${library}_${part} PROPERTIES EXPORT_NAME target_${identifier}_${part})
      endif()
    endforeach()
    set_target_properties(${library}_engine PROPERTIES EXPORT_NAME target_${identifier}_engine)
  endif()
  if(INTARSIA_INSTALL AND NOT IS_ABSOLUTE ${resource_folder})
    foreach(part IN ITEMS isa device sim)
      if(EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/${part})
        install(DIRECTORY ${part} DESTINATION ${CMAKE_INSTALL_DATADIR}/intarsia/targets/${name}
          COMPONENT intarsia_resources)
      endif()
    endforeach()
  endif()

  if(INTARSIA_BUILD_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tests/CMakeLists.txt)
    # After every other part of the project, whose libraries the tests may use.
    set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGET_TESTS ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  endif()
  if(INTARSIA_BUILD_BENCH AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/bench/CMakeLists.txt)
    set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGET_BENCHES ${CMAKE_CURRENT_SOURCE_DIR}/bench)
  endif()
endfunction()

# intarsia_add_target_table(<library> <folder names>...)
# A library that defines add_builtin_targets() of intarsia/builtin_targets.h for these targets, and <library>_engine that
# defines add_builtin_engine().
function(intarsia_add_target_table library)
  set(declarations "")
  set(calls "")
  set(libraries "")
  foreach(name IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    string(APPEND declarations
      "namespace intarsia::targets::${identifier} {\nvoid add_kinds(TargetRegistry& registry);\n}\n")
    string(APPEND calls "  targets::${identifier}::add_kinds(registry);\n")
    list(APPEND libraries intarsia_target_${identifier})
  endforeach()
  file(CONFIGURE OUTPUT ${library}.cpp @ONLY CONTENT [[
// Written by intarsia_add_target_table.
#include "intarsia/builtin_targets.h"

@declarations@
namespace intarsia {

void add_builtin_targets(TargetRegistry& registry) {
@calls@}

}  // namespace intarsia
]])
  add_library(${library} STATIC ${CMAKE_CURRENT_BINARY_DIR}/${library}.cpp)
  target_link_libraries(${library} PUBLIC intarsia::target_kind PRIVATE ${libraries} $<BUILD_INTERFACE:intarsia_options>)

  set(declarations "")
  set(calls "")
  set(libraries "")
  foreach(name IN LISTS ARGN)
    string(MAKE_C_IDENTIFIER ${name} identifier)
    if(TARGET intarsia_target_${identifier}_engine)
      string(APPEND declarations
        "namespace intarsia::targets::${identifier} {\nvoid add_engine(EngineRegistry& registry);\n}\n")
      string(APPEND calls "  targets::${identifier}::add_engine(registry);\n")
      list(APPEND libraries intarsia_target_${identifier}_engine)
    endif()
  endforeach()
  file(CONFIGURE OUTPUT ${library}_engine.cpp @ONLY CONTENT [=[
// Written by intarsia_add_target_table.
#include "intarsia/builtin_targets.h"

@declarations@
namespace intarsia {

void add_builtin_engine([[maybe_unused]] EngineRegistry& registry) {
@calls@}

}  // namespace intarsia
]=])
  add_library(${library}_engine STATIC ${CMAKE_CURRENT_BINARY_DIR}/${library}_engine.cpp)
  target_link_libraries(${library}_engine PUBLIC intarsia::engine PRIVATE ${libraries} $<BUILD_INTERFACE:intarsia_options>)
endfunction()

# intarsia_add_command_line(<program> <table>)
# The command line with the targets of a table (intarsia_add_target_table).
function(intarsia_add_command_line program table)
  add_executable(${program} $<TARGET_OBJECTS:intarsia_command_line>)
  target_link_libraries(${program} PRIVATE intarsia_command_line ${table} ${table}_engine)
  set_target_properties(${program} PROPERTIES OUTPUT_NAME intarsia)
endfunction()
