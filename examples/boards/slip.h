/* examples/boards/slip.h — frames on a serial line: each ends with one byte, END, and a CRC-16 stands in front of that
 *
 * Where a frame has the byte END or ESCAPE, two others stand for it, so that a receiver finds the next frame
 * whatever was lost. A frame with a wrong CRC is dropped.
 *
 * Source  Romkey 1988, RFC 1055 (the framing)
 */
#ifndef COLL_EXAMPLES_BOARDS_SLIP_H
#define COLL_EXAMPLES_BOARDS_SLIP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    SLIP_END = 0xc0,
    SLIP_ESCAPE = 0xdb,
    SLIP_FOR_END = 0xdc,
    SLIP_FOR_ESCAPE = 0xdd,
    SLIP_CHECK = 2
};

/* Bytes on the line of a frame, at most. */
#define SLIP_BYTES(bytes) (2 * ((bytes) + SLIP_CHECK) + 2)

/* A frame that comes in. */
typedef struct slip_in {
    unsigned char *frame; /* the caller's */
    size_t room, bytes;   /* what does not fit is dropped */
    uint16_t crc;
    bool escaped;
} slip_in;

static inline uint16_t slip_crc(uint16_t crc, unsigned char byte) /* x¹⁶ + x¹² + x⁵ + 1 */
{
    crc = (uint16_t)(crc ^ byte << 8);
    for (int bit = 0; bit < 8; bit++)
        crc = (uint16_t)(crc & 0x8000u ? crc << 1 ^ 0x1021 : crc << 1);
    return crc;
}

static inline void slip_begin(slip_in *in, unsigned char *frame, size_t room)
{
    in->frame = frame;
    in->room = room;
    in->bytes = 0;
    in->crc = 0xffff;
    in->escaped = false;
}

/* Takes a byte. If a frame ends with it: the frame's bytes, else 0. */
static inline size_t slip_take(slip_in *in, unsigned char byte)
{
    if (byte == SLIP_END) { /* the CRC of what ends with its CRC is 0 */
        const size_t bytes = in->crc == 0 && in->bytes > SLIP_CHECK && in->bytes <= in->room
                                 ? in->bytes - SLIP_CHECK
                                 : 0;
        slip_begin(in, in->frame, in->room);
        return bytes;
    }
    if (byte == SLIP_ESCAPE) {
        in->escaped = true;
        return 0;
    }
    if (in->escaped)
        byte = byte == SLIP_FOR_END ? SLIP_END : SLIP_ESCAPE;
    in->escaped = false;
    if (in->bytes < in->room)
        in->frame[in->bytes] = byte;
    in->bytes++;
    in->crc = slip_crc(in->crc, byte);
    return 0;
}

/* Writes a byte of a frame as one or two; how many. */
static inline size_t slip_put(unsigned char *out, unsigned char byte)
{
    const bool escapes = byte == SLIP_END || byte == SLIP_ESCAPE;
    out[0] = escapes ? SLIP_ESCAPE : byte;
    if (escapes)
        out[1] = byte == SLIP_END ? SLIP_FOR_END : SLIP_FOR_ESCAPE;
    return escapes ? 2 : 1;
}

/* Writes a whole frame as it is on the line; how many bytes that are. */
static inline size_t slip_write(unsigned char *out, const unsigned char *frame, size_t bytes)
{
    uint16_t crc = 0xffff;
    size_t at = 0;
    for (size_t i = 0; i < bytes; i++) {
        crc = slip_crc(crc, frame[i]);
        at += slip_put(out + at, frame[i]);
    }
    at += slip_put(out + at, (unsigned char)(crc >> 8));
    at += slip_put(out + at, (unsigned char)crc);
    out[at++] = SLIP_END;
    return at;
}

#endif /* COLL_EXAMPLES_BOARDS_SLIP_H */
