# All bodies of the headers, compiled once: programs of several files that are linked with coll_bodies (COLL_EXTERN) are
# compiled in a fraction of the time. From the same object are coll::shared and coll::static, which have the names of
# abi.txt and hide all others.

set(coll_linked "${PROJECT_BINARY_DIR}/linked")
file(GLOB_RECURSE headers CONFIGURE_DEPENDS RELATIVE "${PROJECT_SOURCE_DIR}/include" "${PROJECT_SOURCE_DIR}/include/*.h")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/cmake/foreign.txt")
file(STRINGS cmake/foreign.txt foreign REGEX "^[^#]")
foreach(one IN LISTS foreign)
  string(REGEX REPLACE ".* " "" one "${one}")
  list(FILTER headers EXCLUDE REGEX "^${one}[./]")
endforeach()
list(TRANSFORM headers REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE coll_headers)
string(CONCAT coll_headers ${coll_headers})
configure_file(cmake/bodies.c.in linked/bodies.c @ONLY)

list(TRANSFORM headers PREPEND "${PROJECT_SOURCE_DIR}/include/")
add_custom_command(OUTPUT "${coll_linked}/coll/linked.h" "${coll_linked}/types.h"
  COMMAND "${CMAKE_COMMAND}" "-DINCLUDE=${PROJECT_SOURCE_DIR}/include" "-DFOREIGN=${PROJECT_SOURCE_DIR}/cmake/foreign.txt"
    "-DOUTPUT=${coll_linked}"
    -P "${PROJECT_SOURCE_DIR}/cmake/linked.cmake"
  DEPENDS cmake/linked.cmake cmake/foreign.txt ${headers} COMMENT "Writing coll/linked.h" VERBATIM)

add_library(coll_bodies STATIC EXCLUDE_FROM_ALL
  "${coll_linked}/bodies.c" cmake/registry.c cmake/linked.c "${coll_linked}/coll/linked.h")
target_compile_definitions(coll_bodies PUBLIC COLL_EXTERN=1 COLL_ONE_REGISTRY=1)
target_include_directories(coll_bodies PRIVATE "${coll_linked}")
target_link_libraries(coll_bodies PRIVATE coll_program)
set_target_properties(coll_bodies PROPERTIES C_STANDARD 11 POSITION_INDEPENDENT_CODE ON)
if(CMAKE_C_COMPILER_ID MATCHES "GNU|Clang") # calls within the library stay there; whoever links takes what he calls
  target_compile_options(coll_bodies PRIVATE -fno-semantic-interposition -ffunction-sections -fdata-sections)
endif()

if(NOT COLL_BUILD_LIBRARY)
  return()
endif()

# ---- The names that others see ---------------------------------------------------------------

set(coll_abi "${PROJECT_SOURCE_DIR}/cmake/abi.txt")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${coll_abi}")
file(STRINGS "${coll_abi}" names REGEX "^coll_[a-z0-9_]+$")
foreach(name IN LISTS names)
  string(APPEND lines "${name}\n")
  string(APPEND globals "  ${name};\n")
endforeach()
file(GENERATE OUTPUT "${coll_linked}/names" CONTENT "${lines}")
file(GENERATE OUTPUT "${coll_linked}/map"
  CONTENT "COLL_${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR} {\nglobal:\n${globals}local:\n  *;\n};\n")

# Before 1.0 a minor version may change the ABI, so it is part of the SONAME.
add_library(coll_shared SHARED $<TARGET_OBJECTS:coll_bodies>)
set_target_properties(coll_shared PROPERTIES
  VERSION ${PROJECT_VERSION} SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  LINK_DEPENDS "${coll_linked}/map")
target_link_options(coll_shared PRIVATE
  "LINKER:--version-script=${coll_linked}/map" LINKER:-Bsymbolic-functions LINKER:--no-undefined)

# One object, whose other names are local to it.
separate_arguments(flags UNIX_COMMAND "${CMAKE_C_FLAGS}")
add_custom_command(OUTPUT "${coll_linked}/static.o"
  COMMAND "${CMAKE_C_COMPILER}" ${flags} -r -nostdlib -o "${coll_linked}/merged.o"
    -Wl,--whole-archive "$<TARGET_FILE:coll_bodies>"
  COMMAND "${CMAKE_OBJCOPY}" "--keep-global-symbols=${coll_linked}/names"
    "${coll_linked}/merged.o" "${coll_linked}/static.o"
  DEPENDS coll_bodies "${coll_linked}/names" VERBATIM)
add_library(coll_static STATIC "${coll_linked}/static.o")
set_source_files_properties("${coll_linked}/static.o" PROPERTIES EXTERNAL_OBJECT ON GENERATED ON)

foreach(kind shared static)
  add_library(coll::${kind} ALIAS coll_${kind})
  set_target_properties(coll_${kind} PROPERTIES LINKER_LANGUAGE C OUTPUT_NAME coll EXPORT_NAME ${kind})
  add_dependencies(coll_${kind} coll_bodies)
  target_include_directories(coll_${kind} INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${coll_linked}>
    $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_compile_definitions(coll_${kind} INTERFACE COLL_EXTERN=1 COLL_ONE_REGISTRY=1)
endforeach()
target_link_libraries(coll_shared PRIVATE coll_program)
target_link_libraries(coll_static INTERFACE -pthread m)

add_custom_target(abi
  COMMAND cmake/abi.sh "$<TARGET_FILE:coll_bodies>" "${coll_linked}" "${CMAKE_C_COMPILER}" "${coll_abi}"
  DEPENDS coll_bodies WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" COMMENT "Writing cmake/abi.txt" VERBATIM)
