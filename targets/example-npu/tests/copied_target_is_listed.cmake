# Copies the target's folder beside nothing else, as targets/README.md says, and asks a compiler built
# with it for its targets.
set(name my-npu)
set(folder ${WORK_DIR}/${name})
file(REMOVE_RECURSE ${folder})
file(MAKE_DIRECTORY ${WORK_DIR})
get_filename_component(original ${CMAKE_CURRENT_LIST_DIR}/.. ABSOLUTE)
get_filename_component(original_name ${original} NAME)
string(MAKE_C_IDENTIFIER ${original_name} original_identifier)
execute_process(COMMAND cp -r ${original} ${folder} COMMAND_ERROR_IS_FATAL ANY)
execute_process(
  COMMAND sh -c "grep -rlE '${original_name}|${original_identifier}' ${folder} | xargs sed -i 's/${original_name}/my-npu/g; s/${original_identifier}/my_npu/g'"
  COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${SOURCE_DIR} -B ${WORK_DIR}/build -G ${GENERATOR}
    -D CMAKE_BUILD_TYPE=Debug -D CMAKE_CXX_FLAGS_DEBUG=-O0 -D INTARSIA_BUILD_TESTS=OFF -D INTARSIA_EXTRA_TARGETS=${folder}
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/build --target intarsia_cli --parallel 2
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
foreach(arguments IN ITEMS targets "targets;${name}")
  execute_process(COMMAND ${WORK_DIR}/build/bin/intarsia ${arguments} OUTPUT_VARIABLE listing COMMAND_ERROR_IS_FATAL ANY)
  if(NOT listing MATCHES "my-npu" OR (arguments STREQUAL "targets" AND NOT listing MATCHES "${original_name}"))
    message(FATAL_ERROR "intarsia ${arguments} does not list ${name} beside ${original_name}:\n${listing}")
  endif()
endforeach()
