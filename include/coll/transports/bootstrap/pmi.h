/* coll/transports/bootstrap/pmi.h — how ranks find each other: the process managers of MPI, by PMI-1
 *
 * The simple protocol, lines of words on a descriptor that the environment names: mpiexec of MPICH (Hydra)
 * and of its kin speak it, and others that offer pmi1.
 *
 * Use ../bootstrap.h.
 */
#ifndef COLL_TRANSPORTS_BOOTSTRAP_PMI_H
#define COLL_TRANSPORTS_BOOTSTRAP_PMI_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../../config.h"

enum {
    COLL_I_PMI_LINE = 1200,
    COLL_I_PMI_VALUE = 256, /* the least that all managers take of a value, with its end */
    COLL_I_PMI_BYTES = 120, /* … that are written to one, in hexadecimal */
    COLL_I_PMI_NAME = 260
};

typedef struct coll_i_pmi {
    int fd;
    char name[COLL_I_PMI_NAME]; /* of the key-value space */
    char line[COLL_I_PMI_LINE]; /* the last answer */
} coll_i_pmi;

/* The value of a word of the last answer, which ends at a space; the length, or −1: it is not there. */
COLL_INLINE int coll_i_pmi_word(const coll_i_pmi *pmi, const char *word, const char **value)
{
    const size_t length = strlen(word);
    for (const char *at = pmi->line; *at; at += strcspn(at, " "), at += *at == ' ')
        if (strncmp(at, word, length) == 0 && at[length] == '=') {
            *value = at + length + 1;
            return (int)strcspn(*value, " ");
        }
    return -1;
}

/* Says a line and reads the answer, which is of this kind and tells of no error. */
COLL_INLINE bool coll_i_pmi_ask(coll_i_pmi *pmi, const char *line, const char *kind)
{
    const char *value = NULL;
    const size_t length = strlen(line);
    size_t have = 0;
    int n;
    for (size_t said = 0; said < length;) {
        const ssize_t more = write(pmi->fd, line + said, length - said);
        if (more < 0 && errno != EINTR)
            return false;
        said += more > 0 ? (size_t)more : 0;
    }
    do {
        const ssize_t more = read(pmi->fd, pmi->line + have, 1);
        if (more == 0 || (more < 0 && errno != EINTR) || have + 2 > sizeof pmi->line)
            return false;
        have += more > 0 ? 1 : 0;
    } while (have == 0 || pmi->line[have - 1] != '\n');
    pmi->line[have - 1] = 0;
    n = coll_i_pmi_word(pmi, "cmd", &value);
    if (n != (int)strlen(kind) || memcmp(value, kind, (size_t)n) != 0)
        return false;
    n = coll_i_pmi_word(pmi, "rc", &value);
    return n < 0 || (n == 1 && *value == '0');
}

COLL_INLINE bool coll_i_pmi_open(coll_i_pmi *pmi, int fd)
{
    const char *name = NULL;
    int n;
    pmi->fd = fd;
    if (!coll_i_pmi_ask(pmi, "cmd=init pmi_version=1 pmi_subversion=1\n", "response_to_init") ||
        !coll_i_pmi_ask(pmi, "cmd=get_my_kvsname\n", "my_kvsname"))
        return false;
    n = coll_i_pmi_word(pmi, "kvsname", &name);
    if (n <= 0 || n >= COLL_I_PMI_NAME)
        return false;
    memcpy(pmi->name, name, (size_t)n);
    pmi->name[n] = 0;
    return true;
}

COLL_INLINE bool coll_i_pmi_close(coll_i_pmi *pmi)
{
    return coll_i_pmi_ask(pmi, "cmd=finalize\n", "finalize_ack");
}

COLL_INLINE bool coll_i_pmi_barrier(coll_i_pmi *pmi)
{
    return coll_i_pmi_ask(pmi, "cmd=barrier_in\n", "barrier_out");
}

/* How much of so many bytes is published under one key. */
COLL_INLINE size_t coll_i_pmi_part(size_t bytes)
{
    const size_t most = COLL_I_PMI_BYTES;
    return bytes < most ? bytes : most;
}

/* Publishes bytes, in hexadecimal, under a key. */
COLL_INLINE bool coll_i_pmi_put(coll_i_pmi *pmi, const char *key, const void *bytes, size_t n)
{
    const unsigned char *from = (const unsigned char *)bytes;
    char line[COLL_I_PMI_LINE];
    int length =
        snprintf(line, sizeof line, "cmd=put kvsname=%s key=%s value=", pmi->name, key);
    if (2 * n >= COLL_I_PMI_VALUE || length < 0 || (size_t)length + 2 * n + 2 > sizeof line)
        return false;
    for (size_t i = 0; i < n; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, "%02x", from[i]);
    line[length] = '\n';
    line[length + 1] = 0;
    return coll_i_pmi_ask(pmi, line, "put_result");
}

/* The number of a hexadecimal digit, or −1. */
COLL_INLINE int coll_i_hex_digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Reads n bytes in hexadecimal. */
COLL_INLINE bool coll_i_hex(const char *text, size_t length, void *bytes, size_t n)
{
    unsigned char *to = (unsigned char *)bytes;
    if (length != 2 * n)
        return false;
    for (size_t i = 0; i < n; i++) {
        const int high = coll_i_hex_digit(text[2 * i]), low = coll_i_hex_digit(text[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        to[i] = (unsigned char)(16 * high + low);
    }
    return true;
}

COLL_INLINE bool coll_i_pmi_get(coll_i_pmi *pmi, const char *key, void *bytes, size_t n)
{
    const char *value = NULL;
    char line[COLL_I_PMI_LINE];
    int length;
    (void)snprintf(line, sizeof line, "cmd=get kvsname=%s key=%s\n", pmi->name, key);
    if (!coll_i_pmi_ask(pmi, line, "get_result"))
        return false;
    length = coll_i_pmi_word(pmi, "value", &value);
    return length >= 0 && coll_i_hex(value, (size_t)length, bytes, n);
}

#endif /* COLL_TRANSPORTS_BOOTSTRAP_PMI_H */
