# Installs the built tree, moves it, marks its resources, and uses it from a project that knows nothing
# but the prefix. The marks show that the installed resources are read and not the source tree's.
include(${CMAKE_CURRENT_LIST_DIR}/steps.cmake)
file(REMOVE_RECURSE ${WORK_DIR})
file(MAKE_DIRECTORY ${WORK_DIR}/elsewhere)
unset(ENV{INTARSIA_ROOT})

step("installing" COMMAND ${CMAKE_COMMAND} --install ${BUILD_DIR} --prefix ${WORK_DIR}/first)
set(prefix ${WORK_DIR}/moved)
file(RENAME ${WORK_DIR}/first ${prefix})
set(resources ${prefix}/share/intarsia)
set(intarsia ${prefix}/bin/intarsia)

# What is installed says nothing about where it was built.
file(GLOB_RECURSE texts ${prefix}/*.cmake ${prefix}/*.h ${prefix}/*.json)
foreach(file IN LISTS texts)
  file(STRINGS ${file} lines REGEX "${SOURCE_DIR}|${BUILD_DIR}")
  if(lines)
    message(FATAL_ERROR "${file} names the build: ${lines}")
  endif()
endforeach()

# Of every target, what packages are made from.
file(GLOB parts RELATIVE ${SOURCE_DIR} ${SOURCE_DIR}/targets/*/isa ${SOURCE_DIR}/targets/*/device
  ${SOURCE_DIR}/targets/*/sim)
foreach(part IN LISTS parts)
  if(NOT EXISTS ${resources}/${part})
    message(FATAL_ERROR "${part} is not installed")
  endif()
endforeach()

# Man pages and completion, where man and the shells look.
foreach(file IN ITEMS man/man1/intarsia.1 man/man1/intarsia-compile.1 bash-completion/completions/intarsia
    zsh/site-functions/_intarsia fish/vendor_completions.d/intarsia.fish)
  if(NOT EXISTS ${prefix}/share/${file})
    message(FATAL_ERROR "share/${file} is not installed")
  endif()
endforeach()

# A board that only the installed tree has, and a mark in a header of the runtime.
file(COPY ${resources}/boards/mps2-an386/ DESTINATION ${resources}/boards/marked)
file(READ ${resources}/boards/marked/board.json text)
string(REPLACE "\"mps2-an386\"" "\"marked\"" text "${text}")
file(WRITE ${resources}/boards/marked/board.json "${text}")
file(APPEND ${resources}/device-runtime/kernels/include/intarsia/kernels/arithmetic.h "/* installed */\n")

# The program, from a folder far from the sources.
set(WORK_DIR ${WORK_DIR}/elsewhere)
step("intarsia boards" COMMAND ${intarsia} boards)
expect("boards" "${step_output}" "marked .*Cortex-M4")
step("intarsia targets" COMMAND ${intarsia} targets)
expect("targets" "${step_output}" "cortex-m4")
file(COPY ${SOURCE_DIR}/examples/digits/digits.tflite DESTINATION ${WORK_DIR})
step("intarsia compile" COMMAND ${intarsia} compile digits.tflite --board marked -o digits)
expect("compile" "${step_output}" "digits")
file(READ ${WORK_DIR}/digits/intarsia/kernels/arithmetic.h header)
expect("the copied runtime" "${header}" "/\\* installed \\*/")
execute_process(COMMAND head -c 64 ${SOURCE_DIR}/examples/digits/test_images.bin
                OUTPUT_FILE ${WORK_DIR}/in0.bin COMMAND_ERROR_IS_FATAL ANY)
step("intarsia run" COMMAND ${intarsia} run digits.tflite --input in0.bin --output-dir out)
file(READ ${WORK_DIR}/out/out0.bin scores HEX)
file(READ ${SOURCE_DIR}/examples/digits/golden_outputs.bin golden LIMIT 10 HEX)
if(NOT scores STREQUAL golden)
  message(FATAL_ERROR "run: ${scores} instead of ${golden}")
endif()

