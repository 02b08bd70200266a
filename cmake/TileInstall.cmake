# What `cmake --install` puts where; tools/package makes a bundle of it. The
# tree is relocatable: everything is found from where the caller stands.
include(CMakePackageConfigHelpers)

set(TILE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Tile)

install(TARGETS tilec RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(PROGRAMS tools/tile-selftest DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/kernels
        FILES_MATCHING PATTERN "*.tile" PATTERN "README.md")
install(DIRECTORY tests/kernels/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/tests
        FILES_MATCHING PATTERN "*.tile")
install(DIRECTORY tests/functions/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/tests/functions
        FILES_MATCHING PATTERN "*.tile")
install(DIRECTORY tests/conformance/ DESTINATION ${CMAKE_INSTALL_DATADIR}/tile/conformance
        FILES_MATCHING PATTERN "*.tile")
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR}
        FILES_MATCHING PATTERN "*.md" PATTERN "*.c" PATTERN "*.cpp")

install(TARGETS libtile libtile_compiler tile_rt LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(TARGETS tile_rt_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/tile DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")
configure_package_config_file(cmake/TileConfig.cmake.in TileConfig.cmake
  INSTALL_DESTINATION ${TILE_CMAKE_DIR} NO_CHECK_REQUIRED_COMPONENTS_MACRO
  PATH_VARS CMAKE_INSTALL_LIBDIR CMAKE_INSTALL_INCLUDEDIR CMAKE_INSTALL_BINDIR)
file(RELATIVE_PATH TILE_PC_TO_PREFIX
  /prefix/${CMAKE_INSTALL_LIBDIR}/pkgconfig /prefix)
string(REGEX REPLACE "/$" "" TILE_PC_TO_PREFIX "${TILE_PC_TO_PREFIX}")
configure_file(cmake/tile.pc.in tile.pc @ONLY)
configure_file(cmake/tile_rt.pc.in tile_rt.pc @ONLY)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/tile.pc ${CMAKE_CURRENT_BINARY_DIR}/tile_rt.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
write_basic_package_version_file(TileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/TileConfig.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/TileConfigVersion.cmake
              ${CMAKE_CURRENT_SOURCE_DIR}/cmake/TileKernels.cmake
        DESTINATION ${TILE_CMAKE_DIR})

# Last, since links lead to what was installed before.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
install(CODE "set(_to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}\")
execute_process(COMMAND \"${Python3_EXECUTABLE}\" \"${PROJECT_SOURCE_DIR}/cmake/bundle_pages.py\"
  \"${PROJECT_SOURCE_DIR}/README.md\" \"\${_to}/${CMAKE_INSTALL_DOCDIR}\" \"\${_to}\"
  COMMAND_ERROR_IS_FATAL ANY)")
