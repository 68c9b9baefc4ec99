/* SPDX-License-Identifier: MIT */
/*
 * Private to this area. The layers, lowest first:
 *
 * pattern   Lua's patterns, with a bound on the work
 * view      the lists of one op, parsed when an entry asks for them
 * sandbox   a Lua state that can do nothing but compute, within limits
 * access    what an entry may call: dim(), dtype(), prod(), ...
 * access-op the same, of the op besides its lists: kernels(), annotation(), ...
 * hlo       hlo(), and what such an op is looked up by
 * declare   op{}, category{}, sheets{}, datatype{}: the registry
 * annotation, pseudo (with tree): more declarations
 * param     parameters, from Lua into results
 * eval      an entry on an op, and the memory of results
 */
#ifndef TL_MODEL_PRIV_H
#define TL_MODEL_PRIV_H

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

#include "base/embedded.h"
#include "io/io.h"
#include "model/arch.h"
#include "model/pseudo.h"
#include "model/view.h"
#include "stream/stream.h"

/* Limits of the sandbox, as in tl-models(5). */
#define MODEL_STEPS 200000        /* VM instructions of one evaluation */
#define MODEL_LOAD_STEPS 20000000 /* of a whole file */
#define MODEL_WORK 12800000       /* bytes and elements in library functions */
#define MODEL_LOAD_WORK 50000000
#define MODEL_MEM (48u << 20)   /* bytes that Lua may hold */
#define MODEL_BLOCK (2u << 20)  /* bytes of a text or list */
#define MODEL_CHURN (16u << 20) /* bytes allocated in one evaluation */
#define MODEL_LOAD_CHURN (256u << 20)
#define MODEL_PARAMS 64           /* parameters of one op */
#define MODEL_TEXT_MAX (1u << 16) /* bytes of a text that an entry creates */
#define MODEL_FILE_MAX (8u << 20) /* bytes of a file */

/* ---- compiled in ---- */

extern const struct embedded model_data[];
extern const size_t model_ndata;

/* ---- the state ---- */

struct dtype {
	double bytes; /* NAN: unknown */
	struct str precision;
};

struct category_rule {
	struct str text;
	struct str category;
};
typedef VEC(struct category_rule) category_rules;

/* Ops whose names match this shell pattern have an entry. */
struct glob_rule {
	struct str glob; /* "triton_poi_*" */
	uint32_t entry;
};

/* What is known about an op's name. */
struct op_name {
	const struct model *exact;
	struct str category;       /* by exact name; len 0: none */
	const struct model *model; /* resolved, with patterns ... */
	struct str resolved;       /* ... and category by name alone */
	uint32_t generation;       /* when it was resolved */
};

/* A form of annotations. */
struct note_form {
	struct str prefix;
	int ref;
};

/* A rule that adds ops to a tree. */
struct pseudo_pattern {
	struct str glob;
	uint8_t kind; /* KIND_OP, KIND_PYTHON */
};
struct pseudo_rule {
	VEC(struct pseudo_pattern) patterns;
	VEC(struct str) unless; /* off if the trace has one of these ops */
	int ref;
	bool is_builtin, is_off;
	lua_Integer nmade; /* events that it changed */
};
#define PSEUDO_RULES_MAX 64

struct model_file {
	const char *name;
	struct str text;
	struct str code; /* len 0: none */
};

/* Size classes of Lua's small objects, in steps. */
#define SMALL_STEP 16
#define SMALL_MAX 512
#define SMALL_BLOCK (64u << 10)

struct free_object {
	struct free_object *next;
};

struct models {
	lua_State *L;
	/* memory and limits: see sandbox.c */
	struct arena *lua_mem;
	struct large_object *large;
	struct free_object *free_list[SMALL_MAX / SMALL_STEP + 1];
	char *block;
	size_t block_left;
	size_t used, max, churn, churn_max;
	int64_t work; /* left for library functions */
	bool loading, builtin;
	/* registry */
	struct arena *mem;
	struct intern *words;        /* texts of results and entries */
	struct intern *names;        /* op names */
	VEC(struct op_name) by_name; /* parallel to names */
	uint32_t generation;
	VEC(struct model *) entries;
	VEC(uint32_t) listed; /* names with an entry, in order */
	VEC(struct glob_rule) model_globs;
	category_rules globs, kernels;
	VEC(struct model_sheet) sheets;
	struct intern *dtype_names;
	VEC(struct dtype) dtypes;
	VEC(struct note_form) note_forms;
	VEC(struct pseudo_rule) pseudos;
	VEC(struct model_file) files; /* texts loaded */
	VEC(struct arch *) archs;     /* named ones first */
	size_t narch_named;
	bool has_archs;
	/* references into Lua's registry */
	int api, env_meta, order, file_env, reserved;
	/* the current evaluation */
	struct op_view views[2];
	struct op_view *view;
	const struct model *entry;
	bool in_own;              /* a user's function runs, or has failed */
	bool skipped, unmodelled; /* skip() or no_model() was called */
	bool lacks;               /* fail() was called, or a fact is missing */
	bool as_float;            /* sizes are passed as doubles */
	double values;            /* product of the numbers read from texts */
	struct model_effect effect;
	/* parameters as first set: Lua's texts, kept alive by its list order */
	const char *order_names[MODEL_PARAMS];
	size_t norder;
	struct buf text;
	VEC(struct str) list; /* of list_field() */
	/* the current rule */
	struct forest *tree;
	uint32_t tree_generation;
	VEC(struct tree_action) actions;
	struct arena *action_mem;
	struct pseudo_stats pseudo_stats;
	/* results */
	struct map memo;   /* key to number */
	struct map proofs; /* hash of a name to gemm_proofs() */
	/* by name and instruction in this dictionary: the name looked up */
	bool has_hlo; /* its entries are loaded */
	struct map hlo_names;
	const struct dict *hlo_of;
	VEC(const struct model_result *) results;
	struct model_stats stats;
};