# What asks other libraries which layers they take, where that was built: found from the program, where that was moved to.
set(components ${prefix}/${LIBDIR}/intarsia)
set(grouped ${SOURCE_DIR}/tests/install/find-package/grouped.graph)
if(EXISTS ${BUILD_DIR}/targets/arm-acl/intarsia_arm_acl_ask)
  set(explain ${intarsia} explain ${grouped} --board aarch64-linux --target "cortex-a53 + arm_acl")
  step("asking the Arm Compute Library" COMMAND ${explain})
  expect("its answer" "${step_output}" "it has no convolution of groups")
  file(WRITE ${components}/intarsia_arm_acl_ask "")
  step("asking nobody" COMMAND ${explain})
  expect("no answer" "${step_output}" "1 operator on arm_acl")
endif()
foreach(component IN ITEMS dnnl llvm)
  if(EXISTS ${BUILD_DIR}/targets/${component}/libintarsia_${component}.so)
    set(target_of_dnnl "c + dnnl")
    set(target_of_llvm llvm)
    # The loader of the C library says what it reads.
    step("loading ${component}" COMMAND ${CMAKE_COMMAND} -E env LD_DEBUG=files
      ${intarsia} compile ${grouped} --target ${target_of_${component}} -o with_${component})
    expect("what is loaded" "${step_output}" "file=${components}/libintarsia_${component}.so")
    if(step_output MATCHES "file=${BUILD_DIR}/targets/")
      message(FATAL_ERROR "${component} is loaded from where it was built")
    endif()
    # The same where PATH finds the program, which then is known to itself by its bare name.
    step("loading ${component} by PATH" COMMAND ${CMAKE_COMMAND} -E env LD_DEBUG=files PATH=${prefix}/bin:$ENV{PATH}
      sh -c "exec intarsia compile ${grouped} --target '${target_of_${component}}' -o by_path")
    expect("what is loaded" "${step_output}" "file=${components}/libintarsia_${component}.so")
  endif()
endforeach()
# The libraries.
set(consumer ${WORK_DIR}/build)
configure(${SOURCE_DIR}/tests/install/find-package ${consumer} -D CMAKE_PREFIX_PATH=${prefix})
step("building the consumer" COMMAND ${CMAKE_COMMAND} --build ${consumer})
step("the embedder" COMMAND ${consumer}/embedder
  ${SOURCE_DIR}/tests/install/find-package/clamp_sum.graph marked)
expect("the embedder" "${step_output}" "^clamp_sum for marked: [1-9][0-9]* bytes of [a-z_]+, [1-9][0-9]* files\n$")
# The example, with the one library that it links; its package is the command line's.
configure(${resources}/../doc/intarsia/examples/embedding ${WORK_DIR}/embedding -D CMAKE_PREFIX_PATH=${prefix})
step("building the example" COMMAND ${CMAKE_COMMAND} --build ${WORK_DIR}/embedding)
step("the example" COMMAND ${WORK_DIR}/embedding/compile_for_board digits.tflite mps2-an386 embedded)
step("the command line" COMMAND ${intarsia} compile digits.tflite --board mps2-an386 -o commanded)
foreach(file digits.c digits.h digits_data.h digits.mk)
  step("comparing ${file}" COMMAND ${CMAKE_COMMAND} -E compare_files embedded/${file} commanded/${file})
endforeach()

# The installed pages: every link leads to an installed file.
set(pages ${resources}/../doc/intarsia)
file(GLOB_RECURSE files ${pages}/*.md)
list(LENGTH files count)
if(count LESS 40)
  message(FATAL_ERROR "only ${count} pages are installed")
endif()
foreach(file IN LISTS files)
  execute_process(COMMAND sed -nE "s/^[^`]*[]][(]([A-Za-z0-9_./-]+)(#[^)]*)?[)].*$/\\1/p" ${file} OUTPUT_VARIABLE links)
  string(REPLACE "\n" ";" links "${links}")
  get_filename_component(folder ${file} DIRECTORY)
  foreach(link IN LISTS links)
    if(link AND NOT EXISTS ${folder}/${link})
      message(FATAL_ERROR "${file}: ${link} is not installed")
    endif()
  endforeach()
endforeach()
step("the application" COMMAND ${consumer}/application)
expect("the application" "${step_output}" "^0 0 0 5 15 25 35 45 \n$")
step("the scheduler" COMMAND ${consumer}/scheduler)
expect("the scheduler" "${step_output}" "^128 bytes, 100 cycles\n$")
