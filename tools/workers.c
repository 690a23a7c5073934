/* tools/workers.c — see workers.h */
#define _POSIX_C_SOURCE 200809L
#include "workers.h"

#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "memory.h"
#include "options.h"

enum { SENTENCE = 600 };

/* A process at work; what it has said so far is at the piece's place. */
struct worker {
    pid_t pid;
    int from;
    size_t piece, n;
    char *said;
};

/* Of a piece: NULL as long as it is not done; then its record, or, where `wrong`, a sentence. */
struct result {
    char *said;
    bool wrong;
};

struct pool {
    struct worker *worker;
    size_t n, room; /* working; bytes that one may say */
    struct result *results;
    size_t record_bytes;
};

static void start(struct pool *pool, size_t piece, workers_work *work, void *arg)
{
    struct worker *w = &pool->worker[pool->n];
    int ends[2];
    if (pipe(ends) != 0)
        refuse("there are no more pipes: %s; give fewer --jobs", strerror(errno));
    fflush(NULL); /* or the child would write it again */
    w->pid = fork();
    if (w->pid < 0)
        refuse("a process could not be started: %s; give fewer --jobs", strerror(errno));
    if (w->pid == 0) {
        char *record = memory_of(1, pool->record_bytes);
        size_t written = 0;
        close(ends[0]);
        dup2(ends[1], STDERR_FILENO); /* a refusal is a result */
        work(arg, piece, record);
        while (written < pool->record_bytes) {
            const ssize_t n = write(ends[1], record + written, pool->record_bytes - written);
            if (n < 0 && errno != EINTR)
                _exit(1);
            written += n > 0 ? (size_t)n : 0;
        }
        _exit(0);
    }
    close(ends[1]);
    w->from = ends[0];
    w->piece = piece;
    w->n = 0;
    w->said = memory_of(1, pool->room + 1);
    pool->n++;
}

/* A process has ended: keeps what it came to. */
static void finish(struct pool *pool, struct worker *w)
{
    struct result *result = &pool->results[w->piece];
    int status = 0;
    close(w->from);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    result->said = w->said;
    result->wrong =
        !(WIFEXITED(status) && WEXITSTATUS(status) == 0 && w->n == pool->record_bytes);
    if (result->wrong) {
        char prefix[64];
        size_t cut;
        snprintf(prefix, sizeof prefix, "coll %s: ", command_name());
        cut = strncmp(w->said, prefix, strlen(prefix)) == 0 ? strlen(prefix) : 0;
        memmove(w->said, w->said + cut, w->n + 1 - cut);
        w->said[strcspn(w->said, "\n")] = '\0';
        if (WIFSIGNALED(status))
            snprintf(w->said, pool->room, "its process was ended by signal %d",
                     WTERMSIG(status));
        else if (w->said[0] == '\0')
            snprintf(w->said, pool->room, "its process ended early");
    }
    *w = pool->worker[--pool->n];
}

/* Waits until somebody says something, and listens. */
static void listen_to(struct pool *pool, struct pollfd *polled)
{
    for (size_t i = 0; i < pool->n; i++) {
        polled[i].fd = pool->worker[i].from;
        polled[i].events = POLLIN;
        polled[i].revents = 0;
    }
    if (poll(polled, (nfds_t)pool->n, 1000) <= 0)
        return;
    for (size_t i = pool->n; i-- > 0;) { /* finish() fills a place from behind */
        struct worker *w = &pool->worker[i];
        char more[SENTENCE];
        ssize_t n;
        if (polled[i].revents == 0)
            continue;
        n = read(w->from, more, sizeof more);
        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            finish(pool, w);
            continue;
        }
        if ((size_t)n > pool->room - w->n) /* the rest of a long complaint */
            n = (ssize_t)(pool->room - w->n);
        memcpy(w->said + w->n, more, (size_t)n);
        w->n += (size_t)n;
    }
}

void workers_run(size_t first, size_t n, size_t jobs, workers_work *work, workers_done *done,
                 void *arg, size_t record_bytes)
{
    struct pool pool = {
        .worker = memory_of(jobs, sizeof(struct worker)),
        .room = record_bytes > SENTENCE ? record_bytes : SENTENCE,
        .results = memory_of(n, sizeof(struct result)),
        .record_bytes = record_bytes,
    };
    struct pollfd *polled = memory_of(jobs, sizeof *polled);
    size_t next = first, told = first;
    while (told < n) {
        while (pool.n < jobs && next < n)
            start(&pool, next++, work, arg);
        listen_to(&pool, polled);
        for (; told < n && pool.results[told].said; told++) {
            const struct result *result = &pool.results[told];
            done(arg, told, result->wrong ? NULL : result->said,
                 result->wrong ? result->said : NULL);
            free(result->said);
        }
    }
    free(polled);
    free(pool.results);
    free(pool.worker);
}
