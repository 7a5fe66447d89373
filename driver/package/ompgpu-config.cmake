# find_package(ompgpu): the target ompgpu::ompgpu is the runtime library, for programs that another
# compiler links; ompgpu_COMPILER is the compiler.  The tree may be moved.
get_filename_component(ompgpu_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(ompgpu_ROOT_DIR "${ompgpu_ROOT_DIR}/../../.." ABSOLUTE)
set(ompgpu_COMPILER "${ompgpu_ROOT_DIR}/bin/ompgpu-cc")
if(NOT TARGET ompgpu::ompgpu)
  add_library(ompgpu::ompgpu SHARED IMPORTED)
  set_target_properties(ompgpu::ompgpu PROPERTIES
    IMPORTED_LOCATION "${ompgpu_ROOT_DIR}/lib/libompgpu.so.@ABI@"
    INTERFACE_INCLUDE_DIRECTORIES "${ompgpu_ROOT_DIR}/lib/ompgpu/include"
    IMPORTED_SONAME "libompgpu.so.@ABI@"
    INTERFACE_LINK_LIBRARIES omp)
endif()
