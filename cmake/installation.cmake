# An installed tree that works from elsewhere: binaries, the Python shim, fixtures, and a CMake package
# with the probe's and the plugins' headers and sources, which are compiled in the user's build.
set(_share ${CMAKE_INSTALL_DATADIR}/dlcheck)
set(_package lib/cmake/dlcheck)

# The component `command` is all that a wheel holds.
install(TARGETS dlcheck RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT command)
if(TARGET dlcheck-data)
  install(TARGETS dlcheck-data RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET dlcheck-train)
  install(TARGETS dlcheck-train RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
  set_target_properties(dlcheck-train PROPERTIES INSTALL_RPATH ${DLCHECK_TORCH_DIR}/lib)
endif()

install(DIRECTORY ${PROJECT_SOURCE_DIR}/checks/observe/python/ DESTINATION ${_share}/python
        COMPONENT command PATTERN __pycache__ EXCLUDE)
install(FILES ${PROJECT_SOURCE_DIR}/fixtures/data/digits.h5 ${PROJECT_SOURCE_DIR}/fixtures/data/digits.csv.gz
        DESTINATION ${_share}/fixtures)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/reference/recipes DESTINATION ${_share})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
# What `dlcheck probe` compiles, and what it is loaded by.
install(DIRECTORY ${PROJECT_SOURCE_DIR}/checks/records DESTINATION ${_share}/probe/checks
        COMPONENT command FILES_MATCHING PATTERN *.h PATTERN *.cc PATTERN *.def)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/checks/observe/probe ${PROJECT_SOURCE_DIR}/checks/observe/preload
        DESTINATION ${_share}/probe/checks/observe
        COMPONENT command FILES_MATCHING PATTERN *.h PATTERN *.cc PATTERN *.def)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include DESTINATION ${_share}/probe COMPONENT command)
if(TARGET dlcheck_gate)
  add_dependencies(dlcheck dlcheck_gate)  # whoever builds the command alone, as a wheel does, installs both
  install(TARGETS dlcheck_gate LIBRARY DESTINATION ${_share}/preload COMPONENT command)
endif()
if(TARGET dlcheck_worker)
  install(TARGETS dlcheck_worker LIBRARY DESTINATION ${_share}/preload)
endif()
install(FILES ${PROJECT_SOURCE_DIR}/cmake/libtorch.cmake ${PROJECT_SOURCE_DIR}/cmake/dlcheckConfig.cmake
        DESTINATION ${_package})

# The build tree has the same shape under share/, so that binaries find their files in both.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/dlcheck)
file(CREATE_LINK ${PROJECT_SOURCE_DIR}/checks/observe/python ${PROJECT_BINARY_DIR}/share/dlcheck/python
     SYMBOLIC)
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/share/dlcheck/probe)
foreach(_folder checks include)
  file(CREATE_LINK ${PROJECT_SOURCE_DIR}/${_folder} ${PROJECT_BINARY_DIR}/share/dlcheck/probe/${_folder} SYMBOLIC)
endforeach()
