# One place that says how our libraries and tests are compiled. Settings go on targets, never on
# directories: embedding Intarsia in another project changes nothing there.

add_library(intarsia_options INTERFACE)
target_compile_features(intarsia_options INTERFACE cxx_std_20 c_std_11)
target_compile_options(intarsia_options INTERFACE
  -Wall -Wextra $<$<COMPILE_LANGUAGE:CXX>:-Wpedantic -Wno-missing-field-initializers>)
# Products and sums are rounded one by one, also on machines that could fuse them: the same model gives
# the same bytes everywhere. On x86-64 compilers fuse nothing that they are not told to.
if(NOT CMAKE_SYSTEM_PROCESSOR MATCHES "^(x86_64|AMD64)$")
  target_compile_options(intarsia_options INTERFACE -ffp-contract=off)
endif()
# GCC collects garbage each time its memory has doubled; not before it has half a gigabyte, compiling takes a tenth less.
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  target_compile_options(intarsia_options INTERFACE "SHELL:--param ggc-min-heapsize=524288")
endif()
# A hundred and thirty programs of tests link the same libraries: LLD takes a quarter of the time that GNU's linker takes.
option(INTARSIA_LLD "Link with LLD where it is installed" ${PROJECT_IS_TOP_LEVEL})
find_program(INTARSIA_LLD_PROGRAM ld.lld)
mark_as_advanced(INTARSIA_LLD_PROGRAM)
if(INTARSIA_LLD AND INTARSIA_LLD_PROGRAM AND CMAKE_SYSTEM_NAME STREQUAL Linux AND NOT CMAKE_CROSSCOMPILING)
  target_link_options(intarsia_options INTERFACE -fuse-ld=lld)
