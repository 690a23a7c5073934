# cmake/linked.cmake — coll/linked.h: all headers in one, with declarations in place of bodies; and types.h,
# which has TYPE(name) for each public structure
#
#   cmake -DINCLUDE=…/include -DFOREIGN=cmake/foreign.txt -DOUTPUT=…/linked -P cmake/linked.cmake
#
# It relies on how the headers are formatted: a function begins with COLL_INLINE or its kin, and its body is
# between lines that have a brace at the same column; functions of macros are indented. Private functions are
# left out, with their comments, but for those of macros.
cmake_minimum_required(VERSION 3.16)

# cut(TEXT WORD HEAD TAIL): what is before the first WORD, and what is behind it.
function(cut text word head tail)
  string(FIND "${text}" "${word}" at)
  if(at EQUAL -1)
    message(FATAL_ERROR "${path}: no '${word}' behind '${begin}'")
  endif()
  string(SUBSTRING "${text}" 0 ${at} before)
  set(${head} "${before}" PARENT_SCOPE)
  string(LENGTH "${word}" length)
  math(EXPR at "${at} + ${length}")
  string(SUBSTRING "${text}" ${at} -1 behind)
  set(${tail} "${behind}" PARENT_SCOPE)
endfunction()

# declared(TEXT RESULT): TEXT with declarations in place of bodies.
function(declared text result)
  string(REGEX REPLACE " *\\\\\n" "\\\\\n" text "${text}")
  while(text MATCHES "\n( *)COLL_(HOT_INLINE|INLINE|I_RARE|I_APART|I_HOT_APART) ")
    set(begin "${CMAKE_MATCH_0}")
    set(indent "${CMAKE_MATCH_1}")
    string(REGEX REPLACE ".+" "\\\\" next "${indent}") # how a line of a macro ends
    cut("${text}" "${begin}" before text)
    cut("${text}" "${next}\n${indent}{${next}\n" head text)
    cut("${text}" "\n${indent}}" body text)
    if(indent STREQUAL "" AND head MATCHES "coll_i_[a-z0-9_]+\\(")
      string(FIND "${before}" "\n/*" at REVERSE)
      if(before MATCHES "\\*/$")
        string(SUBSTRING "${before}" 0 ${at} before)
      endif()
      string(APPEND done "${before}")
    else()
      string(APPEND done "${before}\n${indent}COLL_I_C ${head};")
    endif()
  endwhile()
  set(${result} "${done}${text}" PARENT_SCOPE)
endfunction()

# take(PATH): appends a header to `linked`, behind those that it includes, and its structures to `types`.
function(take path)
  get_property(taken GLOBAL PROPERTY taken)
  if(path IN_LIST taken)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY taken "${path}")
  get_filename_component(folder "${path}" DIRECTORY)
  file(STRINGS "${path}" includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "#include \"(.*)\"" "\\1" include "${include}")
    get_filename_component(include "${include}" ABSOLUTE BASE_DIR "${folder}")
    take("${include}")
  endforeach()
  file(READ "${path}" text)
  string(REGEX REPLACE "\n#include \"[^\n]*" "" text "${text}")
  string(REGEX REPLACE "\n#include <(pthread|std(bool|def|int|io|arg))\\.h>" "\n#includes <\\1.h>" text "${text}")
  string(REGEX REPLACE "\n#include <[^\n]*" "" text "${text}") # for bodies alone
  string(REPLACE "\n#includes" "\n#include" text "${text}")
  string(REPLACE "defined(COLL_PMIX)" "0" text "${text}") # the library is linked without it
  declared("${text}" text)
  set_property(GLOBAL APPEND_STRING PROPERTY linked "\n${text}")
  string(REGEX MATCHALL "\ntypedef struct (COLL_I_ALIAS )?coll_[a-z0-9_]+ {" structures "${text}")
  foreach(structure IN LISTS structures)
    string(REGEX REPLACE ".* (coll_[a-z0-9_]+) {" "\\1" name "${structure}")
    if(NOT name MATCHES "^coll_i_")
      set_property(GLOBAL APPEND_STRING PROPERTY types "TYPE(${name})\n")
    endif()
  endforeach()
endfunction()

file(GLOB_RECURSE headers "${INCLUDE}/*.h")
file(STRINGS "${FOREIGN}" foreign REGEX "^[^#]")
foreach(one IN LISTS foreign)
  string(REGEX REPLACE ".* " "" one "${one}")
  list(FILTER headers EXCLUDE REGEX "/${one}[./]")
endforeach()
foreach(header IN LISTS headers)
  take("${header}")
endforeach()
get_property(linked GLOBAL PROPERTY linked)
get_property(types GLOBAL PROPERTY types)
file(WRITE "${OUTPUT}/types.h" "${types}")
file(WRITE "${OUTPUT}/coll/linked.h" "/* coll/linked.h — what libcoll.so and libcoll.a have: all public headers of the library, without bodies
 *
 *   #include <coll/linked.h>                      // and -lcoll -pthread -lm
 *
 * Made from the headers, which have the documentation of each module in its place. In a file that includes
 * this one, those headers are empty. Other languages read it, too: it is C99 and C++11, with C linkage.
 */
#ifndef COLL_LINKED_H
#define COLL_LINKED_H

#if defined(COLL_STEP_MAX) || defined(COLL_PARAM_MAX) || defined(COLL_WINDOW) || \\
    defined(COLL_CACHED_CALLS) || defined(COLL_CACHED_BLOCKS) || defined(COLL_CACHED_ACTIONS)
#error \"structures of the linked library have the sizes that it was built with\"
#endif
#undef COLL_EXTERN
#undef COLL_ONE_REGISTRY
#undef COLL_IMPLEMENTATION
#define COLL_EXTERN 1
#define COLL_ONE_REGISTRY 1
${linked}
/* sizeof of a public structure by its name, as \"coll_comm\", for languages that cannot ask C; 0: there is no such
 * structure. */
COLL_I_C size_t coll_bytes_of(const char *structure);

#endif /* COLL_LINKED_H */
")
