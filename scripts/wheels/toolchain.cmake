# Debian's g++ with the C and C++ libraries of an older distribution, so that the build runs on systems of that age.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=scripts/wheels/toolchain.cmake -DFRAMEDEX_SYSROOT=FOLDER ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR x86_64)
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FRAMEDEX_SYSROOT)

set(CMAKE_C_COMPILER gcc)
set(CMAKE_CXX_COMPILER g++)
set(CMAKE_SYSROOT "${FRAMEDEX_SYSROOT}")
# g++ searches only for headers of its own version, and searches its own folders for libraries before the sysroot's. -B
# precedes both.
set(libraries "-B${FRAMEDEX_SYSROOT}/usr/lib/gcc/x86_64-linux-gnu/8 -B${FRAMEDEX_SYSROOT}/usr/lib/x86_64-linux-gnu \
-B${FRAMEDEX_SYSROOT}/lib/x86_64-linux-gnu")
# Warnings about the older libstdc++: its std::function moves by swapping uninitialised storage, and its std::vector grows by
# unchecked sizes.
set(unfounded "-Wno-uninitialized -Wno-maybe-uninitialized -Wno-alloc-size-larger-than")
set(CMAKE_C_FLAGS_INIT "${libraries}")
set(CMAKE_CXX_FLAGS_INIT "${libraries} -nostdinc++ -isystem ${FRAMEDEX_SYSROOT}/usr/include/c++/8 \
-isystem ${FRAMEDEX_SYSROOT}/usr/include/x86_64-linux-gnu/c++/8 ${unfounded}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
