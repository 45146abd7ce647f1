# Two ways to parse headers less often. Both change the commands that files are compiled with, but clang-tidy and clangd
# want each file with its own plain command. framedex_plain_commands(TARGET) provides those: it adds a target that nobody
# builds, whose commands compile_commands.json lists in place of TARGET's.
function(framedex_plain_commands target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(includes ${target} INCLUDE_DIRECTORIES)
  add_library(${target}_apart OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_apart PRIVATE ${libraries})
  if(includes)
    target_include_directories(${target}_apart SYSTEM PRIVATE ${includes})
  endif()
  set_target_properties(${target} PROPERTIES EXPORT_COMPILE_COMMANDS OFF)
endfunction()

# framedex_compiled_together(TARGET): compiles all files of a library as one. Headers and the library's templates are most of
# the cost of a small file, and the files share them. Names in unnamed namespaces must be unique within the library.
function(framedex_compiled_together target)
  framedex_plain_commands(${target})
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 0)
endfunction()

# framedex_precompiled(TARGET): parses the standard library once for all files of TARGET, which stay files of their own: the
# functions of different files must remain different frames. Wheels are compiled without, so a missing #include is found
# there and by clang-tidy. With ccache the cache is worth more: it does not store files compiled with a precompiled header.
function(framedex_precompiled target)
  if(FRAMEDEX_SHIPS_SOURCES OR NOT CMAKE_CXX_COMPILER_ID STREQUAL GNU OR CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
    return()
  endif()
  framedex_plain_commands(${target})
  target_precompile_headers(${target} PRIVATE
    <algorithm> <array> <atomic> <chrono> <condition_variable> <cstdint> <cstdio> <cstdlib> <cstring> <deque> <functional>
    <map> <memory> <mutex> <optional> <string> <string_view> <thread> <utility> <vector>)
endfunction()
