/* A NIC's intake: whatever a host posts, and wherever its buffers and descriptors are said to be, the NIC touches
 * what it may, ends each call when the host gives up, and has nothing of it then. */
#include "coll/nic/firmware.h"
#include "coll/reduce.h"
#include "coll/transports/loopback.h"
#include "fuzz.h"

enum { CHANNELS = 3, LINES = 2, POSTS = 12, MESSAGES = 256, ROUNDS = 40 };

static uint32_t words[COLL_NIC_QUEUE_BYTES(CHANNELS) / 4];

/* Word i of the input, as far as there is one. */
static uint32_t word_of(const uint8_t *data, size_t size, size_t i)
{
    uint32_t word = 0;
    for (size_t k = 0; k < 4 && 4 * i + k < size; k++)
        word |= (uint32_t)data[4 * i + k] << 8 * k;
    return word;
}

/* Brings what a record says of an area inside the memory, in three of four cases, which no mutation would find; and
 * a descriptor there gets its marks, its length and its sum. */
static void repair(uint32_t *area, unsigned char *memory, size_t size, bool descriptor)
{
    size_t at, n;
    if (area[1] % 4 == 3)
        return;
    at = area[0] % (size + 1);
    n = area[2] % (size - at + 1);
    area[0] = (uint32_t)at;
    area[2] = (uint32_t)n;
    area[1] = area[3] = 0;
    if (!descriptor || n < COLL_I_NIC_DESCRIPTOR_HEAD + 4)
        return;
    for (unsigned i = 0; i < 4; i++) {
        memory[at + i] = (unsigned char)((uint32_t)COLL_I_NIC_DESCRIPTOR_MAGIC >> 8 * i);
        memory[at + 4 + i] = (unsigned char)(n >> 8 * i);
        memory[at + 12 + i] = 0;
    }
    for (unsigned i = 0; i < 4; i++)
        memory[at + n - 4 + i] =
            (unsigned char)(coll_i_hash(COLL_I_HASH_START, memory + at, n - 4) >> 8 * i);
}

static void run(coll_nic_firmware *firmware)
{
    for (int round = 0; round < ROUNDS; round++)
        (void)coll_nic_firmware_progress(firmware);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static unsigned char messages[COLL_LOOPBACK_BYTES(MESSAGES)];
    static coll_op ops[2];
    const size_t posts = size > 0 ? data[0] % POSTS + 1u : 0;
    const size_t head = 4 * (1 + posts * (1 + COLL_I_NIC_RECORD_WORDS));
    coll_nic_firmware_options options;
    coll_nic_firmware firmware;
    coll_loopback world;
    coll_loopback_rank end;
    unsigned char *memory, *own;
    size_t bytes;
    if (size <= head)
        return 0;
    must(coll_op_builtin(&ops[0], COLL_SUM, COLL_I32) == COLL_OK &&
             coll_op_builtin(&ops[1], COLL_MAX, COLL_F64) == COLL_OK,
         "no operators");
    must(coll_loopback_init(&world, 2, MESSAGES, messages, sizeof messages) == COLL_OK &&
             coll_loopback_attach(&world, 0, &end) == COLL_OK,
         "no world");
    bytes = size - head;
    memory = (unsigned char *)bytes_of(data + head, bytes);
    coll_nic_firmware_init_options(&options, 0, 2, &coll_loopback_transport, &end);
    options.channels = CHANNELS;
    options.lines = LINES;
    options.ops = ops;
    options.n_ops = 2;
    options.words = words;
    options.reach = memory;
    options.reach_bytes = bytes;
    own = (unsigned char *)malloc(coll_nic_firmware_bytes(&options));
    must(own && coll_nic_firmware_open(&firmware, &options, own,
                                       coll_nic_firmware_bytes(&options)) == COLL_OK,
         "the NIC does not open");
    for (size_t k = 0; k < posts; k++) {
        const size_t from = 1 + k * (1 + COLL_I_NIC_RECORD_WORDS);
        const uint32_t word = word_of(data, size, from);
        uint32_t *record = coll_i_nic_record(words, CHANNELS, (word >> 17 & 255) % CHANNELS);
        for (size_t i = 0; i < COLL_I_NIC_RECORD_WORDS; i++)
            record[i] = word_of(data, size, from + 1 + i);
        for (size_t i = 0; i < COLL_I_NIC_AREAS; i++)
            repair(record + COLL_I_NIC_RECORD_AREAS + 4 * i, memory, bytes,
                   i == COLL_I_NIC_AREA_DESCRIPTOR);
        if (word != 0)
            coll_i_nic_word_set(coll_i_nic_bell(words, CHANNELS, firmware.taken), word);
        run(&firmware);
    }
    for (uint32_t c = 0; c < CHANNELS; c++) {
        coll_nic_post post = {COLL_NIC_GIVE_UP, 0, 0, 0, 0, 0};
        post.channel = c;
        coll_i_nic_word_set(coll_i_nic_bell(words, CHANNELS, firmware.taken),
                            coll_nic_post_word(&post));
        run(&firmware);
    }
    must(firmware.running == 0, "%u calls have not ended", firmware.running);
    must(world.n_free == MESSAGES, "the transport has something of them");
    coll_nic_firmware_close(&firmware);
    free(own);
    free(memory);
    return 0;
}
