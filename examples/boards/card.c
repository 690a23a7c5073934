/* examples/boards/card.c — a board that is the network card of a host: it takes words, and runs collectives with other boards
 *
 * Arguments: this board's rank, how many boards there are, milliseconds after which a silent board is dead, and
 * after which a message is sent again, and a session. The same on all boards, but for the rank.
 *
 * It knows nothing of the collectives that its host calls but what is in the window (card.h). Exit code 0: the host has sent
 * it away. 2: the arguments are wrong. 3: there is no network card. 4: the NIC could not be opened.
 */
#include "card.h"
#include "nic.h"

#include "coll/nic/firmware.h"
#include "coll/reduce.h"

/* Messages of all calls that the card may have to start at once, and as many sends. */
enum { RANKS = 16, OPS = 2 * CARD_CHANNELS * CARD_RECEIVES, EARLY = 16, ABLE = 4 };

static coll_ethernet ethernet;
static unsigned char messages[COLL_ETHERNET_BYTES(RANKS, OPS, EARLY)];
static uint64_t programs[(512 << 10) / 8];

static void interrupt(void *ctx)
{
    (void)ctx;
    (void)board_put(1); /* busy: the byte before this one will wake the host */
}

static void say(const char *what)
{
    board_print(board_name);
    board_print(": ");
    board_print(what);
    board_print("\n");
}

/* Opens the Ethernet card, and the transport over it. */
static coll_status join(const uint32_t *argument)
{
    const uint32_t tick = board_hz / 1000;
    coll_ethernet_options options;
    unsigned char address[6];
    options.driver = &nic_driver;
    options.nic = NULL;
    options.rank = argument[0];
    options.p = argument[1];
    options.patience = argument[2] * tick;
    options.retry = argument[3] * tick;
    options.session = argument[4];
    options.ops = OPS;
    options.early = EARLY;
    coll_ethernet_address(options.session, options.rank, address);
    return nic_open(address)
               ? coll_ethernet_init(&ethernet, &options, messages, sizeof messages)
               : COLL_ERR_IO;
}

/* Is the NIC until the host sends it away. */
static coll_status serve(uint32_t rank, uint32_t p)
{
    static const struct {
        coll_operator op;
        coll_type type;
    } able[ABLE] = {
        {COLL_SUM, COLL_I32}, {COLL_SUM, COLL_F32}, {COLL_SUM, COLL_F64}, {COLL_MAX, COLL_I64}};
    static coll_op ops[ABLE];
    static coll_nic_firmware firmware;
    static coll_nic_firmware_options options;
    card_window *window = (card_window *)(uintptr_t)CARD_AT;
    coll_status status = COLL_OK;
    uint8_t byte;
    for (uint32_t i = 0; i < ABLE && status == COLL_OK; i++)
        status = coll_op_builtin(&ops[i], able[i].op, able[i].type);
    coll_nic_firmware_init_options(&options, rank, p, &coll_ethernet_transport, &ethernet);
    options.channels = CARD_CHANNELS;
    options.lines = CARD_LINES;
    options.limits.ops = CARD_OPS;
    options.limits.counters = CARD_COUNTERS;
    options.limits.receives = CARD_RECEIVES;
    options.ops = ops;
    options.n_ops = ABLE;
    options.words = window->words;
    options.reach = window->memory;
    options.reach_bytes = sizeof window->memory;
    options.interrupt = interrupt;
    if (status == COLL_OK)
        status = coll_nic_firmware_open(&firmware, &options, programs, sizeof programs);
    if (status != COLL_OK)
        return status;
    interrupt(NULL); /* the queue is open */
    while (!board_get(&byte))
        if (coll_nic_firmware_progress(&firmware) == COLL_AGAIN)
            nic_wait();
    coll_nic_firmware_close(&firmware);
    return COLL_OK;
}

int main(void)
{
    uint32_t argument[5];
    coll_status status;
    if (board_arguments(argument, 5) != 5 || argument[0] >= argument[1] ||
        argument[1] > RANKS) {
        say("arguments: RANK RANKS MILLISECONDS RETRY SESSION");
        return 2;
    }
    status = join(argument);
    if (status != COLL_OK) {
        say(status == COLL_ERR_IO ? "there is no network card" : coll_status_text(status));
        return 3;
    }
    status = serve(argument[0], argument[1]);
    if (status != COLL_OK) {
        say(coll_status_text(status));
        return 4;
    }
    while (coll_ethernet_leave(&ethernet) == COLL_AGAIN)
        nic_wait();
    board_print(board_name);
    board_print(", card of rank ");
    board_print_number(argument[0]);
    board_print(": ");
    board_print_number(board_stack_used());
    board_print(" bytes of stack\n");
    return 0;
}
