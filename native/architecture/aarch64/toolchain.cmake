# Debian's cross compiler for AArch64: g++-aarch64-linux-gnu. `make arm64` uses it.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=native/architecture/aarch64/toolchain.cmake -DFRAMEDEX_PYTHONS=3.11
#         -DFRAMEDEX_PYTHON_HEADERS=FOLDER/usr/include ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
