/* Many ranks from their start to their first allreduce: a rank has few connections, and the library little memory. */
#include "support/counted.h"

#include "support/check.h"

#include "coll/comm.h"
#include "support/launched.h"

enum { MOST = 128, BYTES = 64 << 10 };

/* 1: it does not start; 2: the sum is wrong; 3: it has too many connections; 4: … too much memory. */
static int body(void *argument)
{
    static unsigned char memory[1 << 14];
    const uint32_t p = *(const uint32_t *)argument;
    uint32_t log = 0;
    int64_t one = 1, sum = 0;
    char why[COLL_TCP_WHY];
    coll_comm comm;
    coll_tcp *tcp = coll_tcp_launched(NULL, why);
    int is = 0;
    while (1u << log < p)
        log++;
    if (!tcp || coll_comm_init(&comm, &coll_tcp_transport, tcp, coll_tcp_rank(tcp), p, memory,
                               sizeof memory) != COLL_OK) {
        printf("    %s\n", why);
        fflush(stdout);
        return 1;
    }
    if (coll_allreduce(&comm, &one, &sum, 1, COLL_I64, COLL_SUM) != COLL_OK || sum != p)
        is = 2;
    else if (tcp->n_links > 2 * log + 4)
        is = 3;
    else if (counted_now > BYTES || counted_most > BYTES)
        is = 4;
    (void)coll_comm_free(&comm);
    coll_tcp_close(tcp);
    if (counted_now != 0)
        is = is ? is : 5; /* not all is freed */
    return is;
}

TEST(a_rank_has_little)
{
    static const uint32_t ranks[] = {1, 2, 17, 64, MOST};
    for (size_t i = 0; i < sizeof ranks / sizeof ranks[0]; i++) {
        static pid_t rank[MOST];
        uint32_t p = ranks[i];
        launched_start(rank, p, (p + 31) / 32, body, &p);
        CHECK(launched_end(rank, p, 60));
    }
}

int main(void)
{
    RUN(a_rank_has_little);
    return check_done();
}
