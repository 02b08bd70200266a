# tile_add_kernels(TARGET FILE [NAME name] [KERNELS kernel...] [TARGETS sm_80...]
#                  [ARGUMENTS n=1..4096...] [CONSTEXPRS BLOCK=1024...]
#                  [TUNING_FILE records] [TUNING model] [OPTIONS option...])
#
# Builds the kernels and functions of whole tensors of FILE ahead of time, with `tilec build`, into
# the target: its sources get
# the C file, its includes the header (NAME.h; NAME is FILE's, unless given), and it links
# Tile::rt. The project needs the language C. What the words mean is in `tilec help build`.
function(tile_add_kernels target file)
  cmake_parse_arguments(ARG "" "NAME;TUNING_FILE;TUNING" "KERNELS;TARGETS;ARGUMENTS;CONSTEXPRS;OPTIONS" ${ARGN})
  if(ARG_UNPARSED_ARGUMENTS)
    message(FATAL_ERROR "tile_add_kernels: `${ARG_UNPARSED_ARGUMENTS}` belongs to none of NAME, "
                        "KERNELS, TARGETS, ARGUMENTS, CONSTEXPRS, TUNING_FILE, TUNING and OPTIONS")
  endif()
  get_property(languages GLOBAL PROPERTY ENABLED_LANGUAGES)
  if(NOT "C" IN_LIST languages)
    message(FATAL_ERROR "tile_add_kernels: kernels are built as C sources, and this project has no C: "
                        "write `project(NAME C CXX)` or `enable_language(C)`")
  endif()
  get_filename_component(source "${file}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
  if(NOT ARG_NAME)
    get_filename_component(ARG_NAME "${source}" NAME_WE)
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/tile_kernels/${target}")
  set(command Tile::tilec build "${source}" -o "${folder}" --name "${ARG_NAME}")
  foreach(pair KERNELS:kernel TARGETS:target ARGUMENTS:argument CONSTEXPRS:constexpr)
    string(REPLACE ":" ";" pair "${pair}")
    list(GET pair 0 words)
    list(GET pair 1 option)
    foreach(word IN LISTS ARG_${words})
      list(APPEND command "--${option}" "${word}")
    endforeach()
  endforeach()
  set(records)
  if(ARG_TUNING_FILE)
    get_filename_component(records "${ARG_TUNING_FILE}" ABSOLUTE BASE_DIR "${CMAKE_CURRENT_SOURCE_DIR}")
    list(APPEND command --tuning-file "${records}")
  endif()
  if(ARG_TUNING)
    list(APPEND command --tuning "${ARG_TUNING}")
  endif()
  # Imports of the file are not known here: touch it when one of them changes.
  add_custom_command(OUTPUT "${folder}/${ARG_NAME}.c" "${folder}/${ARG_NAME}.h"
    COMMAND ${command} ${ARG_OPTIONS}
    DEPENDS "${source}" ${records} Tile::tilec
    COMMENT "Building the kernels of ${ARG_NAME}" VERBATIM)
  target_sources(${target} PRIVATE "${folder}/${ARG_NAME}.c" "${folder}/${ARG_NAME}.h")
  target_include_directories(${target} PRIVATE "${folder}")
  target_link_libraries(${target} PRIVATE Tile::rt)
endfunction()
