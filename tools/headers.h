/* tools/headers.h — where the headers of the library are */
#ifndef COLL_TOOLS_HEADERS_H
#define COLL_TOOLS_HEADERS_H

/* The folder that has coll/: what COLL_INCLUDE names; else what this command was installed with, or
 * the tree that it was built in. Refuses if there is none. */
const char *headers_folder(void);

#endif /* COLL_TOOLS_HEADERS_H */
