# Finds LLVM and MLIR 22 and says how targets link them.
#
# Debian's MLIR CMake targets pull in the shared libLLVM. Mixing that with the
# static archives registers every option twice and aborts at start, so each
# build links one way only: both libraries shared (development: links in a
# second), or the static archives by path (release: needs only glibc).
find_package(MLIR REQUIRED CONFIG
             HINTS /usr/lib/llvm-22/lib/cmake/mlir)
if(NOT LLVM_VERSION_MAJOR EQUAL 22)
  message(FATAL_ERROR "LLVM and MLIR 22 are needed, found ${LLVM_PACKAGE_VERSION}")
endif()
message(STATUS "LLVM ${LLVM_PACKAGE_VERSION} in ${LLVM_DIR}")

list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
list(GET MLIR_INCLUDE_DIRS 0 MLIR_MAIN_INCLUDE_DIR)
include(TableGen)
include(AddLLVM)
include(AddMLIR)

add_library(tile_llvm_headers INTERFACE)
target_include_directories(tile_llvm_headers SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_compile_definitions(tile_llvm_headers INTERFACE ${LLVM_DEFINITIONS_LIST})
target_compile_options(tile_llvm_headers INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-fno-rtti -fno-exceptions>)

# For what brings its own unwinder: static LLVM, and libtile_rt in any build.
add_library(tile_glibc_compat STATIC
  ${CMAKE_CURRENT_LIST_DIR}/glibc_compat.c ${CMAKE_CURRENT_LIST_DIR}/glibc_compat_math.c)
add_library(tile_llvm INTERFACE)
if(TILE_STATIC_LLVM)
  file(GLOB _tile_mlir_archives ${LLVM_LIBRARY_DIR}/libMLIR*.a)
  file(GLOB _tile_llvm_archives ${LLVM_LIBRARY_DIR}/libLLVM*.a)
  list(FILTER _tile_mlir_archives EXCLUDE REGEX "MLIR(CAPI|Test|MlirOpt).*")
  # zlib and zstd (compressed debug sections) come along as archives too, so
  # that the result needs nothing but glibc.
  find_library(TILE_ZLIB_ARCHIVE libz.a REQUIRED)
  find_library(TILE_ZSTD_ARCHIVE libzstd.a REQUIRED)
  target_link_libraries(tile_llvm INTERFACE
    -Wl,--start-group ${_tile_mlir_archives} ${_tile_llvm_archives} -Wl,--end-group
    ${TILE_ZLIB_ARCHIVE} ${TILE_ZSTD_ARCHIVE} tile_glibc_compat m dl pthread)
  # Most of LLVM is not reached from our code: the linker drops it.
  target_link_options(tile_llvm INTERFACE
    -Wl,--gc-sections -Wl,--as-needed -Wl,-O2 -Wl,--exclude-libs,ALL
    -static-libstdc++ -static-libgcc $<$<CONFIG:Release>:-Wl,--strip-all>)
  # What runs when the library is loaded stands together: the constructors of LLVM's options, two
  # thousand of them, and what they call, each a template of its own. Else every one is a page to read.
  set(_tile_load_order ${CMAKE_BINARY_DIR}/load_order_${LLVM_PACKAGE_VERSION}.txt)
  if(NOT EXISTS ${_tile_load_order})
    execute_process(
      COMMAND ${LLVM_TOOLS_BINARY_DIR}/llvm-nm --defined-only --quiet --format=just-symbols ${_tile_llvm_archives}
      OUTPUT_FILE ${_tile_load_order}.all COMMAND_ERROR_IS_FATAL ANY)
    file(STRINGS ${_tile_load_order}.all _tile_symbols
         REGEX "^_ZNK?4llvm2cl|^_ZN4llvm(8DenseMap|12DenseMapBase).*2cl6Option|^_ZN12_GLOBAL__N_117CommandLineParser")
    list(REMOVE_DUPLICATES _tile_symbols)
    string(REPLACE ";" "\n" _tile_symbols "${_tile_symbols}")
    file(WRITE ${_tile_load_order} "${_tile_symbols}\n")
    file(REMOVE ${_tile_load_order}.all)
  endif()
  target_link_options(tile_llvm INTERFACE
    -Wl,-z,keep-text-section-prefix -Wl,--symbol-ordering-file=${_tile_load_order} -Wl,--no-warn-symbol-ordering)
else()
  target_link_libraries(tile_llvm INTERFACE
    ${LLVM_LIBRARY_DIR}/libMLIR.so ${LLVM_LIBRARY_DIR}/libLLVM.so)
endif()
