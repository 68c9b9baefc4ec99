/* SPDX-License-Identifier: MIT */
/*
 * schema: PyTorch's names of the arguments of an op, and which of its overloads
 * a recorded call was.
 *
 *	struct schemas *set = schemas_create(paths, npaths);
 *	const struct schema *s = schema_match(set, name, &args, &why);
 *	if (s != NULL)
 *		... s->overload; s->args[i] is that of args.v[i] ...
 *	schemas_destroy(set);
 *
 * A schema is a line as PyTorch prints it, "aten::mm(Tensor self, Tensor mat2)
 * -> Tensor"; a line that is empty or begins with # is none.
 */
#ifndef TL_REPLAY_SCHEMA_H
#define TL_REPLAY_SCHEMA_H

#include "base/base.h"

/* ---- what the profiler recorded ---- */

struct recorded {
	struct str type;  /* "c10::BFloat16", "Scalar", "TensorList", "" */
	struct str value; /* from Concrete Inputs: "1", "[0, 1]"; "": none */
	/* of a tensor */
	const int64_t *dims, *strides;
	size_t ndims, nstrides; /* nstrides: 0 if not recorded */
};

struct arguments {
	const struct recorded *v;
	size_t n;
};

/*
 * None, or what the profiler omits: a string, a device, a generator, a list of
 * optional tensors, a list of more than 30 numbers.
 */
static inline bool
recorded_nothing(const struct recorded *r)
{
	return r->type.len == 0;
}

/* Tensors have C++ types; words for all else are capitalised. */
static inline bool
recorded_tensor(const struct recorded *r)
{
	return r->type.len > 0 && r->type.p[0] >= 'a' && r->type.p[0] <= 'z';
}

/* ---- schemas ---- */

enum arg_kind {
	ARG_OTHER, /* a class, a dict: not recorded */
	ARG_TENSOR,
	ARG_BOOL,
	ARG_INT,
	ARG_FLOAT,
	ARG_SCALAR, /* a number of any kind */
	ARG_STR,
	ARG_DTYPE,
	ARG_LAYOUT,
	ARG_MEMORY_FORMAT,
	ARG_DEVICE,
	ARG_GENERATOR,
};

struct schema_arg {
	struct str name;
	struct str type;  /* as written: "Tensor(a!)", "SymInt[2]?" */
	struct str value; /* default as written: "None", "[0, 1]" */
	enum arg_kind kind;
	bool is_list;       /* a list of its kind */
	bool may_be_none;   /* the whole may be None */
	bool may_hold_none; /* elements may be None */
	bool is_keyword;    /* after the star */
	bool is_written;    /* (a!) */
	bool has_default;
};

struct schema {
	struct str name, overload; /* "aten::sum", "dim_IntList" or "" */
	struct schema_arg *args;   /* in the arena */
	size_t nargs;
};

/*
 * Parses one line, which its strings borrow. False: *error says what is wrong.
 */
bool schema_parse(struct arena *mem, struct str line, struct schema *out,
    const char **error) USE_RESULT;

/*
 * Those of the user's files, then those built in. A file that cannot be read or
 * has a bad line ends the program.
 */
struct schemas;
struct schemas *schemas_create(const struct str *paths, size_t npaths);
void schemas_destroy(struct schemas *set);

/*
 * The first schema of this name that takes the arguments, or NULL: why then
 * gives the reason, or is empty if the name has no schema.
 */
const struct schema *schema_match(const struct schemas *set, struct str name,
    const struct arguments *args, struct buf *why);

#endif
