/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's *_results.json: a list of processes, each with tables (agents,
 * kernel symbols, names of operations) and buffers of records, all in ns.
 *
 * A record is one object of scalars, some of them nested; it is flattened to
 * paths ("dispatch_info.agent_id.handle") and a table says what a path means.
 * What no table names becomes an argument under its path, so nothing is lost.
 * Where the tables stand behind the buffers, records wait as text until the
 * process ends.
 */
#ifndef TL_DECODE_ROCPROF_H
#define TL_DECODE_ROCPROF_H

#include "cmd/tl-decode/json/trace.h"

/*
 * Processes list the symbols of all code they loaded, most of which never
 * run: their names enter the stream's strings when a record uses them.
 */
enum { SYMBOL_REGISTERS = 3 };
extern const struct rocprof_registers {
	struct str of_symbol, arg;
} rocprof_registers[SYMBOL_REGISTERS];

struct symbol {
	uint32_t name; /* shown: first of truncated, formatted, mangled */
	uint32_t full; /* the demangled one, with its parameters */
	int64_t registers[SYMBOL_REGISTERS]; /* of a thread; -1: unknown */
};

struct agent {
	int64_t handle;
	int64_t device; /* GPU ordinal, or the node's number */
	bool is_gpu;
};

/* A row of a table while it is read. */
struct agent_row {
	int64_t handle, gpu_index, node, type;
};

struct symbol_row {
	int64_t id;
	uint32_t mangled, formatted, demangled, truncated;
	int64_t registers[SYMBOL_REGISTERS];
};

struct operations {
	uint32_t kind;
	VEC(uint32_t) names;
};

struct waiting {
	uint32_t buffer; /* number of its name */
	size_t at, len;  /* in texts */
	uint64_t offset; /* in the file */
};

/* Integers of a record that are looked at, besides being passed on. */
enum record_field {
	REC_NONE,
	REC_START,
	REC_END,
	REC_TID,
	REC_KIND,
	REC_OPERATION,
	REC_KERNEL,
	REC_AGENT,
	REC_DST,
	REC_SRC,
	REC_BLOCK, /* x, y, z */
	REC_GRID = REC_BLOCK + 3,
	REC_COUNT = REC_GRID + 3,
};

struct process {
	struct json_trace *t; /* NULL: the records are not of JSON */
	struct source_state *s;
	struct json sub; /* over one record */
	int64_t pid;
	bool has_pid;
	int64_t init_ns, fini_ns;
	bool has_init, has_fini;
	struct agent_row agent_row;
	struct symbol_row symbol_row;
	bool has_strings, has_symbols, has_agents;
	struct map symbols; /* kernel id to place in list */
	struct intern *symbol_names;
	VEC(struct symbol) symbol_list;
	VEC(struct agent) agents;
	/* names of buffers and operations: they outlive the strings */
	struct intern *words;
	VEC(struct operations) operations; /* by kind */
	struct buf texts;
	VEC(struct waiting) waiting;
	/* the record at hand */
	struct maker maker;
	struct buf path, name, text;
	const char *copy; /* the text at hand, where it isn't in the window */
	uint64_t copy_offset; /* ... and its place in the file */
	int64_t field[REC_COUNT];
	uint32_t has;          /* bits of those that were there */
	uint32_t buffer, word; /* an operation given by name */
	uint32_t kernel_name;  /* given in the record, or INTERN_NONE */
};

/* ---- rocprof.c ---- */

struct process *rocprof_open(struct source_state *s);
void rocprof_close(struct process *p);
/* Agents, a list of objects. */
void rocprof_agents(struct process *p, struct buf *text);

/* ---- walk.c ---- */

/* A scalar, or a list as text, at a path. */
typedef void path_fn(struct process *p, struct str path, struct value *v);

/* Calls fn for each member of the object, nested ones by dotted paths. */
void rocprof_flatten(struct process *p, struct str text, path_fn *fn);
/* Dies at a byte of the text at hand. */
noreturn void rocprof_die(
    struct process *p, const void *where, const char *reason);

/* ---- record.c ---- */

#define ROCPROF_TOO_MANY "a record has too many members"

/* A record of a buffer, a word, member by member; false: they are too many. */
void rocprof_begin(struct process *p, uint32_t buffer);
void rocprof_member(struct process *p, struct str path, struct value *v);
bool rocprof_end(struct process *p) USE_RESULT;
/* The same of one as text, written as an event. */
void rocprof_record(struct process *p, uint32_t buffer, struct str text);

/* ---- rows.c ---- */

struct field {
	struct str s;
	size_t at; /* in text, where s.p is NULL */
};

/* A row of CSV. Zeroes to start with. */
struct rows {
	VEC(struct field) fields;
	struct buf text; /* of fields that hold quotes */
	const char *error;
	uint64_t offset; /* of the row in the file */
};

/* The bytes of the first row from p on; 0: it is not whole, or error is set. */
size_t row_split(
    struct rows *r, const unsigned char *p, const unsigned char *end);
/* The next row that is no empty line; the window stays at it. 0: the end. Where
 * error is set, it is the bytes of a line that is no row. */
size_t row_next(struct rows *r, struct in *in);
struct str row_field(const struct rows *r, size_t i);
void rows_free(struct rows *r);

static inline struct str
rocprof_word(const struct process *p, uint32_t id)
{
	return intern_get(p->words, id);
}

#endif
