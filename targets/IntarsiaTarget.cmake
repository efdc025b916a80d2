# intarsia_add_target(<folder name>
#   ISA <header folder>          isa/include: tables; seen by compiler, device and sim
#   COMPILER <sources>           compiler/: the hooks; sees isa and the host compiler, never device or sim
#   DEVICE <sources>             device/: freestanding driver; sees isa and the runtime core
#   SIM <sources>)               sim/: register-level simulator; sees isa only
#
# compiler/ defines `void intarsia::targets::<identifier>::add_kinds(TargetRegistry&)`. Each part is a
# library of its own with no more include paths than that, so a forbidden #include does not compile.
function(intarsia_add_target name)
  cmake_parse_arguments(ARG "" "" "ISA;COMPILER;DEVICE;SIM" ${ARGN})
  string(MAKE_C_IDENTIFIER ${name} identifier)
  set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGETS ${name})
  set_property(GLOBAL PROPERTY INTARSIA_TARGET_FOLDER_${name} ${CMAKE_CURRENT_SOURCE_DIR})

  add_library(intarsia_target_${identifier}_isa INTERFACE)
  if(ARG_ISA)
    target_include_directories(intarsia_target_${identifier}_isa INTERFACE ${CMAKE_CURRENT_SOURCE_DIR}/${ARG_ISA})
  endif()

  add_library(intarsia_target_${identifier} STATIC ${ARG_COMPILER})
  target_link_libraries(intarsia_target_${identifier}
    PUBLIC intarsia::target_kind
    PRIVATE intarsia_target_${identifier}_isa intarsia::standard_lowering fmt::fmt intarsia_options)
  target_compile_definitions(intarsia_target_${identifier} PRIVATE
    INTARSIA_TARGET_FOLDER="${name}" INTARSIA_TARGET_ID=${identifier})

  if(ARG_DEVICE)
    add_library(intarsia_target_${identifier}_device STATIC ${ARG_DEVICE})
    target_include_directories(intarsia_target_${identifier}_device PUBLIC
      ${CMAKE_CURRENT_SOURCE_DIR}/device/include)
    target_link_libraries(intarsia_target_${identifier}_device
      PUBLIC intarsia::rt_core PRIVATE intarsia_target_${identifier}_isa intarsia_options)
    target_compile_options(intarsia_target_${identifier}_device PRIVATE
      -ffreestanding $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions -fno-rtti>)
  endif()
  if(ARG_SIM)
    add_library(intarsia_target_${identifier}_sim STATIC ${ARG_SIM})
    target_include_directories(intarsia_target_${identifier}_sim PUBLIC ${CMAKE_CURRENT_SOURCE_DIR}/sim/include)
    target_link_libraries(intarsia_target_${identifier}_sim
      PRIVATE intarsia_target_${identifier}_isa intarsia_options)
  endif()

  if(INTARSIA_BUILD_TESTS AND EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/tests/CMakeLists.txt)
    # After every other part of the project, whose libraries the tests may use.
    set_property(GLOBAL APPEND PROPERTY INTARSIA_TARGET_TESTS ${CMAKE_CURRENT_SOURCE_DIR}/tests)
  endif()
endfunction()
