# libcofuse-mpi.so: the component that is loaded when a program runs on several ranks.
find_package(MPI COMPONENTS C)
if(MPI_C_FOUND)
  add_library(cofuse-mpi SHARED ${CMAKE_CURRENT_LIST_DIR}/mpi.c ${CMAKE_CURRENT_LIST_DIR}/mpi_device.c)
  target_include_directories(cofuse-mpi PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(cofuse-mpi PRIVATE cofuse MPI::MPI_C cofuse_warnings)
  set_target_properties(cofuse-mpi PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib
                        INSTALL_RPATH "$ORIGIN")
  install(TARGETS cofuse-mpi LIBRARY DESTINATION lib)
else()
  message(STATUS "No MPI found: cofuse is built for one rank only")
endif()
