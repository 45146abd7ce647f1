# framedex_compiled_together(TARGET): compiles up to eight files of a library at once. Most of what a small file costs are
# the headers and the library's templates, which eight share; a change compiles its eight anew.
#
# clang-tidy and clangd want each file with its own command: a target that nobody builds has those, and each file goes on
# being checked by itself. What is in a namespace without a name has to be told apart by name within the library.
function(framedex_compiled_together target)
  get_target_property(sources ${target} SOURCES)
  get_target_property(libraries ${target} LINK_LIBRARIES)
  get_target_property(includes ${target} INCLUDE_DIRECTORIES)
  add_library(${target}_apart OBJECT EXCLUDE_FROM_ALL ${sources})
  target_link_libraries(${target}_apart PRIVATE ${libraries})
  if(includes)
    target_include_directories(${target}_apart SYSTEM PRIVATE ${includes})
  endif()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON EXPORT_COMPILE_COMMANDS OFF)
endfunction()
