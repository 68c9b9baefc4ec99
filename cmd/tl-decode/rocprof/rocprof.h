/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's *_results.json: a list of processes, each with tables (agents,
 * kernel symbols, names of operations) and buffers of records, in ns. A record,
 * an object of scalars with some nested, is flattened to paths
 * ("dispatch_info.agent_id.handle"), whose meaning a table has; other paths
 * become arguments. If the tables follow the buffers, records wait as text.
 */
#ifndef TL_DECODE_ROCPROF_H
#define TL_DECODE_ROCPROF_H

#include "cmd/tl-decode/json/trace.h"

/*
 * Processes list the symbols of all loaded code, most of which never runs:
 * names become strings of the stream when a record uses them.
 */
enum { SYMBOL_REGISTERS = 3 };
extern const struct rocprof_registers {
	struct str of_symbol, arg;
} rocprof_registers[SYMBOL_REGISTERS];

struct symbol {
	uint32_t name; /* shown: first of truncated, formatted, mangled */
	uint32_t full; /* demangled, with parameters */
	int64_t registers[SYMBOL_REGISTERS]; /* per thread; -1: unknown */
};

struct agent {
	int64_t handle;
	int64_t device; /* GPU ordinal, or the node's number */
	bool is_gpu;
};

/* A row of a table. */
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

/* Integers of a record that are also looked at. */
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
	struct json_trace *t; /* NULL: records are no JSON */
	struct source_state *s;
	struct json sub; /* over one record */
	int64_t pid;
	bool has_pid;
	int64_t init_ns, fini_ns;
	bool has_init, has_fini;
	struct agent_row agent_row;
	struct symbol_row symbol_row;
	bool has_strings, has_symbols, has_agents;
	struct map symbols; /* index in list, by kernel id */
	struct intern *symbol_names;
	VEC(struct symbol) symbol_list;
	VEC(struct agent) agents;
	/* names of buffers and operations, which outlive strings */
	struct intern *words;
	VEC(struct operations) operations; /* by kind */
	struct buf texts;
	VEC(struct waiting) waiting;
	/* the current record */
	struct maker maker;
	struct buf path, name, text;
	const char *copy;     /* the current text, if not in the window */
	uint64_t copy_offset; /* ... and its offset in the file */
	int64_t field[REC_COUNT];
	uint32_t has;          /* bits of those present */
	uint32_t buffer, word; /* operation given by name */
	uint32_t kernel_name;  /* of the record, or INTERN_NONE */
};

/* ---- rocprof.c ---- */

struct process *rocprof_open(struct source_state *s);
void rocprof_close(struct process *p);
/* Agents, a list of objects. */
void rocprof_agents(struct process *p, struct buf *text);

/* ---- walk.c ---- */

/* A scalar, or a list as text, at a path. */
typedef void path_fn(struct process *p, struct str path, struct value *v);

/* Calls fn for each member of the object, nested ones with dotted paths. */
void rocprof_flatten(struct process *p, struct str text, path_fn *fn);
/* Ends the program at a byte of the current text. */
noreturn void rocprof_die(
    struct process *p, const void *where, const char *reason);

/* ---- record.c ---- */

#define ROCPROF_TOO_MANY "a record has too many members"

/* Begins a record of a buffer, for members one by one; false: too many. */
void rocprof_begin(struct process *p, uint32_t buffer);
void rocprof_member(struct process *p, struct str path, struct value *v);
bool rocprof_end(struct process *p) USE_RESULT;
/* Writes a record given as text. */
void rocprof_record(struct process *p, uint32_t buffer, struct str text);

/* ---- rows.c ---- */

struct field {
	struct str s;
	size_t at; /* in text, if s.p is NULL */
};

/* A row of CSV; zero-initialized. */
struct rows {
	VEC(struct field) fields;
	struct buf text; /* of quoted fields */
	const char *error;
	uint64_t offset; /* of the row */
};

/* The length of the first row from p; 0: incomplete, or error is set. */
size_t row_split(
    struct rows *r, const unsigned char *p, const unsigned char *end);
/*
 * Moves the window to the next row that is not empty, and splits it; 0: the
 * end. With error set: the length of a line that is no row.
 */
size_t row_next(struct rows *r, struct in *in);
struct str row_field(const struct rows *r, size_t i);
void rows_free(struct rows *r);

static inline struct str
rocprof_word(const struct process *p, uint32_t id)
{
	return intern_get(p->words, id);
}

#endif
