# What the install tests have in common: running a step, and looking at what it said.

# step(<what> COMMAND ...): runs it, ends the test when it fails; its output is left in step_output.
function(step what)
  cmake_parse_arguments(ARG "" "" "COMMAND" ${ARGN})
  execute_process(COMMAND ${ARG_COMMAND} WORKING_DIRECTORY ${WORK_DIR}
                  RESULT_VARIABLE status OUTPUT_VARIABLE output ERROR_VARIABLE output)
  if(NOT status EQUAL 0)
    message(FATAL_ERROR "${what} failed (${status}):\n${output}")
  endif()
  set(step_output "${output}" PARENT_SCOPE)
endfunction()

# expect(<what> <text> <regex>)
function(expect what text regex)
  if(NOT text MATCHES "${regex}")
    message(FATAL_ERROR "${what}: expected to find '${regex}' in:\n${text}")
  endif()
endfunction()

# configure(<source> <build> [further arguments])
function(configure source build)
  step("configuring ${source}" COMMAND ${CMAKE_COMMAND} -S ${source} -B ${build} -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=${BUILD_TYPE}
    -D CMAKE_C_COMPILER=${C_COMPILER} -D CMAKE_CXX_COMPILER=${CXX_COMPILER}
    -D CMAKE_C_COMPILER_LAUNCHER=${C_LAUNCHER} -D CMAKE_CXX_COMPILER_LAUNCHER=${CXX_LAUNCHER} ${ARGN})
  set(step_output "${step_output}" PARENT_SCOPE)
endfunction()
