# What is built for MPI, once for each library that this machine has; LIBRARY is mpich or openmpi:
#
#   mpi/layer/*.c                BUILD/mpi/LIBRARY/libcollmpi.so, the layer to be preloaded
#   mpi/heap/*.c                 BUILD/mpi/LIBRARY/libcollheap.so, malloc for programs under it
#   examples/mpi/*.c             BUILD/mpi/LIBRARY/NAME           programs, linked with plain MPI
#   mpi/tests/*.c                BUILD/mpi/LIBRARY/tests/NAME     … with the files of NAME/ if there are any
#   mpi/tests/preload/*.c        BUILD/mpi/LIBRARY/tests/NAME.so  what tests preload
#   mpi/bench/*.c                BUILD/mpi/LIBRARY/bench/NAME
#
# A library is known by its compiler wrapper: COLL_MPICC_MPICH, COLL_MPICC_OPENMPI. The launcher beside it
# is coll_mpiexec_LIBRARY; coll_mpi_h are the folders of all mpi.h. Flags are the wrapper's own; CMake's FindMPI would find one library only.

# coll_mpi_find(LIBRARY MACRO CANDIDATE...): finds the wrapper whose mpi.h defines MACRO.
function(coll_mpi_find library macro)
  string(TOUPPER "COLL_MPICC_${library}" wrapper)
  set(probe "${PROJECT_BINARY_DIR}/mpi/probe.c")
  if(NOT DEFINED ${wrapper})
    file(WRITE "${probe}" "#include <mpi.h>\n")
    foreach(candidate IN LISTS ARGN)
      find_program(coll_candidate NAMES ${candidate})
      if(coll_candidate)
        execute_process(COMMAND "${coll_candidate}" -E -dM "${probe}" OUTPUT_VARIABLE macros ERROR_QUIET)
        if(macros MATCHES "#define ${macro} ")
          set(found "${coll_candidate}")
        endif()
      endif()
      unset(coll_candidate CACHE)
      if(found)
        break()
      endif()
    endforeach()
    set(${wrapper} "${found}" CACHE FILEPATH "Compiler wrapper of ${library}; empty: none")
  endif()
  if(NOT ${wrapper})
    message(STATUS "MPI: ${library} is not installed; on Debian: apt-get install ${coll_mpi_package_${library}}")
    return()
  endif()

  # gcc -Ifolder … -Lfolder -lmpi: mpi.h is a system header, so that it may warn.
  execute_process(COMMAND "${${wrapper}}" -show OUTPUT_VARIABLE line OUTPUT_STRIP_TRAILING_WHITESPACE)
  separate_arguments(words UNIX_COMMAND "${line}")
  set(target coll_mpi_${library})
  add_library(${target} INTERFACE)
  foreach(word IN LISTS words)
    if(word MATCHES "^-I(.+)")
      if(EXISTS "${CMAKE_MATCH_1}/mpi.h")
        set(coll_mpi_h "${coll_mpi_h} ${CMAKE_MATCH_1}" PARENT_SCOPE)
      endif()
      target_include_directories(${target} SYSTEM INTERFACE "${CMAKE_MATCH_1}")
    elseif(word MATCHES "^-D")
      target_compile_options(${target} INTERFACE ${word})
    elseif(word MATCHES "^-(L|l|Wl,|pthread)")
      target_link_libraries(${target} INTERFACE ${word})
    endif()
  endforeach()
  target_include_directories(${target} INTERFACE "${PROJECT_SOURCE_DIR}/mpi")

  string(REGEX REPLACE "mpicc([^/]*)$" "mpiexec\\1" launcher "${${wrapper}}")
  set(coll_mpiexec_${library} "${launcher}" PARENT_SCOPE)
  set(coll_mpi_libraries ${coll_mpi_libraries} ${library} PARENT_SCOPE)
  message(STATUS "MPI: ${library}: ${${wrapper}}")
endfunction()