static inline struct models *
models_of(lua_State *L)
{
	struct models *ms;

	memcpy(&ms, lua_getextraspace(L), sizeof ms);
	return ms;
}

/* A lasting copy; equal texts share one. */
static inline struct str
word(struct models *ms, struct str s)
{
	return intern_get(ms->words, intern_put(ms->words, s));
}

static inline struct str
to_str(lua_State *L, int i)
{
	struct str s = { "", 0 };

	if (lua_type(L, i) == LUA_TSTRING)
		s.p = lua_tolstring(L, i, &s.len);
	return s;
}

static inline void
push_str(lua_State *L, struct str s)
{
	lua_pushlstring(L, s.len > 0 ? s.p : "", s.len);
}

/* ---- sandbox ---- */

void sandbox_open(struct models *ms);
void sandbox_close(struct models *ms);
/* Starts a piece of work: resets the counters, sets these limits. */
void sandbox_begin(struct models *ms, int steps, int64_t work, size_t churn);
/* Counts work of a library function: bytes and elements examined. */
void sandbox_work(lua_State *L, size_t n);
/* lua_call() of a user's function; limited even within an entry of ours. */
void sandbox_call(struct models *ms, int nargs, int nresults);
/* Pops the message on top of the stack, as text. */
void sandbox_message(lua_State *L, struct buf *why);
/* The harmless functions of strings, math and table. */
void sandbox_libs(lua_State *L, int api);

/* ---- access ---- */

void access_open(lua_State *L, int api);
/* Entries for XLA's instructions are loaded on the first such op. */
void models_need_hlo(struct models *ms);
/* The op being evaluated. */
const struct model_op *current_op(lua_State *L);
/* luaL_error() for an error of the trace, not of the entry. */
int lacks(lua_State *L, const char *fmt, ...);
extern const luaL_Reg access_text_functions[], access_op_functions[];
/* An integer, or a float if the entry counts in floats. */
void push_size(lua_State *L, int64_t i);
#define DTYPE_NAME_MAX 64
/* In lower case, in low; len 0: too long. */
struct str dtype_lower(struct str name, char low[DTYPE_NAME_MAX]);
const struct dtype *dtype_find(struct models *ms, struct str name);

/* ---- param ---- */

/* Appends a Lua value as JSON. False: impossible. */
bool lua_json(lua_State *L, int i, int depth, struct buf *b);
/* The first env[name] = value of an evaluation. Pops both from the stack; order
 * is the index of the list of names. */
void param_add(lua_State *L, int env, int order);
/* The parameters of the current evaluation; their values are in env. */
void params_keep(
    lua_State *L, int env, const struct model *m, struct model_result *r);

/* ---- path ---- */

typedef void path_fn(void *ctx, const char *path);
/*
 * Calls each() on the files with this ending in the folders of an environment
 * variable: folder by folder, by name. An unreadable one ends the program.
 */
void path_files(
    const char *variable, const char *ending, path_fn *each, void *ctx);

/* ---- arch ---- */

/* Properties that only identify a GPU. */
struct arch_file {
	struct arch arch; /* first, so that the pointers are interchangeable */
	VEC(struct str) devices;
	VEC(struct arch_rate) rates;
};

/* The first device of the JSON list that is known, or NULL. */
const struct arch *device_arch(const struct models *ms, struct str devices);
void archs_free(struct models *ms);

/* ---- annotation, pseudo, tree ---- */

/* annotation{...} declares; annotation() is for entries. */
int d_annotation(lua_State *L);
int a_annotation(lua_State *L);
int a_requests(lua_State *L);
int a_hlo(lua_State *L);
int d_pseudo(lua_State *L);
int a_variable(lua_State *L);
void pseudos_free(struct models *ms);
void tree_open(lua_State *L, int api);
void push_event(lua_State *L, uint32_t event); /* nil: FOREST_NONE */

/* ---- declare ---- */

void declare_open(lua_State *L, int table);
/* Whether a field is set, and then pushed; another type is an error. */
bool field(lua_State *L, int t, const char *key, int type, const char *must);
/*
 * Puts a field's list of texts into models.list, valid while the table lives
 * and until the next call. Returns how many; 0: not set.
 */
size_t list_field(lua_State *L, int t, const char *key);
/* Any other field is an error. */
void known_fields(lua_State *L, int t, const char *const names[]);
struct op_name *op_name(struct models *ms, struct str name);

#endif
