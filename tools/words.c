/* tools/words.c — see words.h */
#include "words.h"

#include <stdio.h>

/* OUT[4..7], or OUT[4] for a single element. */
static void print_place(coll_ref ref, size_t count)
{
    static const char *const names[] = {"IN", "OUT", "SCRATCH", "SHARED"};
    const size_t first = coll_ref_offset(ref);
    printf("%s[%zu", names[coll_ref_space(ref)], first);
    if (count > 1)
        printf("..%zu", first + count - 1);
    printf("]");
}

static void print_elements(size_t count)
{
    printf("%zu element%s", count, count == 1 ? "" : "s");
}

static void print_recv_reduce(const coll_action *a)
{
    const char *them = a->count == 1 ? "it" : "them";
    printf("receive ");
    print_elements(a->count);
    printf(" from rank %u, ", a->peer);
    if (a->dst == a->src && !(a->flags & COLL_LEFT)) {
        printf("adding %s to ", them);
        print_place(a->dst, a->count);
    } else {
        print_place(a->dst, a->count);
        printf(" = ");
        if (a->flags & COLL_LEFT)
            printf("%s ⊕ ", them);
        print_place(a->src, a->count);
        if (!(a->flags & COLL_LEFT))
            printf(" ⊕ %s", them);
    }
    if (a->via != a->dst) {
        printf(", staged in ");
        print_place(a->via, a->count);
    }
}

static void print_reduce(const coll_action *a)
{
    printf("combine ");
    print_place(a->dst, a->count);
    printf(" = ");
    print_place(a->src, a->count);
    for (uint32_t i = 0; i < a->inputs && i < 3; i++) {
        const bool last = i == 2 && a->inputs > 3;
        const uint32_t input = last ? a->inputs - 1u : i;
        printf(last ? " ⊕ … ⊕ " : " ⊕ ");
        print_place(a->via + input * a->stride, a->count);
    }
}

void print_action(const coll_action *a)
{
    switch ((coll_kind)a->kind) {
    case COLL_DO_SEND:
        printf("send ");
        print_place(a->src, a->count);
        printf(" to rank %u", a->peer);
        break;
    case COLL_DO_RECV:
        printf("receive ");
        print_place(a->dst, a->count);
        printf(" from rank %u", a->peer);
        break;
    case COLL_DO_RECV_REDUCE:
        print_recv_reduce(a);
        break;
    case COLL_DO_COPY:
        printf("copy ");
        print_place(a->src, a->count);
        printf(" to ");
        print_place(a->dst, a->count);
        break;
    case COLL_DO_REDUCE:
        print_reduce(a);
        break;
    case COLL_DO_NOTIFY:
        printf("notify rank %u", a->peer);
        if (coll_ref_space(a->src) == COLL_SHARED) {
            printf(" of ");
            print_place(a->src, a->count);
        }
        break;
    case COLL_DO_AWAIT:
        printf("wait for rank %u", a->peer);
        if (coll_ref_space(a->dst) == COLL_SHARED) {
            printf(" and ");
            print_place(a->dst, a->count);
        }
        break;
    case COLL_DO_MULTICAST:
        printf("send ");
        print_place(a->src, a->count);
        printf(" to all other ranks");
        break;
    case COLL_DO_FABRIC_REDUCE:
        printf("let the network reduce ");
        print_place(a->src, a->count);
        printf(" of %s to ", a->peer == COLL_TEAM_ALL     ? "all ranks"
                             : a->peer == COLL_TEAM_NODES ? "the first ranks of the nodes"
                                                          : "the first ranks of the sockets");
        print_place(a->dst, a->count);
        break;
    case COLL_KINDS:
        break;
    }
}
