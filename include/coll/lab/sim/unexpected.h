/* coll/lab/sim/unexpected.h — messages that have arrived before their receive
 *
 * A short list, in order of arrival; from COLL_I_SIM_INBOX messages on as many lists as that, by
 * sender, and twice as many whenever they get long. So a rank that has few messages needs no more
 * than a number, and a root with a million of them finds each at once.
 */
#ifndef COLL_LAB_SIM_UNEXPECTED_H
#define COLL_LAB_SIM_UNEXPECTED_H

#include "state.h"

enum { COLL_I_SIM_INBOX = 64 };
#define COLL_I_SIM_INBOX_TABLE                                                                 \
    0x80000000u /* in the number of a rank's inbox: that of a table */

typedef struct coll_i_inbox_table {
    uint32_t *lists;
    uint32_t n; /* a power of two */
} coll_i_inbox_table;

typedef struct coll_i_mail {
    coll_i_array ops;    /* of coll_i_op */
    coll_i_array tables; /* of coll_i_inbox_table */
    uint32_t free;
    bool out_of_memory;
} coll_i_mail;

/* Forgets all messages; what memory there is for them stays. */
COLL_INLINE void coll_i_mail_clear(coll_i_mail *mail)
{
    for (size_t i = 0; i < mail->tables.n; i++)
        free(((coll_i_inbox_table *)mail->tables.at)[i].lists);
    mail->tables.n = mail->ops.n = 0;
    mail->free = COLL_I_SIM_NONE_LISTED;
    mail->out_of_memory = false;
}

COLL_INLINE void coll_i_mail_free(coll_i_mail *mail)
{
    coll_i_mail_clear(mail);
    coll_i_array_free(&mail->tables);
    coll_i_array_free(&mail->ops);
}

COLL_INLINE coll_i_op *coll_i_op_at(const coll_i_mail *mail, uint32_t i)
{
    return (coll_i_op *)mail->ops.at + i;
}

/* The number of a message; there are at most 2^28. COLL_RANK_NONE: no memory. */
COLL_INLINE uint32_t coll_i_op_take(coll_i_mail *mail)
{
    uint32_t i = mail->free;
    if (i != COLL_I_SIM_NONE_LISTED) {
        mail->free = coll_i_op_at(mail, i)->next;
        return i;
    }
    if (mail->ops.n >= (size_t)1 << 28 ||
        !coll_i_array_reserve(&mail->ops, mail->ops.n + 1, sizeof(coll_i_op))) {
        mail->out_of_memory = true;
        return COLL_RANK_NONE;
    }
    return (uint32_t)mail->ops.n++;
}

COLL_INLINE void coll_i_op_give(coll_i_mail *mail, uint32_t i)
{
    coll_i_op_at(mail, i)->next = mail->free;
    mail->free = i;
}

/* ---- lists ------------------------------------------------------------------------------- */

COLL_INLINE void coll_i_list_append(const coll_i_mail *mail, uint32_t *list, uint32_t i)
{
    coll_i_op *op = coll_i_op_at(mail, i);
    if (*list == COLL_I_SIM_NONE_LISTED) {
        op->next = i;
    } else {
        coll_i_op *last = coll_i_op_at(mail, *list);
        op->next = last->next;
        last->next = i;
    }
    *list = i;
}

/* Takes the message after `before` out of a list that has it. */
COLL_INLINE uint32_t coll_i_list_take_after(const coll_i_mail *mail, uint32_t *list,
                                            uint32_t before)
{
    coll_i_op *op = coll_i_op_at(mail, before);
    const uint32_t i = op->next;
    if (i == before)
        *list = COLL_I_SIM_NONE_LISTED;
    else if (*list == i)
        *list = before;
    op->next = coll_i_op_at(mail, i)->next;
    return i;
}

/* Takes the first message out of a list that is not empty. */
COLL_INLINE uint32_t coll_i_list_take(const coll_i_mail *mail, uint32_t *list)
{
    return coll_i_list_take_after(mail, list, *list);
}