endif()
# With all that is checked, compiling takes three times as long. UBSan leaves out the tests' own code, null pointers, which
# AddressSanitizer finds too, and but in what runs on devices alignments and pointers that wrap around.
foreach(sanitizer IN LISTS INTARSIA_SANITIZE)
  set(where 1)
  if(sanitizer STREQUAL undefined)
    set(where $<NOT:$<BOOL:$<TARGET_PROPERTY:INTARSIA_IS_TEST>>>)
  endif()
  target_compile_options(intarsia_options INTERFACE
    $<${where}:-fsanitize=${sanitizer}> -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(intarsia_options INTERFACE -fsanitize=${sanitizer})
endforeach()
if(INTARSIA_SANITIZE)
  # What is read of an empty vector, or beside one, as long as it is memory of the vector.
  target_compile_definitions(intarsia_options INTERFACE $<$<COMPILE_LANGUAGE:CXX>:_GLIBCXX_ASSERTIONS>)
endif()
if(INTARSIA_SANITIZE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # What the sanitizers insert hides from GCC where values come from.
  target_compile_options(intarsia_options INTERFACE -Wno-maybe-uninitialized)
endif()
if("undefined" IN_LIST INTARSIA_SANITIZE)
  target_compile_options(intarsia_options INTERFACE -fno-sanitize=null,vptr,object-size
    $<$<NOT:$<BOOL:$<TARGET_PROPERTY:INTARSIA_IS_FOR_DEVICES>>>:-fno-sanitize=alignment,pointer-overflow>)
endif()

# Standard headers and fmt cost a second of every C++ file: they are parsed once for all libraries of the
# host, and once with GoogleTest for all tests. Nothing of ours is among them, so that a changed header of
# ours compiles no more again than it must.
option(INTARSIA_PRECOMPILE "Precompile the headers of others that most files include" ${PROJECT_IS_TOP_LEVEL})
set(INTARSIA_STANDARD_HEADERS <algorithm> <array> <bit> <cmath> <cstdint> <cstring> <functional> <limits>
    <map> <memory> <numeric> <optional> <set> <span> <string> <string_view> <tuple> <unordered_map>
    <utility> <variant> <vector>)

# intarsia_precompile(<target> SET host|test)
function(intarsia_precompile target set)
  # Sanitizers' and coverage's flags are part of intarsia_options, which all of these have.
  if(INTARSIA_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    target_precompile_headers(${target} REUSE_FROM intarsia_${set}_headers_precompiled)
    # Lets ccache see through the precompiled header.
    target_compile_options(${target} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    # It is used only with the definitions that it was made with; fmt brings some.
    target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:fmt::fmt>)
  endif()
endfunction()

# intarsia_add_precompiled(host|test HEADERS ... LIBS ...)
function(intarsia_add_precompiled set)
  cmake_parse_arguments(ARG "" "" "HEADERS;LIBS" ${ARGN})
  if(INTARSIA_PRECOMPILE AND CMAKE_CXX_COMPILER_ID STREQUAL GNU)
    set(source ${PROJECT_BINARY_DIR}/precompiled/${set}.cpp)
    file(CONFIGURE OUTPUT ${source} CONTENT "// Holds nothing; its target precompiles headers.\n")
    set(name intarsia_${set}_headers_precompiled)
    add_library(${name} OBJECT ${source})
    target_link_libraries(${name} PRIVATE ${ARG_LIBS} $<BUILD_INTERFACE:intarsia_options>)
    target_precompile_headers(${name} PRIVATE ${ARG_HEADERS})
    target_compile_options(${name} PRIVATE $<$<COMPILE_LANGUAGE:CXX>:-fpch-preprocess>)
    if(set STREQUAL test)
      set_target_properties(${name} PROPERTIES INTARSIA_IS_TEST ON)
      target_compile_options(${name} PRIVATE -O0)
    endif()
  endif()
endfunction()

# Half of what compiling a file costs is parsing our headers and making the same templates again: where everything is
# built from nothing, several files of a target are compiled as one. After a change of one file that costs more than it
# saves: configure with -D INTARSIA_TOGETHER=OFF to work on the sources.
# Twenty-four files read our headers once and take the compiler a gigabyte; more save little, and leave cores without work.
option(INTARSIA_TOGETHER "Compile several files of a target at once" ${PROJECT_IS_TOP_LEVEL})

# intarsia_compile_together(<target> [ALONE files...])
# ALONE: files that have names of their own (in unnamed namespaces) which others of the target have too.
function(intarsia_compile_together target)
  cmake_parse_arguments(ARG "" "" "ALONE" ${ARGN})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${INTARSIA_TOGETHER} UNITY_BUILD_BATCH_SIZE 24)
  set_source_files_properties(${ARG_ALONE} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
endfunction()

# intarsia_install_libraries(<targets>...)
# They become part of what find_package(Intarsia) offers, as intarsia::<their EXPORT_NAME>.
function(intarsia_install_libraries)
  if(INTARSIA_INSTALL)
    install(TARGETS ${ARGN} EXPORT IntarsiaTargets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
  endif()
endfunction()

# intarsia_add_kit(<name> SOURCES ... [PUBLIC libs...] [PRIVATE libs...] [INTERFACE libs...])
# What compilers of several targets share: library intarsia_<name>, alias intarsia::<name>, between the host compiler, of which
# it sees the public headers, and the targets that link it. The headers in include/ are installed for targets of others.
function(intarsia_add_kit name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE;INTERFACE" ${ARGN})
  add_library(intarsia_${name} STATIC ${ARG_SOURCES})
  add_library(intarsia::${name} ALIAS intarsia_${name})
  target_include_directories(intarsia_${name} PUBLIC
    $<BUILD_INTERFACE:${CMAKE_CURRENT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(intarsia_${name} PUBLIC intarsia::headers ${ARG_PUBLIC}
    PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:intarsia_options> INTERFACE ${ARG_INTERFACE})
  intarsia_precompile(intarsia_${name} host)
  intarsia_compile_together(intarsia_${name})
  set_target_properties(intarsia_${name} PROPERTIES EXPORT_NAME ${name})
  intarsia_install_libraries(intarsia_${name})
  if(INTARSIA_INSTALL)
    install(DIRECTORY include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
  endif()
endfunction()

# intarsia_add_library(<name> SOURCES ... [PUBLIC libs...] [PRIVATE libs...] [ALONE files...])
# A folder of host-compiler/src: library intarsia_<name>, alias intarsia::<name>. Its own headers are
# visible as "<folder>/x.h" to itself and to those that link it, and to nobody else.
function(intarsia_add_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE;ALONE" ${ARGN})
  add_library(intarsia_${name} STATIC ${ARG_SOURCES})
  add_library(intarsia::${name} ALIAS intarsia_${name})
  # A directory that holds a link to this folder and nothing else, so that no other folder's headers
  # come into reach with it.
  get_filename_component(folder ${CMAKE_CURRENT_SOURCE_DIR} NAME)
  set(view ${PROJECT_BINARY_DIR}/include/${name})
  file(MAKE_DIRECTORY ${view})
  file(CREATE_LINK ${CMAKE_CURRENT_SOURCE_DIR} ${view}/${folder} SYMBOLIC)
  target_include_directories(intarsia_${name} PUBLIC $<BUILD_INTERFACE:${view}>)
  # Libraries that are headers only are needed to build this one, not to link it: who uses an installed
  # Intarsia need not have them.
  list(TRANSFORM ARG_PRIVATE REPLACE "^((Eigen3|nlohmann_json)::.*)$" "$<BUILD_INTERFACE:\\1>")
  target_link_libraries(intarsia_${name} PUBLIC ${ARG_PUBLIC}
                                         PRIVATE ${ARG_PRIVATE} $<BUILD_INTERFACE:intarsia_options>)
  intarsia_precompile(intarsia_${name} host)
  intarsia_compile_together(intarsia_${name} ALONE ${ARG_ALONE})
  set_target_properties(intarsia_${name} PROPERTIES EXPORT_NAME ${name})
  intarsia_install_libraries(intarsia_${name})
  set_property(GLOBAL APPEND PROPERTY INTARSIA_HOST_LIBRARIES intarsia_${name})
endfunction()

set(INTARSIA_TEST_CASES ${CMAKE_CURRENT_LIST_DIR}/IntarsiaTestCases.cmake)

option(INTARSIA_BUILD_LONG_TESTS "Build the programs of long tests too" OFF)

# intarsia_build_with_long_tests(<program>): not where these are not asked for.
function(intarsia_build_with_long_tests name)
  if(NOT INTARSIA_BUILD_LONG_TESTS)
    set_target_properties(${name} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()

# intarsia_add_test(<name> SOURCES ... LIBS ... [LABELS ...] [ENTRIES case|suite] [TIMEOUT seconds] [SLOW regex]
#                   [ALONE files...] [SANITIZED_IN_LONG_SET])
# A GoogleTest program; each of its cases is an entry of ctest, `<name>.<Suite>.<Case>`, in a process of its own. Where
# the cases of a suite share what is costly to make, `ENTRIES suite` runs them together, and so does a sanitized build,
# in which to start and end a process takes longer than most cases. Without labels it is a `unit`
# test: quick, and run under the sanitizers too. Others: `golden`, `e2e` (from model file to running program),
# `install`, `long` (left out by ./test, and built only with -D INTARSIA_BUILD_LONG_TESTS=ON). Entries whose names match
# SLOW get the label `slow`: they run what others run too, on more, or spend their time in a compiler; .ci/run leaves them out
# under the sanitizers. SANITIZED_IN_LONG_SET is said of a whole program: what it takes to build it for the sanitizers is more
# than it finds beside the others. The time limit is for one entry, and only for what hangs.
function(intarsia_add_test name)
  cmake_parse_arguments(ARG "SANITIZED_IN_LONG_SET" "ENTRIES;TIMEOUT;SLOW" "SOURCES;LIBS;LABELS;ALONE" ${ARGN})
  find_package(GTest REQUIRED)
  add_executable(${name} ${ARG_SOURCES})
  # fmt: the precompiled headers are compiled with its definitions.
  target_link_libraries(${name} PRIVATE
    ${ARG_LIBS} intarsia_test_main GTest::gtest GTest::gmock fmt::fmt intarsia_options)
  # Most of a test runs once: what it takes to optimise it is lost.
  target_compile_options(${name} PRIVATE -O0)
  set_target_properties(${name} PROPERTIES INTARSIA_IS_TEST ON)
  intarsia_precompile(${name} test)
  intarsia_compile_together(${name} ALONE ${ARG_ALONE})
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  if(INTARSIA_SANITIZE AND ARG_SANITIZED_IN_LONG_SET)
    list(APPEND ARG_LABELS long)
  endif()
  if("long" IN_LIST ARG_LABELS)
    intarsia_build_with_long_tests(${name})
  elseif("unit" IN_LIST ARG_LABELS OR "golden" IN_LIST ARG_LABELS)
    set_property(GLOBAL APPEND PROPERTY INTARSIA_QUICK_TESTS ${name})
  endif()
  # For scripts/mutate: which programs there are, and their labels.
  file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/test-programs/${name}.txt
    CONTENT "$<TARGET_FILE:${name}>\n${ARG_LABELS}\n")
  if(INTARSIA_SANITIZE)
    set(ARG_ENTRIES suite)
  elseif(NOT ARG_ENTRIES)
    set(ARG_ENTRIES case)
  endif()
  if(NOT ARG_TIMEOUT)
    set(ARG_TIMEOUT 1200)
    if("long" IN_LIST ARG_LABELS)
      set(ARG_TIMEOUT 7200)
    endif()
  endif()
  set(description ${CMAKE_CURRENT_BINARY_DIR}/${name}_cases.cmake)
  file(GENERATE OUTPUT ${description} CONTENT "\
set(name [==[${name}]==])
set(program [==[$<TARGET_FILE:${name}>]==])
set(entries ${ARG_ENTRIES})
set(labels [==[${ARG_LABELS}]==])
set(timeout ${ARG_TIMEOUT})
set(slow [==[${ARG_SLOW}]==])
set(sources [==[${PROJECT_SOURCE_DIR}]==])
set(description [==[${description}]==])
set(list [==[${CMAKE_CURRENT_BINARY_DIR}/${name}_list.cmake]==])
include([==[${INTARSIA_TEST_CASES}]==])
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES ${description})
endfunction()

