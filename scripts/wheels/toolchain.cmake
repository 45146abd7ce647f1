# Debian's g++ with the C and C++ libraries of an older distribution, so that the build runs on systems of that age.
#
#   cmake -DCMAKE_TOOLCHAIN_FILE=scripts/wheels/toolchain.cmake -DFRAMEDEX_MACHINE=x86_64 -DFRAMEDEX_SYSROOT=FOLDER ...
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${FRAMEDEX_MACHINE})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES FRAMEDEX_MACHINE FRAMEDEX_SYSROOT)

set(triplet ${FRAMEDEX_MACHINE}-linux-gnu)
if(FRAMEDEX_MACHINE STREQUAL aarch64)
  set(prefix ${triplet}-)
endif()
set(CMAKE_C_COMPILER ${prefix}gcc)
set(CMAKE_CXX_COMPILER ${prefix}g++)
set(CMAKE_SYSROOT "${FRAMEDEX_SYSROOT}")
# g++ searches only for headers of its own version, and searches its own folders for libraries before the sysroot's. -B
# precedes both.
file(GLOB gcc "${FRAMEDEX_SYSROOT}/usr/lib/gcc/${triplet}/*/libstdc++.a")
get_filename_component(gcc "${gcc}" DIRECTORY)
get_filename_component(version "${gcc}" NAME)
set(libraries "-B${gcc} -B${FRAMEDEX_SYSROOT}/usr/lib/${triplet} -B${FRAMEDEX_SYSROOT}/lib/${triplet}")
# Warnings about the older libstdc++: its std::function moves by swapping uninitialised storage, and its std::vector grows by
# unchecked sizes.
set(unfounded "-Wno-uninitialized -Wno-maybe-uninitialized -Wno-alloc-size-larger-than")
set(CMAKE_C_FLAGS_INIT "${libraries}")
set(CMAKE_CXX_FLAGS_INIT "${libraries} -nostdinc++ -isystem ${FRAMEDEX_SYSROOT}/usr/include/c++/${version} \
-isystem ${FRAMEDEX_SYSROOT}/usr/include/${triplet}/c++/${version} ${unfounded}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
