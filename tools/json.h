/* tools/json.h — what JSON is printed with */
#ifndef COLL_TOOLS_JSON_H
#define COLL_TOOLS_JSON_H

/* Prints text as a JSON string. */
void json_string(const char *text);

#endif /* COLL_TOOLS_JSON_H */
