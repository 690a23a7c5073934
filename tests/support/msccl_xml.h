/* tests/support/msccl_xml.h — reads MSCCL's XML as its executors do, and refuses what they refuse
 *
 * Attributes are separated by one space and stand between double quotes, nothing comes before
 * <algo>, and there are no tabs. Blocks of a GPU are numbered from 0, steps of a block too; the
 * peers, buffers, counts and dependences are within the executors' bounds.
 */
#ifndef COLL_TESTS_EXPORT_MSCCL_XML_H
#define COLL_TESTS_EXPORT_MSCCL_XML_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { XML_S, XML_R, XML_RCS, XML_RRC, XML_RRS, XML_RRCS, XML_CPY, XML_RE, XML_NOP, XML_TYPES };
static const char *const xml_types[] = {"s",    "r",   "rcs", "rrc", "rrs",
                                        "rrcs", "cpy", "re",  "nop"};

typedef struct xml_step {
    int type, src_buffer, src, dst_buffer, dst, count, block, after, awaited;
} xml_step;

typedef struct xml_block {
    int send, recv, channel, n;
    xml_step *steps;
} xml_block;

typedef struct xml_gpu {
    int chunks[3], n;
    xml_block *blocks;
} xml_gpu;

typedef struct xml_algo {
    char name[256], protocol[16], collective[32];
    int channels, chunks, p, in_place, out_of_place;
    xml_gpu *gpus;
    const char *at;
} xml_algo;

static inline void xml_free(xml_algo *a)
{
    for (int g = 0; a->gpus && g < a->p; g++) {
        for (int b = 0; b < a->gpus[g].n; b++)
            free(a->gpus[g].blocks[b].steps);
        free(a->gpus[g].blocks);
    }
    free(a->gpus);
}

/* The next characters must be these. */
static inline bool xml_text(xml_algo *a, const char *text)
{
    const size_t n = strlen(text);
    if (strncmp(a->at, text, n) != 0)
        return false;
    a->at += n;
    return true;
}

/* Blanks between tags. */
static inline void xml_skip(xml_algo *a)
{
    a->at += strspn(a->at, " \n");
}

/* One space, the name, and a value that fits. */
static inline bool xml_word(xml_algo *a, const char *name, char *value, size_t room)
{
    size_t n;
    if (!xml_text(a, " ") || !xml_text(a, name) || !xml_text(a, "=\""))
        return false;
    n = strcspn(a->at, "\"\n\t<>");
    if (a->at[n] != '"' || n >= room)
        return false;
    memcpy(value, a->at, n);
    value[n] = '\0';
    a->at += n + 1;
    return true;
}

static inline bool xml_number(xml_algo *a, const char *name, int least, int most, int *value)
{
    char text[16], again[16];
    if (!xml_word(a, name, text, sizeof text))
        return false;
    *value = (int)strtol(text, NULL, 10);
    snprintf(again, sizeof again, "%d", *value);
    return strcmp(text, again) == 0 && *value >= least && *value <= most;
}

/* A buffer and an offset, which is −1 where it is not used. */
static inline bool xml_ref(xml_algo *a, const char *side, const xml_gpu *gpu, bool used,
                           int *buffer, int *offset)
{
    char name[16], value[4];
    const char *letter;
    snprintf(name, sizeof name, "%sbuf", side);
    if (!xml_word(a, name, value, sizeof value) || strlen(value) != 1)
        return false;
    letter = strchr("ios", value[0]);
    if (!letter)
        return false;
    *buffer = (int)(letter - strchr("i", 'i'));
    *buffer = value[0] == 'i' ? 0 : value[0] == 'o' ? 1 : 2;
    snprintf(name, sizeof name, "%soff", side);
    return xml_number(a, name, used ? 0 : -1, used ? 32767 : -1, offset) &&
           (!used || *offset < gpu->chunks[*buffer]);
}

static inline bool xml_step_read(xml_algo *a, const xml_gpu *gpu, xml_block *block, int most)
{
    char type[8];
    int number;
    xml_step *step;
    bool reads, writes;
    block->steps =
        (xml_step *)realloc(block->steps, ((size_t)block->n + 1) * sizeof *block->steps);
    step = &block->steps[block->n];
    if (!xml_number(a, "s", block->n, block->n, &number) || block->n >= most ||
        !xml_word(a, "type", type, sizeof type))
        return false;
    for (step->type = 0; step->type < XML_TYPES; step->type++)
        if (strcmp(xml_types[step->type], type) == 0)
            break;
    if (step->type == XML_TYPES)
        return false;
    reads = step->type != XML_R && step->type != XML_RCS && step->type != XML_NOP;
    writes = step->type != XML_S && step->type != XML_RRS && step->type != XML_NOP;
    if (!xml_ref(a, "src", gpu, reads, &step->src_buffer, &step->src) ||
        !xml_ref(a, "dst", gpu, writes, &step->dst_buffer, &step->dst) ||
        !xml_number(a, "cnt", step->type != XML_NOP, step->type != XML_NOP ? 71 : 0,
                    &step->count) ||
        !xml_number(a, "depid", -1, 127, &step->block) ||
        !xml_number(a, "deps", step->block < 0 ? -1 : 0, step->block < 0 ? -1 : most - 1,
                    &step->after) ||
        !xml_number(a, "hasdep", 0, 1, &step->awaited) || !xml_text(a, "/>"))
        return false;
    if ((reads && step->src + step->count > gpu->chunks[step->src_buffer]) ||
        (writes && step->dst + step->count > gpu->chunks[step->dst_buffer]) ||
        (writes && step->dst_buffer == 0))
        return false;
    if (step->type == XML_NOP && (step->block < 0 || step->awaited))
        return false;
    if (block->n > 0 && block->steps[block->n - 1].type == XML_NOP && step->block < 0)
        return false; /* the last of a chain of dependences must be a step of some use */
    if ((block->send < 0 && (step->type == XML_S || step->type == XML_RCS ||
                             step->type == XML_RRS || step->type == XML_RRCS)) ||
        (block->recv < 0 && step->type != XML_S && step->type < XML_CPY))
        return false;
    block->n++;
    return true;
}

