/* examples/boards/switch.c — an Ethernet of loopback sockets, on which frames are lost: what QEMU's cards are plugged into
 *
 *   switch [LOST [REPEATED [REORDERED [SEED]]]]      of 1000 copies of a frame
 *
 * Prints the number of a UDP port of 127.0.0.1, and of a TCP port. Every datagram to the first is a frame:
 * the switch learns which address is at which socket, and passes frames on to that socket, or to all others
 * if it does not know, or if the frame is a multicast. QEMU has this as -nic socket,udp=127.0.0.1:PORT.
 * To the TCP port boards without a card connect their serial lines (serial.c).
 *
 * It ends when its standard input does, and then says how many copies it passed on and how many it lost.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "slip.h"

enum { PLUGS = 32, ADDRESSES = 64, FRAME = 1514, OUT = 1 << 13 };

/* A socket of a card, or a serial line. */
struct plug {
    struct sockaddr_in at; /* a card's */
    int line;              /* or −1 */
    slip_in in;
    unsigned char frame[FRAME + SLIP_CHECK];
    unsigned char out[OUT]; /* bytes that the line has not taken yet */
    size_t queued;
    unsigned char kept[FRAME]; /* a frame that the next one overtakes */
    size_t kept_bytes;
};

static struct plug plugs[PLUGS];
static struct {
    unsigned char address[6];
    uint32_t plug;
} known[ADDRESSES];
static uint32_t n_plugs, n_known;
static unsigned long passed, lost, of_lost, of_repeated, of_reordered;
static uint64_t state = 1;
static int udp;

static bool happens(unsigned long of_1000)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return of_1000 != 0 && (state >> 33) % 1000 < of_1000;
}

static void fail(const char *what)
{
    (void)fprintf(stderr, "switch: %s: %s\n", what, strerror(errno));
    exit(1);
}

/* Sends bytes to a line, or as many as it takes now; others later, as far as there is room. */
static void push(struct plug *to)
{
    const ssize_t n = send(to->line, to->out, to->queued, MSG_NOSIGNAL);
    if (n > 0) {
        to->queued -= (size_t)n;
        memmove(to->out, to->out + n, to->queued);
    }
}

static void put(struct plug *to, const unsigned char *frame, size_t bytes)
{
    passed++;
    if (to->line < 0) {
        (void)sendto(udp, frame, bytes, 0, (const struct sockaddr *)&to->at, sizeof to->at);
    } else if (OUT - to->queued >= SLIP_BYTES(bytes)) { /* else it is lost, as by any switch */
        to->queued += slip_write(to->out + to->queued, frame, bytes);
        push(to);
    }
}

/* Passes a copy on, or loses, repeats or keeps it. */
static void copy(struct plug *to, const unsigned char *frame, size_t bytes)
{
    if (happens(of_lost)) {
        lost++;
        return;
    }
    if (to->kept_bytes == 0 && happens(of_reordered)) {
        memcpy(to->kept, frame, bytes);
        to->kept_bytes = bytes;
        return;
    }
    put(to, frame, bytes);
    if (happens(of_repeated))
        put(to, frame, bytes);
    if (to->kept_bytes != 0)
        put(to, to->kept, to->kept_bytes);
    to->kept_bytes = 0;
}

static uint32_t plug_of(const unsigned char *address)
{
    for (uint32_t i = 0; i < n_known; i++)
        if (memcmp(known[i].address, address, 6) == 0)
            return known[i].plug;
    return PLUGS;
}

static void forward(uint32_t from, const unsigned char *frame, size_t bytes)
{
    uint32_t to;
    if (bytes < 14)
        return;
    if (plug_of(frame + 6) == PLUGS && n_known < ADDRESSES) {
        memcpy(known[n_known].address, frame + 6, 6);
        known[n_known++].plug = from;
    }
    to = frame[0] & 1 ? PLUGS : plug_of(frame);
    for (uint32_t i = 0; i < n_plugs; i++)
        if (i != from && (to == PLUGS || to == i))
            copy(&plugs[i], frame, bytes);
}

static uint32_t plug_in(int line)
{
    if (n_plugs == PLUGS)
        return PLUGS;
    plugs[n_plugs].line = line;
    slip_begin(&plugs[n_plugs].in, plugs[n_plugs].frame, sizeof plugs[n_plugs].frame);
    return n_plugs++;
}

