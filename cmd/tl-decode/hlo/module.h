/* SPDX-License-Identifier: MIT */
/*
 * module: an indexed HloModuleProto. Fields have the numbers of hlo.proto;
 * texts stay in the proto.
 */
#ifndef TL_DECODE_HLO_MODULE_H
#define TL_DECODE_HLO_MODULE_H

#include "cmd/tl-decode/hlo/hlo.h"
#include "proto/pull.h"

#define NO_HLO UINT32_MAX

/* Size of a record; further instructions are missing. */
#define HLO_MAX_RECORD ((size_t)64 << 20)
/* Likewise when so many fields were read, and as many times all that the module
 * has: bodies are in each record that calls them. */
#define HLO_MAX_READS (UINT64_C(1) << 24)
#define HLO_MAX_TIMES 64
/* Bytes of a backend's configuration, which each op of the instruction has. */
#define HLO_MAX_CONFIG ((size_t)16 << 10)
/* Devices of a collective whose groups are a formula. */
#define HLO_MAX_DEVICES (1 << 17)

enum { /* of HloInstructionProto */
	I_NAME = 1,
	I_OPCODE = 2,
	I_SHAPE = 3,
	I_METADATA = 7,
	I_PARAMETER = 9,
	I_FUSION = 11,
	I_DIMENSIONS = 14,
	I_WINDOW = 15,
	I_CONV = 16,
	I_CHANNEL = 26,
	I_TARGET = 28,
	I_DOT = 30,
	I_ID = 35,
	I_OPERANDS = 36,
	I_CALLED = 38,
	I_CONFIG = 43,
	I_GROUPS = 49,
	I_FEATURE_GROUPS = 50,
	I_PRECISION = 51,
	I_PAIRS = 52,
	I_BATCH_GROUPS = 58,
	I_GLOBAL_IDS = 71,
	I_DEVICES = 87,
};

/* An instruction; repeated fields are read when needed. */
struct instruction {
	struct str name, opcode, shape, metadata, fusion, window, conv, target,
	    dot, config, devices, precision;
	uint64_t id, parameter, channel, feature_groups, batch_groups;
	bool has_global_ids;
};

struct hlo_inst {
	uint64_t id;
	struct str name, bytes;
	uint32_t computation;
	uint32_t place; /* in the current body ... */
	uint32_t body;  /* ... if it is this one */
	bool is_wanted; /* its name is needed in the record */
};

struct hlo_computation {
	uint64_t id, root;
	uint32_t first, n;   /* its instructions */
	struct str schedule; /* an InstructionSequence, or empty */
	uint32_t pass;       /* last pass that visited it */
};

typedef VEC(struct str) str_vec;
typedef VEC(uint32_t) hlo_list;

struct hlo_module {
	struct str name;
	uint64_t entry;    /* id of a computation */
	uint64_t ndevices; /* that run it together; 0: unknown */
	bool is_text;      /* a dump: instructions are text */
	VEC(struct hlo_inst) insts;
	VEC(struct hlo_computation) computations;
	struct map inst_of, computation_of; /* by id */
	struct intern *names;
	hlo_list by_name;                 /* by number in names */
	str_vec files, locations, frames; /* of the stack frame index */
	/* for the writer */
	struct buf *out;
	uint64_t nreads, max_reads; /* of fields, of numbers in lists */
	bool is_full;               /* see module_is_full() */
	uint32_t pass;
	hlo_list queue;   /* computations of a body */
	hlo_list wanted;  /* instructions for the record */
	struct buf text;  /* to build in */
	struct buf calls; /* of all command buffers, once written */
	/* the fault and its byte */
	const char *error;
	size_t at;
	const char *base;
};

/* Reads an HloProto; sets error, or NULL. */
void module_read(struct hlo_module *m, struct str proto);
void module_free(struct hlo_module *m);
/* Sets the number of devices. */
void module_count(struct hlo_module *m, uint64_t replicas, uint64_t partitions);

/* Whether the record is full, for good. */
bool module_is_full(struct hlo_module *m);

/* By name, or NO_HLO. */
uint32_t module_find(const struct hlo_module *m, struct str name);

/* The next field; false at the end and after an error. */
bool module_next(struct hlo_module *m, struct fields *f) USE_RESULT;
/* The last field of this number, or empty. */
struct str module_bytes(
    struct hlo_module *m, struct str message, uint32_t field);
/* The same of a number; 0: none. */
uint64_t module_number(
    struct hlo_module *m, struct str message, uint32_t field);
struct instruction module_instruction(
    struct hlo_module *m, const struct hlo_inst *inst);

/* The numbers of a repeated field:
 *	struct repeated r = repeated(m, message, field);
 *	while (repeated_next(&r, &u)) */
struct repeated {
	struct hlo_module *m;
	struct fields message;
	uint32_t field;
	struct proto_numbers it;
};
static inline struct repeated
repeated(struct hlo_module *m, struct str message, uint32_t field)
{
	return (struct repeated){
		.m = m, .message = fields_of(message), .field = field
	};
}
bool repeated_next(struct repeated *r, uint64_t *u) USE_RESULT;

/* ---- put.c ---- */

/* Appends an instruction to m->out as an object; name: if it differs. */
void module_put(struct hlo_module *m, const struct hlo_inst *inst,
    struct str name, bool is_guess);
/* The same of a command buffer, which is in no module. */
void module_put_buffer(struct hlo_module *m, struct str name);

/* A backend's configuration, as JSON if it is an object. */
void put_config(struct hlo_module *m, struct str config);

/* ---- text.c ---- */

/* The same of an instruction known by its text. */
void module_put_text(struct hlo_module *m, struct str name, struct str text);
/* All members but the name. */
void module_put_members(struct hlo_module *m, struct str text);
/* Reads a dump, which must live as long as m. */
void module_read_text(struct hlo_module *m, struct str text);
/* The module's name in the first line; empty: no dump. */
struct str module_name_in(struct str text);

/* ---- value.c ---- */

/* Groups as a formula: [ngroups,per_group]<=[dims]T(perm). */
#define IOTA_MAX_DIMS 16

struct iota {
	uint64_t ngroups, per_group, dims[IOTA_MAX_DIMS], perm[IOTA_MAX_DIMS];
	size_t ndims, nperm; /* nperm 0: no permutation */
};

/* Values as in a record. */
void put_shape(struct hlo_module *m, struct str shape, unsigned depth);
void put_window(struct hlo_module *m, struct str window);
void put_dot(struct hlo_module *m, struct str dot);
void put_conv(struct hlo_module *m, struct str conv);
void put_precision(struct hlo_module *m, struct str precision);
/* all: devices of a collective without lists; 0: unknown. */
void put_groups(
    struct hlo_module *m, struct str inst, struct str devices, uint64_t all);
/* The member "groups", unless the formula is invalid. */
void put_iota(struct hlo_module *m, const struct iota *io);
void put_pairs(struct hlo_module *m, struct str inst);
void put_numbers(struct hlo_module *m, struct str message, uint32_t field);

/* A member of the object at the end of m->out. */
void put_key(struct hlo_module *m, const char *key);
void put_text(struct hlo_module *m, const char *key, struct str value);

#endif
