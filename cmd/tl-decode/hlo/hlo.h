/* SPDX-License-Identifier: MIT */
/*
 * hlo: the XLA modules of a file. Instructions that events name become one
 * metadata record a module, see tl-stream(5).
 */
#ifndef TL_DECODE_HLO_H
#define TL_DECODE_HLO_H

#include "cmd/tl-decode/decode.h"

/*
 * The id in a module's name, "jit_f(17)", or number, that of its metadata;
 * these agree in files before JAX 0.11.
 */
uint64_t hlo_program(struct str name, uint64_t number);

struct hlo *hlo_create(void);
void hlo_destroy(struct hlo *h);

/*
 * An event names this instruction of this program. text: the instruction as HLO
 * text, if the event has it, valid as long as h; or empty.
 */
void hlo_name(
    struct hlo *h, uint64_t program, struct str instruction, struct str text);

/* A fault in a module's bytes, and its place. */
struct hlo_fault {
	const char *error;
	const unsigned char *at;
};

/*
 * Writes a module's metadata with the instructions named so far; proto: its
 * HloProto, name and program: of its metadata. False: see *fault.
 */
bool hlo_module(struct hlo *h, struct source_state *s, uint64_t program,
    struct str name, struct str proto, struct hlo_fault *fault) USE_RESULT;
/*
 * The same record as text, from a dump, of a program whose instructions are
 * named; valid until the next call. And writing it.
 */
struct str hlo_dump_record(struct hlo *h, uint64_t program, struct str dump);
void hlo_put_record(struct source_state *s, uint64_t program, struct str json);
/* Writes records of named programs without module, from their texts. */
void hlo_finish(struct hlo *h, struct source_state *s);

#endif
