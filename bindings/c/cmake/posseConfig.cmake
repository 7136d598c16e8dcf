# The targets posse::shared and, but for Windows, posse::static, beside lib and include of an unpacked archive.
get_filename_component(_posse_root "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
include(CMakeFindDependencyMacro)
set(THREADS_PREFER_PTHREAD_FLAG ON)
find_dependency(Threads)

if(NOT TARGET posse::shared)
  add_library(posse::shared SHARED IMPORTED)
  set_target_properties(posse::shared PROPERTIES INTERFACE_INCLUDE_DIRECTORIES "${_posse_root}/include")
  if(WIN32)
    # The import library names the DLL as cargo built it.
    if(MSVC)
      set(_posse_import "${_posse_root}/lib/posse.lib")
    else()
      set(_posse_import "${_posse_root}/lib/libposse.dll.a")
    endif()
    set_target_properties(posse::shared PROPERTIES
      IMPORTED_LOCATION "${_posse_root}/bin/posse_c.dll"
      IMPORTED_IMPLIB "${_posse_import}")
  else()
    set_target_properties(posse::shared PROPERTIES
      IMPORTED_LOCATION "${_posse_root}/lib/${CMAKE_SHARED_LIBRARY_PREFIX}posse${CMAKE_SHARED_LIBRARY_SUFFIX}")
  endif()
  if(NOT WIN32)
    add_library(posse::static STATIC IMPORTED)
    set_target_properties(posse::static PROPERTIES
      IMPORTED_LOCATION "${_posse_root}/lib/${CMAKE_STATIC_LIBRARY_PREFIX}posse${CMAKE_STATIC_LIBRARY_SUFFIX}"
      INTERFACE_INCLUDE_DIRECTORIES "${_posse_root}/include"
      INTERFACE_LINK_LIBRARIES "Threads::Threads;${CMAKE_DL_LIBS};m")
  endif()
endif()