static inline bool xml_block_read(xml_algo *a, xml_gpu *gpu, int id, int most)
{
    int number;
    xml_block *block;
    gpu->blocks = (xml_block *)realloc(gpu->blocks, ((size_t)gpu->n + 1) * sizeof *gpu->blocks);
    block = &gpu->blocks[gpu->n];
    memset(block, 0, sizeof *block);
    if (!xml_number(a, "id", gpu->n, gpu->n, &number) || gpu->n > 127 ||
        !xml_number(a, "send", -1, a->p - 1, &block->send) ||
        !xml_number(a, "recv", -1, a->p - 1, &block->recv) ||
        !xml_number(a, "chan", 0, a->channels - 1, &block->channel) || !xml_text(a, ">") ||
        block->send == id || block->recv == id)
        return false;
    gpu->n++;
    for (int b = 0; b + 1 < gpu->n; b++) /* one block for each peer, way and channel */
        if (gpu->blocks[b].channel == block->channel &&
            ((block->send >= 0 && gpu->blocks[b].send == block->send) ||
             (block->recv >= 0 && gpu->blocks[b].recv == block->recv)))
            return false;
    for (xml_skip(a); xml_text(a, "<step"); xml_skip(a))
        if (!xml_step_read(a, gpu, block, most))
            return false;
    return xml_text(a, "</tb>") && block->n > 0 && block->steps[block->n - 1].type != XML_NOP;
}

/* Do dependences name steps that are awaited, and has no channel too many peers? */
static inline bool xml_gpu_check(const xml_gpu *gpu, int channels)
{
    for (int c = 0; c < channels; c++) {
        int sends = 0, receives = 0;
        for (int b = 0; b < gpu->n; b++) {
            sends += gpu->blocks[b].channel == c && gpu->blocks[b].send >= 0;
            receives += gpu->blocks[b].channel == c && gpu->blocks[b].recv >= 0;
        }
        if (sends > 32 || receives > 32)
            return false;
    }
    for (int b = 0; b < gpu->n; b++)
        for (int s = 0; s < gpu->blocks[b].n; s++) {
            const xml_step *step = &gpu->blocks[b].steps[s];
            if (step->block >= 0 && (step->block >= gpu->n || step->block == b ||
                                     step->after >= gpu->blocks[step->block].n ||
                                     !gpu->blocks[step->block].steps[step->after].awaited))
                return false;
        }
    return true;
}

/* Reads a file; `most` steps of a block. */
static inline bool xml_read(xml_algo *a, const char *text, int most)
{
    int number;
    memset(a, 0, sizeof *a);
    a->at = text;
    if (!xml_text(a, "<algo") || !xml_word(a, "name", a->name, sizeof a->name) ||
        !xml_word(a, "proto", a->protocol, sizeof a->protocol) ||
        !xml_number(a, "nchannels", 1, 32, &a->channels) ||
        !xml_number(a, "nchunksperloop", 1, 32767, &a->chunks) ||
        !xml_number(a, "ngpus", 1, 32767, &a->p) ||
        !xml_word(a, "coll", a->collective, sizeof a->collective) ||
        !xml_number(a, "inplace", 0, 1, &a->in_place) ||
        !xml_number(a, "outofplace", !a->in_place, !a->in_place, &a->out_of_place) ||
        !xml_number(a, "minBytes", 0, 0, &number) ||
        !xml_number(a, "maxBytes", 0, 0, &number) || !xml_text(a, ">"))
        return false;
    a->gpus = (xml_gpu *)calloc((size_t)a->p, sizeof *a->gpus);
    for (int g = 0; g < a->p; g++) {
        xml_gpu *gpu = &a->gpus[g];
        xml_skip(a);
        if (!xml_text(a, "<gpu") || !xml_number(a, "id", g, g, &number) ||
            !xml_number(a, "i_chunks", 0, 32767, &gpu->chunks[0]) ||
            !xml_number(a, "o_chunks", 0, 32767, &gpu->chunks[1]) ||
            !xml_number(a, "s_chunks", 0, 32767, &gpu->chunks[2]) || !xml_text(a, ">"))
            return false;
        for (xml_skip(a); xml_text(a, "<tb"); xml_skip(a))
            if (!xml_block_read(a, gpu, g, most))
                return false;
        if (!xml_text(a, "</gpu>") || !xml_gpu_check(gpu, a->channels))
            return false;
    }
    xml_skip(a);
    return xml_text(a, "</algo>\n") && *a->at == '\0';
}

#endif /* COLL_TESTS_EXPORT_MSCCL_XML_H */
