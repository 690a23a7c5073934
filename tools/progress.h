/* tools/progress.h — one line on stderr that says how far a long job is
 *
 * On a terminal the line is rewritten a few times a second, after the first second; elsewhere a
 * line is printed every ten seconds.
 */
#ifndef COLL_TOOLS_PROGRESS_H
#define COLL_TOOLS_PROGRESS_H

/* Seconds on a clock that only goes forward. */
double seconds_now(void);

/* Says how far the job is, if it is time to say it. */
void progress_say(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Takes the line away, before anything else is printed. */
void progress_clear(void);

#endif /* COLL_TOOLS_PROGRESS_H */
