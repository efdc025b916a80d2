# What `cmake --install` adds to the libraries and resources that each folder installs itself: the
# files by which find_package(Intarsia) finds them.
include(CMakePackageConfigHelpers)

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Intarsia)
set(resources ${CMAKE_INSTALL_DATADIR}/intarsia)
configure_package_config_file(scripts/IntarsiaConfig.cmake.in
  ${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake
  INSTALL_DESTINATION ${package_dir} PATH_VARS resources)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/IntarsiaConfig.cmake ${PROJECT_BINARY_DIR}/IntarsiaConfigVersion.cmake
        DESTINATION ${package_dir})
install(EXPORT IntarsiaTargets NAMESPACE intarsia:: DESTINATION ${package_dir})
install(CODE "set(from \"${PROJECT_SOURCE_DIR}\")
set(to \"\$ENV{DESTDIR}\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATAROOTDIR}/doc/intarsia\")
include(\"${PROJECT_SOURCE_DIR}/scripts/InstallDocs.cmake\")")
