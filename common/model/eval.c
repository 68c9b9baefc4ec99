/* SPDX-License-Identifier: MIT */
/*
 * Evaluates an entry for an op. All Lua code runs in one protected call; the
 * result is copied into lasting memory, once per distinct key.
 */
#include <stdlib.h>

#include "model/gemm.h"
#include "model/priv.h"

/* ---- one evaluation ---- */

struct evaluation {
	const struct model *m;
	const struct model_op *op;
	enum model_way way;
	bool figures_only; /* second run, with doubles */
	struct model_result *out;
};

#define NFIGURES 4
static const struct model_effect no_effect = { .written = (double)NAN };
#define ENV_NAMES 16 /* most entries set fewer, so the table need not grow */

/* Calls the entry's function of this name on its environment; pushes FLOPs,
 * bytes, precision and repeated FLOPs. */
static void
call_entry(lua_State *L, int env, int entry, const char *name)
{
	lua_getfield(L, entry, name);
	lua_pushvalue(L, env);
	lua_call(L, 1, NFIGURES);
}

/* B of a GEMM is 1 unless set. The transposition is from the first kernel name
 * that has one. */
static void
gemm_params(lua_State *L, const struct models *ms, int env, int order)
{
	const struct model_op *op = ms->view->op;
	struct gemm_kernel k;
	size_t i = 0;

	lua_pushliteral(L, "B");
	lua_pushvalue(L, -1);
	if (lua_rawget(L, env) == LUA_TNIL) {
		lua_pop(L, 1);
		lua_pushinteger(L, 1);
		param_add(L, env, order);
	} else {
		lua_pop(L, 2);
	}
	while (i < op->nkernels &&
	    !(gemm_kernel_parse(op->kernels[i], &k) &&
		(k.kind == GEMM_TENSILE || k.trans_a >= 0)))
		i++;
	if (i == op->nkernels)
		return;
	lua_pushliteral(L, "transpose");
	lua_createtable(L, 2, 1);
	for (int t = 1; t <= 2; t++) {
		int8_t flag = t == 1 ? k.trans_a : k.trans_b;

		if (flag < 0)
			lua_pushnil(L);
		else
			lua_pushboolean(L, flag);
		lua_rawseti(L, -2, t);
	}
	lua_pushinteger(L, 2);
	lua_setfield(L, -2, "n");
	param_add(L, env, order);
}

/* What a name proves; each name is checked once. */
static uint32_t
proofs_of(struct models *ms, struct str name)
{
	bool is_new;
	uint64_t *found =
	    map_put(&ms->proofs, hash_bytes(name.p, name.len), &is_new);

	if (is_new)
		*found = gemm_proofs(name);
	return (uint32_t)*found;
}

/* The precision of the unit: arguments may be rounded for matrix units. */
static struct str
precision_of(struct models *ms, const struct evaluation *e, struct str argument)
{
	struct buf b = { 0 };
	struct str s;

	if (!str_eq(e->m->unit, STR("matrix")))
		return argument;
	buf_put(&b, argument.p, argument.len);
	gemm_prove(proofs_of(ms, e->op->name), &b);
	for (size_t i = 0; i < e->op->nkernels; i++)
		gemm_prove(proofs_of(ms, e->op->kernels[i]), &b);
	s = word(ms, buf_str(&b));
	buf_free(&b);
	return s;
}

/* "vector" and the precision of a dtype (or of a word like bf16). */
static void
set_spec(lua_State *L, struct models *ms, int given, struct evaluation *e)
{
	struct str name = to_str(L, given);
	const struct dtype *t;

	if (name.len == 0 && e->m->prec_arg >= 0) {
		const struct texts *x = &ms->view->texts[0];

		if (view_need(ms->view, VIEW_TYPES) == NULL &&
		    (size_t)e->m->prec_arg < x->list.n)
			name = (struct str){ x->bytes.p +
				    x->list.v[e->m->prec_arg].start,
				x->list.v[e->m->prec_arg].len };
	}
	t = dtype_find(ms, name);
	if (t == NULL || t->precision.len == 0)
		return;
	e->out->precision = precision_of(ms, e, t->precision);
	if (e->m->unit.len == 0)
		return;
	ms->text.len = 0;
	buf_put(&ms->text, e->m->unit.p, e->m->unit.len);
	buf_putc(&ms->text, '_');
	buf_put(&ms->text, e->out->precision.p, e->out->precision.len);
	e->out->spec = word(ms, buf_str(&ms->text));
}