# coll_add_mpi_programs(LIBRARY SOURCE_FOLDER FOLDER): one program for each *.c.
function(coll_add_mpi_programs library source folder)
  file(GLOB programs CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${source}/*.c")
  foreach(program IN LISTS programs)
    get_filename_component(name "${program}" NAME_WE)
    file(GLOB parts CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/${source}/${name}/*.c")
    string(REPLACE "/" "_" target "${source}_${name}_${library}")
    coll_add_program(${target} "${folder}" ${name} "${program}" ${parts})
    target_link_libraries(${target} PRIVATE coll_mpi_${library})
    if(folder MATCHES "tests$")
      target_include_directories(${target} PRIVATE "${PROJECT_SOURCE_DIR}/tests")
      target_link_libraries(${target} PRIVATE test_support)
      target_compile_options(${target} PRIVATE "$<$<CONFIG:Release>:-O1;-g1>")
    endif()
  endforeach()
endfunction()

# coll_add_mpi_module(LIBRARY TARGET FOLDER NAME SOURCE...): FOLDER/NAME.so, to be preloaded.
function(coll_add_mpi_module library target folder name)
  add_library(${target} SHARED ${ARGN})
  set_target_properties(${target} PROPERTIES
    C_STANDARD 11 C_STANDARD_REQUIRED ON C_EXTENSIONS ON PREFIX "" C_VISIBILITY_PRESET hidden
    OUTPUT_NAME ${name} LIBRARY_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/${folder}")
  target_link_libraries(${target} PRIVATE coll_program coll_registry coll_mpi_${library} ${CMAKE_DL_LIBS})
  if(CMAKE_SYSTEM_NAME STREQUAL Linux)
    target_link_options(${target} PRIVATE -Wl,-z,defs)
  endif()
endfunction()

set(coll_mpi_package_mpich "mpich libmpich-dev")
set(coll_mpi_package_openmpi "openmpi-bin libopenmpi-dev")
set(coll_mpi_libraries)
coll_mpi_find(mpich MPICH_VERSION mpicc.mpich mpicc-mpich mpicc)
coll_mpi_find(openmpi OMPI_MAJOR_VERSION mpicc.openmpi mpicc-openmpi mpicc)

include(CheckIPOSupported)
check_ipo_supported(RESULT coll_lto OUTPUT coll_lto_why LANGUAGES C)
file(GLOB coll_layer CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/mpi/layer/*.c")
file(GLOB coll_heap CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/mpi/heap/*.c")
file(GLOB coll_preload CONFIGURE_DEPENDS "${PROJECT_SOURCE_DIR}/mpi/tests/preload/*.c")
foreach(library IN LISTS coll_mpi_libraries)
  if(coll_layer)
    # What mpi.h declares is visible; all else is the layer's own.
    coll_add_mpi_module(${library} collmpi_${library} mpi/${library} libcollmpi ${coll_layer})
    coll_add_mpi_module(${library} collheap_${library} mpi/${library} libcollheap ${coll_heap})
    # A short call goes through all of its files, 10 to 20 of 50 ns, and straight into the library, 3 ns.
    target_compile_options(collmpi_${library} PRIVATE $<$<C_COMPILER_ID:GNU,Clang>:-fno-plt>)
    if(coll_lto AND NOT COLL_SANITIZE)
      set_target_properties(collmpi_${library} PROPERTIES INTERPROCEDURAL_OPTIMIZATION_RELEASE ON)
    endif()
  endif()
  coll_add_mpi_programs(${library} examples/mpi mpi/${library})
  if(COLL_BUILD_TESTS)
    coll_add_mpi_programs(${library} mpi/tests mpi/${library}/tests)
    foreach(source IN LISTS coll_preload)
      get_filename_component(name "${source}" NAME_WE)
      coll_add_mpi_module(${library} test_mpi_${name}_${library} mpi/${library}/tests ${name} "${source}")
    endforeach()
  endif()
  if(COLL_BUILD_BENCH)
    coll_add_mpi_programs(${library} mpi/bench mpi/${library}/bench)
  endif()
endforeach()
