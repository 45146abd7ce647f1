# Downloads tree-sitter's core, in the source distribution of its Python package. pip downloads all other dependencies
# too, and uses the user's mirror and proxy. Sets TREE_SITTER_CORE to the folder with lib.c's `include` and `src`, and
# TREE_SITTER_LICENSE to the licence file to ship with the compiled code.
set(TREE_SITTER_VERSION 0.26.1)
set(TREE_SITTER_SHA256 9919cbaf02d17fa9a4cd0e6da496aecf901b758e6eacf122eee393e3ef08aacd)
set(FRAMEDEX_TREE_SITTER "" CACHE PATH "The unpacked source distribution of tree-sitter, where it cannot be downloaded")

set(folder "${CMAKE_CURRENT_BINARY_DIR}/tree_sitter-${TREE_SITTER_VERSION}")
if(FRAMEDEX_TREE_SITTER)
  set(folder "${FRAMEDEX_TREE_SITTER}")
elseif(NOT EXISTS "${folder}/tree_sitter/core/lib/src/lib.c")
  file(WRITE "${CMAKE_CURRENT_BINARY_DIR}/tree_sitter.txt"
       "tree-sitter==${TREE_SITTER_VERSION} --hash=sha256:${TREE_SITTER_SHA256}\n")
  message(STATUS "Downloading the sources of tree-sitter ${TREE_SITTER_VERSION} with pip")
  execute_process(
    COMMAND "${Python_EXECUTABLE}" -m pip download --quiet --disable-pip-version-check --no-deps --no-binary tree-sitter
            --require-hashes --requirement tree_sitter.txt --dest .
    WORKING_DIRECTORY "${CMAKE_CURRENT_BINARY_DIR}"
    RESULT_VARIABLE failed
    ERROR_VARIABLE reason)
  if(failed)
    message(FATAL_ERROR "The sources of tree-sitter ${TREE_SITTER_VERSION} could not be downloaded:\n${reason}\n"
                        "Without a network, unpack its source distribution from PyPI and name the folder: "
                        "CMAKE_ARGS=-DFRAMEDEX_TREE_SITTER=FOLDER pip install ...")
  endif()
  file(GLOB archive "${CMAKE_CURRENT_BINARY_DIR}/tree?sitter-${TREE_SITTER_VERSION}.tar.gz")
  file(ARCHIVE_EXTRACT INPUT "${archive}" DESTINATION "${CMAKE_CURRENT_BINARY_DIR}")
endif()
set(TREE_SITTER_CORE "${folder}/tree_sitter/core/lib")
set(TREE_SITTER_LICENSE "${folder}/LICENSE")
