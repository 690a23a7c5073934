/* transports/liveness.h: a byte is held as long as the process that holds it lives. */
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "coll/transports/liveness.h"
#include "support/check.h"

static char name[] = "/tmp/coll-liveness-XXXXXX";

static int opened(void)
{
    const int fd = open(name, O_RDWR | O_CLOEXEC);
    CHECK(fd >= 0);
    return fd;
}

TEST(bytes)
{
    const uint64_t far = (uint64_t)1 << 40;
    const int mine = opened(), other = opened();
    CHECK(!coll_liveness_is_held(other, 0, far));
    CHECK(coll_liveness_hold(mine, 3));
    CHECK(coll_liveness_hold(mine, 3));
    CHECK(coll_liveness_hold(mine, far - 1));
    CHECK(!coll_liveness_hold(other, 3));
    CHECK(coll_liveness_hold(other, 4));
    CHECK(!coll_liveness_is_held(mine, 3, 1)); /* it asks about others */
    CHECK(coll_liveness_is_held(other, 3, 1) && coll_liveness_is_held(other, 0, 4));
    CHECK(!coll_liveness_is_held(other, 0, 3) && !coll_liveness_is_held(other, 4, far - 5));
    CHECK(coll_liveness_is_held(other, far - 1, 1));
    CHECK_EQ(lseek(mine, 0, SEEK_END), 0); /* the file is as it was */
    CHECK_EQ(close(mine), 0);
    CHECK(!coll_liveness_is_held(other, 3, 1) && coll_liveness_hold(other, 3));
    CHECK_EQ(close(other), 0);
    CHECK(!coll_liveness_hold(-1, 0) && !coll_liveness_is_held(-1, 0, 1));
}

/* However it ends. */
TEST(processes)
{
    const int mine = opened();
    for (int how = 0; how < 2; how++) {
        int ready[2], status;
        char byte = 0;
        pid_t child;
        CHECK_EQ(pipe(ready), 0);
        child = fork();
        if (child == 0) {
            const int fd = open(name, O_RDWR | O_CLOEXEC);
            if (!coll_liveness_hold(fd, 7) || write(ready[1], &byte, 1) != 1)
                _exit(1);
            for (;;)
                pause();
        }
        CHECK_EQ(read(ready[0], &byte, 1), 1);
        CHECK(coll_liveness_is_held(mine, 7, 1));
        CHECK_EQ(kill(child, how == 0 ? SIGKILL : SIGTERM), 0);
        CHECK_EQ(waitpid(child, &status, 0), child);
        CHECK(!coll_liveness_is_held(mine, 7, 1));
        CHECK(close(ready[0]) == 0 && close(ready[1]) == 0);
    }
    CHECK_EQ(close(mine), 0);
}

int main(void)
{
    const int fd = mkstemp(name);
    if (!CHECK(fd >= 0))
        return check_done();
    RUN(bytes);
    RUN(processes);
    CHECK(close(fd) == 0 && unlink(name) == 0);
    return check_done();
}
