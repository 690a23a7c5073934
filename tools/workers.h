/* tools/workers.h — many independent pieces of work, each in a process of its own, as many at a time as wanted
 *
 *   static void work(void *arg, size_t i, void *record) { … refuse(…) …; fill *record }
 *   static void done(void *arg, size_t i, const void *record, const char *sentence) { … print … }
 *   workers_run(first, n, jobs, work, done, arg, sizeof(struct record));
 *
 * A process a piece: what one is refused, or dies of, is its own result and not the end of the others; and its
 * memory is gone with it.
 */
#ifndef COLL_TOOLS_WORKERS_H
#define COLL_TOOLS_WORKERS_H

#include <stddef.h>

enum { WORKERS_MOST = 1024 };

/* Does a piece, in its process: fills the record, of the size that workers_run was given. May refuse(). */
typedef void workers_work(void *arg, size_t i, void *record);
/* Takes what a piece came to, in the calling process: its record; or NULL and a sentence that says why there
 * is none. Called for first, first + 1 … n − 1, in this order. */
typedef void workers_done(void *arg, size_t i, const void *record, const char *sentence);

/* Runs pieces first … n − 1, at most `jobs` of them at a time, and returns when the last one is done. The caller's
 * files are flushed by `done`, or before. Refuses if no process can be started. */
void workers_run(size_t first, size_t n, size_t jobs, workers_work *work, workers_done *done,
                 void *arg, size_t record_bytes);

#endif /* COLL_TOOLS_WORKERS_H */
