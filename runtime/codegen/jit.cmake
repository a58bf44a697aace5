# libcofuse-jit.so: MLIR's C API is linked as archives by file name. The imported targets would pull every
# static MLIR library with them; the archives are thin and leave the rest to libMLIR.so and libLLVM.so,
# so that there is one LLVM in the process.
find_package(LLVM 19.1 REQUIRED CONFIG PATHS ${COFUSE_LLVM_ROOT} NO_DEFAULT_PATH)
set(cf_llvm_lib ${COFUSE_LLVM_ROOT}/lib)
set(cf_mlir_capi)
foreach(part IR Conversion Transforms LLVM RegisterEverything)
  list(APPEND cf_mlir_capi ${cf_llvm_lib}/libMLIRCAPI${part}.a)
endforeach()
foreach(dialect Arith ControlFlow Func Index LLVM Math SCF)
  if(EXISTS ${cf_llvm_lib}/libMLIRCAPI${dialect}.a)
    list(APPEND cf_mlir_capi ${cf_llvm_lib}/libMLIRCAPI${dialect}.a)
  endif()
endforeach()
list(APPEND cf_mlir_capi ${cf_llvm_lib}/libMLIRCAPITarget.a)

file(GLOB cf_jit_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/codegen/jit*.c)
add_library(cofuse-jit MODULE ${cf_jit_sources})
target_include_directories(cofuse-jit PRIVATE ${CMAKE_CURRENT_SOURCE_DIR} ${PROJECT_SOURCE_DIR}/include)
target_include_directories(cofuse-jit SYSTEM PRIVATE ${COFUSE_LLVM_ROOT}/include)
target_link_libraries(cofuse-jit PRIVATE cofuse_warnings
  -Wl,--start-group ${cf_mlir_capi} -Wl,--end-group
  ${cf_llvm_lib}/libMLIR.so ${cf_llvm_lib}/libLLVM.so ${CMAKE_DL_LIBS} stdc++
  -Wl,--as-needed -Wl,--exclude-libs,ALL
  $<$<NOT:$<BOOL:${COFUSE_SANITIZE}>>:-Wl,-z,defs>) # sanitizers leave their runtime to the program
set_target_properties(cofuse-jit PROPERTIES LINKER_LANGUAGE C PREFIX "lib"
  LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib C_VISIBILITY_PRESET hidden
  BUILD_RPATH ${cf_llvm_lib} INSTALL_RPATH ${cf_llvm_lib})
install(TARGETS cofuse-jit LIBRARY DESTINATION lib)

# libcofuse itself knows LLVM by name only: the version goes into cache keys, the root is where a linker
# is looked for first.
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/codegen/cache.c ${CMAKE_CURRENT_SOURCE_DIR}/codegen/link.c
  APPEND PROPERTY COMPILE_DEFINITIONS COFUSE_LLVM_VERSION="${LLVM_PACKAGE_VERSION}"
  COFUSE_LLVM_ROOT="${COFUSE_LLVM_ROOT}")

# Kernels for devices are kept without regard to the machine that compiled them, so their key has the version of the
# sources that make them.
file(GLOB cf_code_sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/codegen/*.[ch]
     ${PROJECT_SOURCE_DIR}/include/cofuse/descriptor.*)
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${cf_code_sources})
set(cf_code_hash)
foreach(source ${cf_code_sources})
  file(SHA256 ${source} hash)
  string(APPEND cf_code_hash ${hash})
endforeach()
string(SHA256 cf_code_hash "${cf_code_hash}")
string(SUBSTRING ${cf_code_hash} 0 16 cf_code_hash)
set_property(SOURCE ${CMAKE_CURRENT_SOURCE_DIR}/codegen/cache.c APPEND PROPERTY COMPILE_DEFINITIONS
  COFUSE_CODE_VERSION="${cf_code_hash}")
