# One function per kind of target, so that flags are decided in one place.
include(GNUInstallDirs)

add_library(tile_options INTERFACE)
target_include_directories(tile_options INTERFACE
  ${PROJECT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR})
target_compile_options(tile_options INTERFACE
  -Wall -Wextra -Wno-unused-parameter -Wnon-virtual-dtor -Wimplicit-fallthrough
  -fvisibility=$<IF:$<BOOL:$<TARGET_PROPERTY:TILE_EXPORTED>>,protected,hidden>
  $<$<COMPILE_LANGUAGE:CXX>:-fvisibility-inlines-hidden>
  -ffunction-sections -fdata-sections)
if(TILE_WERROR)
  target_compile_options(tile_options INTERFACE -Werror)
endif()
if(TILE_SANITIZE)
  include(CheckCXXSourceCompiles)
  set(CMAKE_REQUIRED_FLAGS -fsanitize=${TILE_SANITIZE})
  check_cxx_source_compiles("int main() {}" TILE_SANITIZERS_LINK)
  unset(CMAKE_REQUIRED_FLAGS)
  if(NOT TILE_SANITIZERS_LINK)
    message(FATAL_ERROR "Programs do not link with -fsanitize=${TILE_SANITIZE}: "
      "install the compiler's run-time library, libclang-rt-22-dev (see tools/setup.sh)")
  endif()
  target_compile_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE} -fno-omit-frame-pointer)
  target_link_options(tile_options INTERFACE -fsanitize=${TILE_SANITIZE})
  add_library(tile_sanitizer_defaults OBJECT ${PROJECT_SOURCE_DIR}/cmake/sanitizer_defaults.cpp)
endif()

# The MLIR headers dominate compile time; every library that uses them shares
# one precompiled header.
set(TILE_PCH_HEADER ${PROJECT_SOURCE_DIR}/cmake/mlir_pch.h)
add_library(tile_pch OBJECT ${PROJECT_SOURCE_DIR}/cmake/mlir_pch.cpp)
target_compile_options(tile_pch PRIVATE $<$<COMPILE_LANGUAGE:CXX>:SHELL:-Xclang -fno-pch-timestamp>)
target_link_libraries(tile_pch PUBLIC tile_options tile_llvm_headers)
target_precompile_headers(tile_pch PUBLIC ${TILE_PCH_HEADER})

# tile_library(NAME [MLIR] [LLVM] SOURCES ... DEPENDS ...)
#   MLIR  uses MLIR headers (and the precompiled header)
#   LLVM  uses LLVM headers only (Support, ADT)
function(tile_library name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "SOURCES;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC tile_options TileText ${ARG_DEPENDS})
  if(ARG_MLIR OR ARG_LLVM)
    target_link_libraries(${name} PUBLIC tile_llvm_headers tile_llvm)
  endif()
  if(ARG_MLIR)
    target_precompile_headers(${name} REUSE_FROM tile_pch)
  endif()
endfunction()

# tile_executable(NAME [MLIR] [LLVM] SOURCES ... DEPENDS ...)
function(tile_executable name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "SOURCES;DEPENDS" ${ARGN})
  add_executable(${name} ${ARG_SOURCES})
  target_link_libraries(${name} PRIVATE tile_options TileText ${ARG_DEPENDS})
  if(TILE_SANITIZE)
    target_link_libraries(${name} PRIVATE tile_sanitizer_defaults)
  endif()
  if(ARG_MLIR OR ARG_LLVM)
    target_link_libraries(${name} PRIVATE tile_llvm_headers tile_llvm)
  endif()
  if(ARG_MLIR)
    target_precompile_headers(${name} REUSE_FROM tile_pch)
  endif()
  set_target_properties(${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
endfunction()

# tile_unit_test(NAME [MLIR] [LLVM] SOURCES ... DEPENDS ...): a GoogleTest binary run by ctest.
function(tile_unit_test name)
  cmake_parse_arguments(ARG "MLIR;LLVM" "" "SOURCES;DEPENDS" ${ARGN})
  set(flags)
  if(ARG_MLIR)
    list(APPEND flags MLIR)
  endif()
  if(ARG_LLVM)
    list(APPEND flags LLVM)
  endif()
  tile_executable(${name} ${flags} SOURCES ${ARG_SOURCES}
                  DEPENDS ${ARG_DEPENDS} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1)
endfunction()

# tile_tablegen(OUTPUT GENERATOR-FLAGS...): runs mlir-tblgen on LLVM_TARGET_DEFINITIONS.
macro(tile_tablegen)
  mlir_tablegen(${ARGN} -I${PROJECT_SOURCE_DIR} -I${MLIR_MAIN_INCLUDE_DIR})
endmacro()