static void
set_figures(lua_State *L, int i, struct model_result *r)
{
	if (lua_type(L, i) != LUA_TNUMBER)
		luaL_error(L, "no FLOPs were returned");
	if (!lua_isnoneornil(L, i + 1) && lua_type(L, i + 1) != LUA_TNUMBER)
		luaL_error(L, "the bytes are no number");
	r->flops = lua_tonumber(L, i);
	r->bytes =
	    lua_isnoneornil(L, i + 1) ? (double)NAN : lua_tonumber(L, i + 1);
	if (!(r->flops >= 0) || isinf(r->flops))
		luaL_error(L, "the FLOPs are no count");
	if (r->bytes < 0 || isinf(r->bytes))
		luaL_error(L, "the bytes are no count");
	if (!lua_isnoneornil(L, i + 3) && lua_type(L, i + 3) != LUA_TNUMBER)
		luaL_error(L, "the repeated FLOPs are no number");
	r->repeated = lua_tonumber(L, i + 3);
	if (r->repeated < 0 || r->repeated > r->flops)
		luaL_error(L, "the repeated FLOPs are no part of the FLOPs");
}

static int
evaluate(lua_State *L)
{
	struct evaluation *e = lua_touserdata(L, 1);
	struct models *ms = models_of(L);
	const int env = 2, order = 3, entry = 4;
	int back;

	lua_createtable(L, 0, ENV_NAMES);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->env_meta);
	lua_setmetatable(L, env);
	lua_rawgeti(L, LUA_REGISTRYINDEX, ms->order);
	lua_rawgeti(L, LUA_REGISTRYINDEX, e->m->ref);
	call_entry(L, env, entry, "eval");
	back = lua_gettop(L) - NFIGURES + 1;
	if (e->way == MODEL_BWD) {
		size_t n = ms->norder;

		ms->effect = no_effect;
		call_entry(L, env, entry, "backward");
		ms->norder = n; /* parameters are those of the forward */
		if (lua_isnil(L, back + NFIGURES + 2))
			lua_copy(L, back + 2, back + NFIGURES + 2);
		back += NFIGURES;
	}
	set_figures(L, back, e->out);
	e->out->effect = ms->effect;
	if (!(ms->effect.written >= 0) || isinf(ms->effect.written))
		e->out->effect.written = (double)NAN;
	if (e->figures_only)
		return 0;
	if (e->m->is_gemm)
		gemm_params(L, ms, env, order);
	params_keep(L, env, e->m, e->out);
	set_spec(L, ms, back + 2, e);
	return 0;
}

/*
 * Messages of Lua itself ("not enough memory") and ours about results have no
 * line in a file: they get the entry's name.
 */
static void
set_reason(struct models *ms, const struct model *m, struct str why,
    struct str *reason)
{
	struct str file = str_of(ms->files.v[m->file].name);
	ptrdiff_t line = str_find(why, STR(".lua:"), false);
	ptrdiff_t text = str_find(why, STR(": "), false);

	ms->text.len = 0;
	if (ms->lacks && m->is_builtin && !ms->in_own) {
		/* missing facts of the trace have nothing to do with our
		 * line */
		if (line >= 0 && text > line) {
			why.p += text + 2;
			why.len -= (size_t)text + 2;
		}
		*reason = word(ms, why);
		return;
	}
	if (!ms->skipped && !ms->unmodelled &&
	    !(str_starts(why, file) && why.len > file.len &&
		why.p[file.len] == ':') &&
	    str_find(why, STR(".lua:"), false) < 0)
		buf_printf(&ms->text, "%.*s: ", (int)m->where.len, m->where.p);
	buf_put(&ms->text, why.p, why.len);
	*reason = word(ms, buf_str(&ms->text));
}

static bool
run(struct models *ms, struct evaluation *e, struct str *reason)
{
	struct buf why = { 0 };

	view_set(&ms->views[0], e->op);
	view_set(&ms->views[1], NULL);
	ms->view = &ms->views[0];
	ms->entry = e->m;
	ms->norder = 0;
	ms->values = 1;
	ms->effect = no_effect;
	ms->skipped = ms->unmodelled = ms->lacks = ms->in_own = false;
	ms->builtin = e->m->is_builtin;
	sandbox_begin(ms, MODEL_STEPS, MODEL_WORK, MODEL_CHURN);
	ms->builtin = false;
	lua_pushcfunction(ms->L, evaluate);
	lua_pushlightuserdata(ms->L, e);
	if (lua_pcall(ms->L, 1, 0, 0) == LUA_OK)
		return true;
	sandbox_message(ms->L, &why);
	set_reason(ms, e->m, buf_str(&why), reason);
	buf_free(&why);
	return false;
}

