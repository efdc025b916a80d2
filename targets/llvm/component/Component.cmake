# libintarsia_llvm.so: LLVM's C interface, and the helpers of the runtime as bitcode.
if(LLVM_DIR) # which one is wanted
  find_package(LLVM QUIET CONFIG)
  if(LLVM_FOUND AND (LLVM_VERSION_MAJOR LESS 14 OR LLVM_VERSION_MAJOR GREATER 19))
    message(STATUS "target llvm compiles nothing: LLVM ${LLVM_VERSION_MAJOR} is none of 14 to 19")
    return()
  endif()
endif()
foreach(release IN ITEMS 14 15 16 17 18 19)
  if(NOT LLVM_FOUND)
    find_package(LLVM ${release} QUIET CONFIG PATHS /usr/lib/llvm-${release})
  endif()
endforeach()
if(NOT LLVM_FOUND)
  message(STATUS "target llvm compiles nothing: there is no LLVM (Debian: llvm-14-dev and clang-14)")
  return()
endif()
find_program(INTARSIA_CLANG NAMES clang-${LLVM_VERSION_MAJOR} clang HINTS ${LLVM_TOOLS_BINARY_DIR})
find_program(INTARSIA_LLVM_LINK NAMES llvm-link-${LLVM_VERSION_MAJOR} llvm-link HINTS ${LLVM_TOOLS_BINARY_DIR})
if(NOT INTARSIA_CLANG OR NOT INTARSIA_LLVM_LINK)
  message(STATUS "target llvm compiles nothing: there is no clang of LLVM ${LLVM_VERSION_MAJOR}")
  return()
endif()

# Bitcode for machines of one width, as a list of bytes.
function(intarsia_helper_bitcode width triple)
  set(parts "")
  foreach(source IN LISTS ARGN)
    get_filename_component(name ${source} NAME_WE)
    set(part ${CMAKE_CURRENT_BINARY_DIR}/helpers_${width}/${name}.bc)
    add_custom_command(OUTPUT ${part}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_CURRENT_BINARY_DIR}/helpers_${width}
      COMMAND ${INTARSIA_CLANG} --target=${triple} -std=c11 -O3 -Xclang -disable-llvm-passes -emit-llvm -c
        -ffreestanding -fno-pic -ffp-contract=off -fno-stack-protector -fno-unwind-tables -fno-asynchronous-unwind-tables
        -fomit-frame-pointer -nostdlibinc
        -I ${CMAKE_CURRENT_SOURCE_DIR}/helpers/include -I ${PROJECT_SOURCE_DIR}/device-runtime/kernels/include
        -I ${PROJECT_SOURCE_DIR}/device-runtime/contract/include
        ${source} -o ${part}
      DEPENDS ${source} ${headers} VERBATIM)
    list(APPEND parts ${part})
  endforeach()
  set(all ${CMAKE_CURRENT_BINARY_DIR}/helpers_${width}.bc)
  set(list ${CMAKE_CURRENT_BINARY_DIR}/helpers_${width}.inc)
  add_custom_command(OUTPUT ${list}
    COMMAND ${INTARSIA_LLVM_LINK} ${parts} -o ${all}
    COMMAND ${CMAKE_COMMAND} -DINPUT=${all} -DOUTPUT=${list} -P ${CMAKE_CURRENT_SOURCE_DIR}/component/bytes.cmake
    DEPENDS ${parts} ${CMAKE_CURRENT_SOURCE_DIR}/component/bytes.cmake VERBATIM)
endfunction()

file(GLOB kernels CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/device-runtime/kernels/src/*.c)
file(GLOB headers CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/device-runtime/kernels/include/intarsia/kernels/*.h
  ${PROJECT_SOURCE_DIR}/device-runtime/contract/include/intarsia/contract/status.* ${CMAKE_CURRENT_SOURCE_DIR}/helpers/*.h)
set(helper_sources ${kernels} ${CMAKE_CURRENT_SOURCE_DIR}/helpers/frame.c
  ${CMAKE_CURRENT_SOURCE_DIR}/helpers/inline_helpers.c)
intarsia_helper_bitcode(32 thumbv7m-none-eabi ${helper_sources})
intarsia_helper_bitcode(64 aarch64-none-elf ${helper_sources})

add_library(intarsia_llvm MODULE component/component.cpp component/load.cpp component/machine.cpp
  ${CMAKE_CURRENT_BINARY_DIR}/helpers_32.inc ${CMAKE_CURRENT_BINARY_DIR}/helpers_64.inc)
target_include_directories(intarsia_llvm SYSTEM PRIVATE ${LLVM_INCLUDE_DIRS})
target_include_directories(intarsia_llvm PRIVATE ${CMAKE_CURRENT_BINARY_DIR})
target_compile_definitions(intarsia_llvm PRIVATE ${LLVM_DEFINITIONS_LIST})
target_link_libraries(intarsia_llvm PRIVATE intarsia_target_llvm_isa LLVM $<BUILD_INTERFACE:intarsia_options>)
target_compile_definitions(intarsia_target_llvm PRIVATE INTARSIA_LLVM_COMPONENT="$<TARGET_FILE:intarsia_llvm>")
add_dependencies(intarsia_target_llvm intarsia_llvm)
if(INTARSIA_INSTALL)
  install(TARGETS intarsia_llvm LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}/intarsia COMPONENT intarsia_llvm)
endif()
