# cmake/origins.cmake — where the rows of the table of algorithms come from: run by the build with cmake -P
#
#   cmake -DALGOS=include/coll/algos -DOUTPUT=origins.h -P cmake/origins.cmake
#
# Records know their names alone, so a program cannot tell. Writes a line for each row of ALGOS/registry.h, in its
# order: ORIGIN("algos/ring.h", "coll_ring_allreduce").
get_filename_component(ALGOS "${ALGOS}" ABSOLUTE)
file(GLOB headers RELATIVE "${ALGOS}" "${ALGOS}/*.h")
list(REMOVE_ITEM headers registry.h)
foreach(header IN LISTS headers)
  file(STRINGS "${ALGOS}/${header}" records REGEX "^COLL_(ALGORITHM|COMPOSITE)\\(coll_[a-z0-9_]+,")
  foreach(record IN LISTS records)
    string(REGEX REPLACE "^COLL_[A-Z]+\\((coll_[a-z0-9_]+),.*" "\\1" symbol "${record}")
    set(header_of_${symbol} "${header}")
  endforeach()
endforeach()

file(STRINGS "${ALGOS}/registry.h" rows REGEX "^    &coll_[a-z0-9_]+(\\.algorithm)?,")
set(text "/* Made by cmake/origins.cmake from algos/registry.h. */\n")
foreach(row IN LISTS rows)
  string(REGEX REPLACE "^    &(coll_[a-z0-9_]+).*" "\\1" symbol "${row}")
  if(NOT DEFINED header_of_${symbol})
    message(FATAL_ERROR "algos/registry.h has a row ${symbol}, and no header of algos/ has a line "
      "\"COLL_ALGORITHM(${symbol},\", or COLL_COMPOSITE")
  endif()
  string(APPEND text "ORIGIN(\"algos/${header_of_${symbol}}\", \"${symbol}\")\n")
endforeach()
file(WRITE "${OUTPUT}" "${text}")
