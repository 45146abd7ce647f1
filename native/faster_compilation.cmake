# Two ways to parse headers less often. Both change the commands that compile files, but clang-tidy and clangd need a plain
# command for each file. framedex_plain_commands(TARGET) adds a target that is never built. compile_commands.json lists its
# commands instead of TARGET's.
function(framedex_plain_commands target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(includes ${target} INCLUDE_DIRECTORIES)
  add_library(${target}_plain OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_plain PRIVATE ${libraries})
  if(includes)
    target_include_directories(${target}_plain SYSTEM PRIVATE ${includes})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
endfunction()

# framedex_compiled_together(TARGET): compiles all files of a library as one, so that they share headers and templates: most
# of the cost of a small file. Names in unnamed namespaces must be unique within the library.
function(framedex_compiled_together target)
  framedex_plain_commands(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()

# framedex_precompiled(TARGET): parses the standard library once for all files of TARGET. The files are still compiled
# separately, because functions of different files must remain different frames. Wheels use no precompiled header: that
# build and clang-tidy find a missing #include. ccache excludes it, because it does not cache files compiled with one.
function(framedex_precompiled target)
  if(FRAMEDEX_SHIPS_SOURCES OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    return()
  endif()
  framedex_plain_commands(${target})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <functional>
    <map> <memory> <mutex> <optional> <string> <string_view> <thread> <utility> <vector>)
endfunction()
