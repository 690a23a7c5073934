/* examples/boards/power.h — a board in a QEMU of its own as the card of this process: on, off, and interrupts
 *
 * The board's memory is a file, of which this process maps the window (card.h). Its UART is a socket. What has
 * been switched off reaches no memory any more.
 */
#ifndef COLL_EXAMPLES_BOARDS_POWER_H
#define COLL_EXAMPLES_BOARDS_POWER_H

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "card.h"

typedef struct card {
    card_window *window;
    int line;    /* the board's UART */
    pid_t board; /* its QEMU; 0: it is off */
} card;

/* Makes the memory of a board, and maps the window. */
static inline bool card_map(card *c, const char *file)
{
    const int fd = open(file, O_RDWR | O_CREAT | O_EXCL, 0600);
    void *at = MAP_FAILED;
    if (fd >= 0 && ftruncate(fd, CARD_RAM) == 0)
        at = mmap(NULL, sizeof *c->window, PROT_READ | PROT_WRITE, MAP_SHARED, fd, CARD_WINDOW);
    if (fd >= 0)
        (void)close(fd);
    c->window = (card_window *)at;
    return at != MAP_FAILED;
}

/* In the child: the board. It goes when its host does. */
static inline void card_be(const char *file, unsigned port, char *const *command)
{
    char options[1024], wire[64], *arguments[16];
    const char *more = getenv("QEMU_OPTIONS");
    size_t n = 0;
    (void)snprintf(options, sizeof options,
                   "%s -m %uM -object memory-backend-file,id=ram,share=on,size=%uM,mem-path=%s "
                   "-machine memory-backend=ram",
                   more ? more : "", CARD_RAM >> 20, CARD_RAM >> 20, file);
    (void)snprintf(wire, sizeof wire, "tcp:127.0.0.1:%u,nodelay=on", port);
    for (; command[n] && n < sizeof arguments / sizeof *arguments - 2; n++)
        arguments[n + (n > 2)] = command[n];
    arguments[3] = wire;
    arguments[n + 1] = NULL;
    if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && setenv("QEMU_OPTIONS", options, 1) == 0)
        (void)execv(arguments[0], arguments);
    perror(arguments[0]);
    _exit(127);
}

/* Switches a board on. `command`: qemu.sh, the board, its image, and what the image is given; QEMU_OPTIONS have
 * its network. False: it does not start within so many milliseconds. */
static inline bool card_on(card *c, const char *file, char *const *command, int milliseconds)
{
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    struct pollfd calls;
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    c->line = -1;
    c->board = 0;
    if (!card_map(c, file) || fd < 0 ||
        bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0)
        return false;
    c->board = fork();
    if (c->board == 0)
        card_be(file, ntohs(at.sin_port), command);
    calls.fd = fd;
    calls.events = POLLIN;
    if (c->board > 0 && poll(&calls, 1, milliseconds) > 0)
        c->line = accept(fd, NULL, NULL);
    (void)close(fd);
    return c->line >= 0;
}

typedef enum card_news { CARD_SILENT, CARD_SPOKE, CARD_GONE } card_news;

/* Sleeps until the board interrupts, or for so many milliseconds. */
static inline card_news card_sleep(const card *c, int milliseconds)
{
    struct pollfd line;
    char bytes[64];
    line.fd = c->line;
    line.events = POLLIN;
    if (poll(&line, 1, milliseconds) <= 0)
        return CARD_SILENT;
    return recv(c->line, bytes, sizeof bytes, MSG_DONTWAIT) > 0 ? CARD_SPOKE : CARD_GONE;
}

/* Waits until the board has stopped; its exit code, or −1. */
static inline int card_wait(card *c)
{
    int state = 0;
    if (c->board <= 0 || waitpid(c->board, &state, 0) != c->board)
        return -1;
    c->board = 0;
    return WIFEXITED(state) ? WEXITSTATUS(state) : -1;
}

/* Takes a board's power. */
static inline void card_off(card *c)
{
    if (c->board > 0 && kill(c->board, SIGTERM) == 0)
        (void)card_wait(c);
}

/* Has a board leave the others in peace, and stop; its exit code. */
static inline int card_leave(card *c)
{
    const char byte = 1;
    (void)!send(c->line, &byte, 1, MSG_NOSIGNAL);
    return card_wait(c);
}

#endif /* COLL_EXAMPLES_BOARDS_POWER_H */