/* Takes the first message of a sender; COLL_RANK_NONE: there is none. */
COLL_INLINE uint32_t coll_i_list_find(const coll_i_mail *mail, uint32_t *list, uint32_t from)
{
    uint32_t before = *list;
    if (before == COLL_I_SIM_NONE_LISTED)
        return COLL_RANK_NONE;
    do {
        const uint32_t i = coll_i_op_at(mail, before)->next;
        if (coll_i_op_at(mail, i)->from == from)
            return coll_i_list_take_after(mail, list, before);
        before = i;
    } while (before != *list);
    return COLL_RANK_NONE;
}

/* ---- inboxes ----------------------------------------------------------------------------- */

COLL_INLINE coll_i_inbox_table *coll_i_inbox_table_at(const coll_i_mail *mail, uint32_t inbox)
{
    return (coll_i_inbox_table *)mail->tables.at + (inbox & ~COLL_I_SIM_INBOX_TABLE);
}

/* Deals the messages out to more lists; where there is no memory for that, things are as before. */
COLL_I_RARE void coll_i_inbox_grow(coll_i_mail *mail, coll_i_sim_rank *rank)
{
    const bool first = !(rank->inbox & COLL_I_SIM_INBOX_TABLE);
    coll_i_inbox_table old = {&rank->inbox, 1}, grown;
    uint32_t only;
    if (first) {
        if (!coll_i_array_reserve(&mail->tables, mail->tables.n + 1, sizeof old))
            return;
        only = rank->inbox;
        old.lists = &only;
    } else {
        old = *coll_i_inbox_table_at(mail, rank->inbox);
    }
    grown.n = first ? (uint32_t)COLL_I_SIM_INBOX : 2 * old.n;
    grown.lists = (uint32_t *)malloc(grown.n * sizeof *grown.lists);
    if (!grown.lists)
        return;
    for (uint32_t i = 0; i < grown.n; i++)
        grown.lists[i] = COLL_I_SIM_NONE_LISTED;
    for (uint32_t i = 0; i < old.n; i++)
        while (old.lists[i] != COLL_I_SIM_NONE_LISTED) {
            const uint32_t op = coll_i_list_take(mail, &old.lists[i]);
            coll_i_list_append(mail, &grown.lists[coll_i_op_at(mail, op)->from & (grown.n - 1)],
                               op);
        }
    if (first)
        rank->inbox = COLL_I_SIM_INBOX_TABLE | (uint32_t)mail->tables.n++;
    else
        free(old.lists);
    *coll_i_inbox_table_at(mail, rank->inbox) = grown;
}

/* The list in which a sender's messages are. */
COLL_INLINE uint32_t *coll_i_inbox_list(const coll_i_mail *mail, coll_i_sim_rank *rank,
                                        uint32_t from)
{
    const coll_i_inbox_table *table;
    if (!(rank->inbox & COLL_I_SIM_INBOX_TABLE))
        return &rank->inbox;
    table = coll_i_inbox_table_at(mail, rank->inbox);
    return &table->lists[from & (table->n - 1)];
}

COLL_INLINE void coll_i_inbox_put(coll_i_mail *mail, coll_i_sim_rank *rank, uint32_t i)
{
    const uint32_t lists =
        rank->inbox & COLL_I_SIM_INBOX_TABLE ? coll_i_inbox_table_at(mail, rank->inbox)->n : 1;
    if (rank->inbox_n++ >= (lists == 1 ? (uint32_t)COLL_I_SIM_INBOX : 4 * lists))
        coll_i_inbox_grow(mail, rank);
    coll_i_list_append(mail, coll_i_inbox_list(mail, rank, coll_i_op_at(mail, i)->from), i);
}

/* Takes the oldest message of a sender; COLL_RANK_NONE: there is none. */
COLL_INLINE uint32_t coll_i_inbox_take(const coll_i_mail *mail, coll_i_sim_rank *rank,
                                       uint32_t from)
{
    const uint32_t i = rank->inbox_n == 0
                           ? COLL_RANK_NONE
                           : coll_i_list_find(mail, coll_i_inbox_list(mail, rank, from), from);
    rank->inbox_n -= i != COLL_RANK_NONE;
    return i;
}

#endif /* COLL_LAB_SIM_UNEXPECTED_H */