/*
 * Large sizes, whose products may have exceeded 64 bits: evaluates once more
 * with doubles to find out. A function that fails on doubles could not count
 * them.
 */
static void
compute_large(struct models *ms, struct evaluation e)
{
	struct model_result *r = e.out, big = { 0 };
	struct str reason = { "", 0 };
	bool good;

	e.out = &big;
	e.figures_only = true;
	ms->as_float = true;
	good = run(ms, &e, &reason);
	ms->as_float = false;
	if (!good && r->status == MODEL_OK) {
		r->status = MODEL_FAILED;
		r->reason = reason;
	} else if (good &&
	    (r->status == MODEL_FAILED ||
		!(fabs(big.flops - r->flops) <= 1e-9 * big.flops) ||
		fabs(big.bytes - r->bytes) > 1e-9 * big.bytes)) {
		r->flops = big.flops;
		r->bytes = big.bytes;
		r->effect = big.effect;
		r->repeated = big.repeated;
		r->status = MODEL_OK;
	}
}

static void
compute(struct models *ms, struct evaluation *e)
{
	struct model_result *r = e->out;
	struct str reason = { "", 0 };

	ms->stats.evaluated++;
	if (e->way == MODEL_BWD && !e->m->has_backward) {
		r->status = MODEL_SKIPPED;
		r->reason = STR("no backward is defined");
		return;
	}
	if (run(ms, e, &reason))
		r->status = MODEL_OK;
	else if (ms->unmodelled)
		r->status = MODEL_NONE;
	else
		r->status = ms->skipped ? MODEL_SKIPPED : MODEL_FAILED;
	r->reason = reason;
	if ((r->status == MODEL_OK || r->status == MODEL_FAILED) &&
	    (view_is_large(&ms->views[0], ms->values) ||
		view_is_large(&ms->views[1], ms->values)))
		compute_large(ms, *e);
	r->lacks = r->status == MODEL_FAILED && ms->lacks;
	r->is_own =
	    r->status == MODEL_FAILED && (!e->m->is_builtin || ms->in_own);
	if (r->status == MODEL_FAILED && ms->stats.nfailed++ == 0) {
		ms->stats.failed_name = word(ms, e->op->name);
		ms->stats.failed_reason = r->reason;
	}
}

/* ---- the memory of results ---- */

static uint64_t
mix(uint64_t h, struct str s)
{
	return hash_more(h, hash_bytes(s.p, s.len));
}

static uint64_t
mix_lists(uint64_t h, const struct model_op *op)
{
	h = mix(mix(h, op->name), op->dims);
	h = mix(mix(mix(h, op->types), op->strides), op->concrete);
	return op->hlo.len > 0 ? mix(h, op->hlo) : h;
}

static uint64_t
key_of(const struct model *m, const struct model_op *op, enum model_way way)
{
	uint64_t h = mix_lists(m->number * 2 + (unsigned)way, op);
	struct str text;

	if (m->reads & MODEL_READS_KERNELS)
		for (size_t i = 0; i < op->nkernels; i++)
			h = mix(h, op->kernels[i]);
	if (m->reads & MODEL_READS_ANNOTATION)
		h = mix(h, op->annotation);
	if (m->reads & MODEL_READS_FORWARD && op->forward != NULL)
		h = mix_lists(h, op->forward);
	if (m->reads & MODEL_READS_BACKWARD && op->backward != NULL)
		h = mix_lists(h, op->backward);
	for (size_t i = 0; i < m->args.n; i++) {
		bool has =
		    op->arg != NULL && op->arg(op->ctx, m->args.v[i], &text);

		h = mix(h, has ? text : STR("\x01"));
	}
	return h;
}

const struct model_result *
model_eval(struct models *ms, const struct model *m, const struct model_op *op,
    enum model_way way)
{
	bool is_new;
	uint64_t *slot = map_put(&ms->memo, key_of(m, op, way), &is_new);
	struct model_result *r;

	if (!is_new) {
		ms->stats.hits++;
		return ms->results.v[*slot];
	}
	*slot = ms->results.n;
	r = arena_alloc(ms->mem, sizeof *r);
	*r = (struct model_result){
		.model = m,
		.number = (uint32_t)ms->results.n,
		.flops = (double)NAN,
		.bytes = (double)NAN,
		.effect = no_effect,
	};
	vec_push(&ms->results, r);
	compute(ms, &(struct evaluation){ m, op, way, false, r });
	if (r->status != MODEL_OK) {
		r->flops = r->bytes = (double)NAN;
		r->effect = no_effect;
	}
	return r;
}
