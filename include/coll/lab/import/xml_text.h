/* coll/lab/import/xml_text.h — tags of XML with their attributes, one after the other
 *
 * As much of it as files of schedules have: elements, attributes, comments. Private; use lab/import.h.
 */
#ifndef COLL_LAB_IMPORT_XML_TEXT_H
#define COLL_LAB_IMPORT_XML_TEXT_H

#include "source_text.h"

enum { COLL_I_XML_ATTRIBUTES = 24, COLL_I_XML_MOST = 1 << 20 };

typedef struct coll_i_xml_tag {
    coll_i_lexeme name;
    bool closes, alone; /* </name>, <name/> */
    uint32_t n;
    coll_i_lexeme key[COLL_I_XML_ATTRIBUTES], value[COLL_I_XML_ATTRIBUTES];
} coll_i_xml_tag;

/* ---- tags -------------------------------------------------------------------------------- */

COLL_INLINE bool coll_i_xml_attribute(coll_i_source_text *t, coll_i_xml_tag *tag)
{
    char quote;
    coll_i_lexeme *value = &tag->value[tag->n];
    if (tag->n == COLL_I_XML_ATTRIBUTES)
        return coll_i_text_fail(t, "a tag has more than %d attributes", COLL_I_XML_ATTRIBUTES);
    tag->key[tag->n] = coll_i_text_name(t);
    if (tag->key[tag->n].n == 0)
        return coll_i_text_fail(t, "an attribute or the end of the tag is missing");
    coll_i_text_blanks(t, true);
    if (!coll_i_text_take(t, "="))
        return coll_i_text_fail(t, "the attribute %.*s has no value",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    coll_i_text_blanks(t, true);
    if (coll_i_text_ended(t) || (*t->at != '"' && *t->at != '\''))
        return coll_i_text_fail(t, "the value of %.*s is not between quotes",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    quote = *t->at++;
    value->at = t->at;
    while (t->at < t->end && *t->at != quote && *t->at != '<' && *t->at != '\n')
        t->at++;
    value->n = (size_t)(t->at - value->at);
    if (coll_i_text_ended(t) || *t->at != quote)
        return coll_i_text_fail(t, "the value of %.*s has no end",
                                coll_i_lexeme_shown(tag->key[tag->n]), tag->key[tag->n].at);
    t->at++;
    tag->n++;
    return true;
}

/* Reads the next tag. False: there is none, or a mistake. */
COLL_INLINE bool coll_i_xml_next(coll_i_source_text *t, coll_i_xml_tag *tag)
{
    for (;;) {
        coll_i_text_blanks(t, true);
        if (coll_i_text_ended(t))
            return false;
        if (coll_i_text_take(t, "<!--")) {
            if (!coll_i_text_pass(t, "-->"))
                return coll_i_text_fail(t, "a comment has no end");
        } else if (coll_i_text_take(t, "<?")) {
            if (!coll_i_text_pass(t, "?>"))
                return coll_i_text_fail(t, "<? has no end");
        } else {
            break;
        }
    }
    if (!coll_i_text_take(t, "<"))
        return coll_i_text_fail(t, "a tag is missing: here is text");
    tag->n = 0;
    tag->alone = false;
    tag->closes = coll_i_text_take(t, "/");
    tag->name = coll_i_text_name(t);
    if (tag->name.n == 0)
        return coll_i_text_fail(t, "a tag has no name");
    for (;;) {
        coll_i_text_blanks(t, true);
        tag->alone = coll_i_text_take(t, "/");
        if (coll_i_text_take(t, ">"))
            return true;
        if (tag->alone || tag->closes || !coll_i_xml_attribute(t, tag))
            return coll_i_text_fail(t, "the tag %.*s has no end",
                                    coll_i_lexeme_shown(tag->name), tag->name.at);
    }
}

/* The next tag must be there; *opens: it begins an element of this name, and does not end `of`. */
COLL_INLINE bool coll_i_xml_child(coll_i_source_text *t, coll_i_xml_tag *tag, const char *of,
                                  const char *name, bool *opens)
{
    if (!coll_i_xml_next(t, tag))
        return coll_i_text_fail(t, "</%s> is missing", of);
    *opens = !tag->closes;
    if (coll_i_lexeme_is(tag->name, tag->closes ? of : name))
        return true;
    return coll_i_text_fail(t, "<%s%.*s> is not expected in <%s>", tag->closes ? "/" : "",
                            coll_i_lexeme_shown(tag->name), tag->name.at, of);
}

COLL_INLINE const coll_i_lexeme *coll_i_xml_value(const coll_i_xml_tag *tag, const char *key)
{
    for (uint32_t i = 0; i < tag->n; i++)
        if (coll_i_lexeme_is(tag->key[i], key))
            return &tag->value[i];
    return NULL;
}

/* A number of a tag from 0 on. Where it is missing, or −1, it is `missing`, unless that is UINT64_MAX. */
COLL_INLINE bool coll_i_xml_number(coll_i_source_text *t, const coll_i_xml_tag *tag,
                                   const char *key, uint64_t most, uint64_t missing,
                                   uint64_t *number)
{
    const coll_i_lexeme *value = coll_i_xml_value(tag, key);
    *number = missing;
    if (missing != UINT64_MAX && (!value || coll_i_lexeme_is(*value, "-1")))
        return true;
    if (!value)
        return coll_i_text_fail(t, "<%.*s> has no %s", coll_i_lexeme_shown(tag->name),
                                tag->name.at, key);
    return coll_i_lexeme_number(*value, most, number) ||
           coll_i_text_fail(t, "%s is a whole number from 0 to %" PRIu64 ", not \"%.*s\"", key,
                            most, coll_i_lexeme_shown(*value), value->at);
}

#endif /* COLL_LAB_IMPORT_XML_TEXT_H */
