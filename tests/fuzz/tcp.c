/* Frames of TCP, as any peer may send them: they are taken or refused, and a rank never keeps more than the credit
 * that its peer has; receives get what is theirs, and nothing is written but their bytes. */
#include "coll/transports/tcp.h"
#include "fuzz.h"

enum { RECEIVES = 4, SENDS = 3, ROOM = 5000 };

static const size_t wanted[RECEIVES] = {0, 8, 100, ROOM};

typedef struct world {
    coll_tcp *tcp;
    coll_i_tcp_link *link;
    unsigned char *buffers[RECEIVES];
    coll_handle receives[RECEIVES], sends[SENDS];
    bool posted[RECEIVES];
    int far;
} world;

/* Rank 1 of 2, to which rank 0 has a connection that takes whatever is written. */
static void begin(world *its, unsigned posts)
{
    static unsigned char sent[ROOM];
    char why[COLL_TCP_WHY];
    coll_tcp_options options = {0};
    coll_tcp_address all[2];
    int ends[2];
    options.interfaces = "127.0.0.0/8";
    memset(its, 0, sizeof *its);
    its->tcp = coll_tcp_open(1, 2, &options, why);
    must(its->tcp != NULL, "%s", why);
    all[0] = all[1] = coll_tcp_own_address(its->tcp);
    must(coll_tcp_join(its->tcp, all, why), "%s", why);
    its->link = coll_i_tcp_link_of(its->tcp, 0);
    must(its->link != NULL, "no memory");
    must(socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0, "no socket");
    its->link->fd = ends[0];
    its->far =
        ends[1]; /* nobody reads there: what is written is kept, as far as there is room */
    its->link->stage = COLL_I_TCP_UP;
    its->link->credit = 1000; /* so the last send waits for its receive */
    for (unsigned i = 0; i < RECEIVES; i++) {
        its->buffers[i] = malloc(wanted[i] + 1);
        must(its->buffers[i] != NULL, "no memory");
        if (posts >> i & 1) {
            must(coll_tcp_transport.recv(its->tcp, 0, i, its->buffers[i], wanted[i],
                                         &its->receives[i]) == COLL_STARTED,
                 "it does not start");
            its->posted[i] = true;
        }
    }
    for (unsigned i = 0; i < SENDS; i++)
        (void)coll_tcp_transport.send(its->tcp, 0, i, sent, i * 2000, &its->sends[i]);
}

static void look(const world *its)
{
    must(its->link->taken <= its->link->allowed, "more than its credit");
    must(its->tcp->kept <= its->link->allowed, "%zu bytes are kept", its->tcp->kept);
    must(its->link->credit <= its->link->allowed, "more credit than there is");
}

/* A frame of eight bytes, with a body of so many bytes as it says. */
static size_t frame_of(const uint8_t *bytes, const world *its, unsigned char *out)
{
    coll_i_tcp_frame frame;
    const coll_i_tcp_op *op = (const coll_i_tcp_op *)its->receives[bytes[3] % RECEIVES].word[0];
    frame.kind = bytes[0] % 10;
    frame.credit = bytes[0] >= 250 ? 77 : 0;
    frame.tag = bytes[1] % 6;
    frame.send = bytes[2];
    frame.recv = bytes[3] >= 128 || !op ? bytes[3] : op->id;
    frame.part = (uint32_t)(bytes[4] | (bytes[5] & 31) << 8);
    frame.bytes = bytes[5] & 128 ? frame.part : (uint64_t)(bytes[6] | (bytes[7] & 31) << 8);
    coll_i_tcp_put_frame(out, &frame);
    memset(out + COLL_I_TCP_HEAD, bytes[6], frame.part);
    return COLL_I_TCP_HEAD + frame.part;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char stream[COLL_I_TCP_HEAD + (1 << 13)];
    world its;
    bool well = true;
    size_t at = 2;
    if (size < 2)
        return 0;
    begin(&its, data[0]);
    while (at < size && well) {
        const bool raw = data[1] & 1;
        const uint8_t *bytes = data + at;
        unsigned char *from = stream;
        size_t n;
        if (!raw && size - at < 8)
            break;
        if (raw) {
            n = size - at < sizeof stream ? size - at : sizeof stream;
            memcpy(stream, bytes, n);
        } else {
            n = frame_of(bytes, &its, stream);
        }
        at += raw ? n : 8;
        while (n > 0 && well) { /* in pieces of any length */
            const size_t piece = data[1] > 200 && n > data[1] ? data[1] - 199u : n;
            well = coll_i_tcp_take_in(its.tcp, its.link, from, piece);
            from += piece;
            n -= piece;
            look(&its);
        }
        if (data[1] & 2)
            for (unsigned i = 0; i < RECEIVES; i++)
                if (!its.posted[i] && data[0] >> (i + 4) & 1) {
                    const coll_status status = coll_tcp_transport.recv(
                        its.tcp, 0, i, its.buffers[i], wanted[i], &its.receives[i]);
                    its.posted[i] = status == COLL_STARTED;
                    look(&its);
                }
    }
    if (!well)
        coll_i_tcp_lose(its.tcp, its.link);
    for (unsigned i = 0; i < RECEIVES; i++) {
        if (its.posted[i])
            coll_tcp_transport.failure->cancel(its.tcp, &its.receives[i]);
        free(its.buffers[i]);
    }
    coll_tcp_abandon(its.tcp);
    (void)close(its.far);
    return 0;
}