static void take_datagrams(void)
{
    unsigned char frame[FRAME];
    struct sockaddr_in from;
    socklen_t length = sizeof from;
    ssize_t n;
    while ((n = recvfrom(udp, frame, sizeof frame, 0, (struct sockaddr *)&from, &length)) > 0) {
        uint32_t i = 0;
        while (i < n_plugs && (plugs[i].line >= 0 || plugs[i].at.sin_port != from.sin_port))
            i++;
        if (i == n_plugs && (i = plug_in(-1)) != PLUGS)
            plugs[i].at = from;
        if (i != PLUGS)
            forward(i, frame, (size_t)n);
    }
}

/* False: the line is gone. */
static bool take_bytes(uint32_t from)
{
    unsigned char bytes[512];
    const ssize_t n = read(plugs[from].line, bytes, sizeof bytes);
    if (n == 0 || (n < 0 && errno != EAGAIN))
        return false;
    for (ssize_t i = 0; i < n; i++) {
        const size_t frame = slip_take(&plugs[from].in, bytes[i]);
        if (frame != 0)
            forward(from, plugs[from].frame, frame);
    }
    return true;
}

/* A socket of the loopback interface; its port. */
static int open_socket(int type, unsigned *port)
{
    struct sockaddr_in at;
    socklen_t length = sizeof at;
    const int fd = socket(AF_INET, type, 0);
    memset(&at, 0, sizeof at);
    at.sin_family = AF_INET;
    at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (fd < 0 || bind(fd, (const struct sockaddr *)&at, sizeof at) != 0 ||
        getsockname(fd, (struct sockaddr *)&at, &length) != 0 ||
        fcntl(fd, F_SETFL, O_NONBLOCK) != 0 || (type == SOCK_STREAM && listen(fd, PLUGS) != 0))
        fail("there is no socket");
    *port = ntohs(at.sin_port);
    return fd;
}

int main(int argc, char **argv)
{
    unsigned udp_port, tcp_port;
    const int tcp = open_socket(SOCK_STREAM, &tcp_port);
    udp = open_socket(SOCK_DGRAM, &udp_port);
    of_lost = argc > 1 ? strtoul(argv[1], NULL, 10) : 0;
    of_repeated = argc > 2 ? strtoul(argv[2], NULL, 10) : 0;
    of_reordered = argc > 3 ? strtoul(argv[3], NULL, 10) : 0;
    state = argc > 4 ? strtoul(argv[4], NULL, 10) : 1;
    printf("%u %u\n", udp_port, tcp_port);
    (void)fflush(stdout);
    for (;;) {
        struct pollfd polled[3 + PLUGS];
        uint32_t n = 3;
        const int fds[3] = {STDIN_FILENO, udp, tcp};
        for (uint32_t i = 0; i < 3 + n_plugs; i++) {
            const bool line = i >= 3;
            polled[i].fd = line ? plugs[i - 3].line : fds[i];
            polled[i].events = (short)(POLLIN | (line && plugs[i - 3].queued ? POLLOUT : 0));
            polled[i].revents = 0;
        }
        n += n_plugs;
        if (poll(polled, n, -1) < 0 && errno != EINTR)
            fail("poll");
        for (uint32_t i = 3; i < n; i++) {
            if (polled[i].fd >= 0 && (polled[i].revents & POLLOUT))
                push(&plugs[i - 3]);
            if (polled[i].fd >= 0 && (polled[i].revents & (POLLIN | POLLHUP)) &&
                !take_bytes(i - 3)) {
                (void)close(polled[i].fd);
                plugs[i - 3].line = -1; /* its port 0 is nobody's */
                plugs[i - 3].queued = 0;
            }
        }
        if (polled[1].revents & POLLIN)
            take_datagrams();
        if (polled[2].revents & POLLIN) {
            const int line = accept(tcp, NULL, NULL);
            if (line >= 0 && (fcntl(line, F_SETFL, O_NONBLOCK) != 0 || plug_in(line) == PLUGS))
                (void)close(line);
        }
        if (polled[0].revents != 0 && read(STDIN_FILENO, &(char){0}, 1) <= 0)
            break;
    }
    (void)fprintf(stderr, "switch: %lu frames passed on, %lu lost\n", passed, lost);
    return 0;
}
