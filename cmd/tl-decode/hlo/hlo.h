/* SPDX-License-Identifier: MIT */
/*
 * hlo: the XLA modules of a file, of which those instructions are written that
 * events name: a metadata record each, as tl-stream(5) has it.
 */
#ifndef TL_DECODE_HLO_H
#define TL_DECODE_HLO_H

#include "cmd/tl-decode/decode.h"

/*
 * The id behind a module's name, "jit_f(17)"; without one number, that of its
 * metadata, which is the same in older files, and from JAX 0.11 on some other.
 */
uint64_t hlo_program(struct str name, uint64_t number);

struct hlo *hlo_create(void);
void hlo_destroy(struct hlo *h);

/*
 * An event names this instruction of this program. text: the instruction as
 * HLO's text, if the file has it beside the event, else empty; it is the
 * caller's as long as h lives.
 */
void hlo_name(
    struct hlo *h, uint64_t program, struct str instruction, struct str text);

/* What is wrong with the bytes of a module, and where. */
struct hlo_fault {
	const char *error;
	const unsigned char *at;
};

/*
 * Writes the metadata of a module, of the instructions named so far; proto is
 * its HloProto, name and program those of its metadata. False: *fault says why
 * not.
 */
bool hlo_module(struct hlo *h, struct source_state *s, uint64_t program,
    struct str name, struct str proto, struct hlo_fault *fault) USE_RESULT;
/* The same as a text, from the dump of a program of which something is named,
 * until the next one; and writing it. */
struct str hlo_dump_record(struct hlo *h, uint64_t program, struct str dump);
void hlo_put_record(struct source_state *s, uint64_t program, struct str json);
/* The same of programs named whose module the file lacks, from their texts. */
void hlo_finish(struct hlo *h, struct source_state *s);

#endif
