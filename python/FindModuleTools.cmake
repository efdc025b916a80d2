# What the Python module is built with: an interpreter with its headers, and nanobind, which is asked of the interpreter.
# Sets INTARSIA_PYTHON_MODULE. With INTARSIA_BUILD_PYTHON=AUTO a module that cannot be built is left out, with a line that
# says why; with ON that is an error.
set(INTARSIA_PYTHON_MODULE OFF)
if(INTARSIA_BUILD_PYTHON STREQUAL "AUTO" AND (NOT PROJECT_IS_TOP_LEVEL OR INTARSIA_SANITIZE OR INTARSIA_BUILD_FUZZERS))
  return()  # an interpreter that is not sanitized does not load a module that is
endif()
if(NOT INTARSIA_BUILD_PYTHON)
  return()
endif()

set(missing "")
find_package(Python 3.11 QUIET COMPONENTS Interpreter OPTIONAL_COMPONENTS Development.Module ${SKBUILD_SABI_COMPONENT})
if(NOT Python_Interpreter_FOUND)
  set(missing "there is no Python 3.11 or newer")
elseif(NOT Python_Development.Module_FOUND)
  set(missing "${Python_EXECUTABLE} has no headers")
else()
  if(NOT EXISTS "${nanobind_DIR}")  # nor where an interpreter that is gone had it
    execute_process(COMMAND ${Python_EXECUTABLE} -m nanobind --cmake_dir
      OUTPUT_VARIABLE nanobind_DIR OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  endif()
  find_package(nanobind QUIET CONFIG)
  if(NOT nanobind_FOUND)
    set(missing "${Python_EXECUTABLE} has no nanobind")
  endif()
endif()

if(NOT missing)
  set(INTARSIA_PYTHON_MODULE ON)
  # The module is a shared library, and all of the compiler is inside. Programs are compiled alike, so that the precompiled
  # headers serve them too: with CMAKE_POSITION_INDEPENDENT_CODE they would not.
  target_compile_options(intarsia_options INTERFACE -fPIC)
elseif(INTARSIA_BUILD_PYTHON STREQUAL "AUTO")
  message(STATUS "The Python module is not built: ${missing}")
else()
  message(FATAL_ERROR "The Python module cannot be built: ${missing}")
endif()
