# The targets posse::shared and posse::static, beside lib and include of an unpacked archive.
get_filename_component(_posse_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

if(NOT TARGET posse::shared)
  add_library(posse::shared SHARED IMPORTED)
  set_target_properties(posse::shared PROPERTIES
    IMPORTED_LOCATION "${_posse_root}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}posse${CMAKE_SHARED_LIBRARY_SUFFIX}"
    INTERFACE_INCLUDE_DIRECTORIES "${_posse_root}/include")
  add_library(posse::static STATIC IMPORTED)
  set_target_properties(posse::static PROPERTIES
    IMPORTED_LOCATION "${_posse_root}/lib/${CMAKE_STATIC_LIBRARY_PREFIX}posse${CMAKE_STATIC_LIBRARY_SUFFIX}"
    INTERFACE_INCLUDE_DIRECTORIES "${_posse_root}/include"
    INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
endif()
