# Read by ctest before it runs anything: makes one ctest entry of each case of one GoogleTest program. The file that
# includes this one is written by intarsia_add_test and sets
#   program   its path                  name      of the target
#   entries   `case` or `suite`         labels, timeout, slow (a pattern of names)
#   sources   INTARSIA_SOURCE_DIR       list      where the entries are kept until something changes
# GoogleTest's own CMake module does not do: the cases of recorded data change without the program, a program with a
# costly set-up is better run suite by suite, and a skip told from the text would hide a failure beside it. Ours exits
# with 77 when a case was skipped and none failed (tests/support/test_main.cpp).

cmake_policy(PUSH)
cmake_policy(VERSION 3.25)

# Outside data come and go with this variable too.
set(shared "$ENV{INTARSIA_SHARED}")
if(NOT shared)
  set(shared "${sources}/../shared")
endif()
set(key "# ${shared}")

set(is_fresh FALSE)
if(EXISTS "${list}" AND EXISTS "${program}")
  file(STRINGS "${list}" kept LIMIT_COUNT 1)
  if(kept STREQUAL key)
    set(is_fresh TRUE)
    # Of folders, the date changes when an entry is added or taken away.
    foreach(folder IN ITEMS models operators conformance npu-streams/ethos-u npu-streams/ethos-n)
      foreach(root IN ITEMS "${sources}/tests/golden" "${shared}")
        if(EXISTS "${root}/${folder}" AND "${root}/${folder}" IS_NEWER_THAN "${list}")
          set(is_fresh FALSE)
        endif()
      endforeach()
    endforeach()
    foreach(maker IN ITEMS "${program}" "${CMAKE_CURRENT_LIST_FILE}" "${description}")
      if("${maker}" IS_NEWER_THAN "${list}")
        set(is_fresh FALSE)
      endif()
    endforeach()
  endif()
endif()

if(NOT EXISTS "${program}")
  # An entry that fails: what is not built is not tested.
  add_test("${name}" "${program}")
  set_tests_properties("${name}" PROPERTIES LABELS "${labels}")
elseif(is_fresh)
  include("${list}")
else()
  set(text "${key}\n")
  execute_process(COMMAND "${program}" --gtest_list_tests OUTPUT_VARIABLE listing ERROR_VARIABLE problem
                  RESULT_VARIABLE status)
  if(NOT status EQUAL 0)
    # The same fault again where it is seen.
    string(APPEND text "add_test([==[${name}]==] [==[${program}]==] --gtest_list_tests)\n"
      "set_tests_properties([==[${name}]==] PROPERTIES LABELS [==[${labels}]==] PASS_REGULAR_EXPRESSION nothing)\n")
  endif()
  string(REPLACE ";" "," listing "${listing}")
  string(REPLACE "\n" ";" lines "${listing}")
  set(suite "")
  foreach(line IN LISTS lines)
    string(REGEX REPLACE " *#.*" "" line "${line}")
    set(case "")
    if(line MATCHES "^  (.+)$")
      set(case "${CMAKE_MATCH_1}")
    elseif(line MATCHES "^[^ ]+[.]$")
      set(suite "${line}")
    endif()
    if(suite MATCHES "^DISABLED_|/DISABLED_" OR case MATCHES "^DISABLED_" OR suite STREQUAL "")
      continue()
    endif()
    set(filter "")
    if(entries STREQUAL "case" AND NOT case STREQUAL "")
      set(filter "${suite}${case}")
    elseif(entries STREQUAL "suite" AND case STREQUAL "")
      set(filter "${suite}*")
    endif()
    if(filter STREQUAL "")
      continue()
    endif()
    set(entry "${name}.${filter}")
    string(REGEX REPLACE "[.][*]$" "" entry "${entry}")
    set(labels_of_entry "${labels}")
    if(NOT slow STREQUAL "" AND filter MATCHES "${slow}")
      list(APPEND labels_of_entry slow)
    endif()
    string(APPEND text "add_test([==[${entry}]==] [==[${program}]==] [==[--gtest_filter=${filter}]==])\n"
      "set_tests_properties([==[${entry}]==] PROPERTIES LABELS [==[${labels_of_entry}]==] TIMEOUT ${timeout}"
      " SKIP_RETURN_CODE 77)\n")
  endforeach()
  file(WRITE "${list}" "${text}")
  include("${list}")
endif()
cmake_policy(POP)
