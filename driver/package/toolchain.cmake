# cmake -DCMAKE_TOOLCHAIN_FILE=…/lib/cmake/ompgpu/toolchain.cmake: C files are compiled by ompgpu-cc.
get_filename_component(ompgpu_ROOT_DIR "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(ompgpu_ROOT_DIR "${ompgpu_ROOT_DIR}/../../.." ABSOLUTE)
set(CMAKE_C_COMPILER "${ompgpu_ROOT_DIR}/bin/ompgpu-cc")
list(APPEND CMAKE_PREFIX_PATH "${ompgpu_ROOT_DIR}")
