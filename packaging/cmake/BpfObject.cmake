# lumbre_bpf_skeleton(TARGET name SOURCES a.bpf.c ... [DEFINES A=1 ...]): compiles the kernel programs,
# links them to one object with bpftool and makes its skeleton header, found as <name.skel.h>.
find_program(LUMBRE_CLANG NAMES clang clang-19 clang-18 clang-17 clang-16 clang-15 clang-14 REQUIRED)
find_program(LUMBRE_BPFTOOL NAMES bpftool HINTS /usr/sbin /sbin /usr/local/sbin REQUIRED)

function(lumbre_bpf_skeleton)
  cmake_parse_arguments(B "" "TARGET" "SOURCES;DEFINES" ${ARGN})
  list(TRANSFORM B_DEFINES PREPEND -D)
  set(objects "")
  file(GLOB_RECURSE headers ${CMAKE_SOURCE_DIR}/bpf/*.h)
  foreach(source ${B_SOURCES})
    get_filename_component(name ${source} NAME_WE)
    set(object ${CMAKE_CURRENT_BINARY_DIR}/${B_TARGET}.${name}.bpf.o)
    add_custom_command(OUTPUT ${object}
      COMMAND ${LUMBRE_CLANG} -target bpf -mcpu=v3 -O2 -g -Wall -Wextra -Wno-unused-parameter
              -Werror -D__TARGET_ARCH_x86 ${B_DEFINES} -I${CMAKE_SOURCE_DIR}
              -I${CMAKE_SOURCE_DIR}/bpf/platform
              -idirafter /usr/include/${CMAKE_LIBRARY_ARCHITECTURE}
              -c ${CMAKE_CURRENT_SOURCE_DIR}/${source} -o ${object}
      DEPENDS ${source} ${headers} VERBATIM)
    list(APPEND objects ${object})
  endforeach()
  set(linked ${CMAKE_CURRENT_BINARY_DIR}/${B_TARGET}.o)
  set(skeleton ${CMAKE_CURRENT_BINARY_DIR}/${B_TARGET}.skel.h)
  add_custom_command(OUTPUT ${skeleton}
    COMMAND ${LUMBRE_BPFTOOL} gen object ${linked} ${objects}
    COMMAND ${LUMBRE_BPFTOOL} gen skeleton ${linked} name ${B_TARGET} > ${skeleton}.new
    COMMAND ${CMAKE_COMMAND} -E rename ${skeleton}.new ${skeleton}
    DEPENDS ${objects} VERBATIM)
  add_custom_target(${B_TARGET}_skeleton DEPENDS ${skeleton})
  add_library(${B_TARGET} INTERFACE)
  add_dependencies(${B_TARGET} ${B_TARGET}_skeleton)
  target_include_directories(${B_TARGET} SYSTEM INTERFACE ${CMAKE_CURRENT_BINARY_DIR})
endfunction()
