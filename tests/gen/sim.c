/* SPDX-License-Identifier: MIT */
/*
 * A job as a profiler sees it: nested ops and frames, API calls, GPU work on
 * streams, collectives. Each function appends events to the current step and
 * moves the nominal clocks.
 */
#include "gen.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { MODULE_CALL = -2 }; /* ev.module of the frame inside a module's */

void
sim_init(struct sim *s, const struct conf *cf)
{
	memset(s, 0, sizeof *s);
	s->all = calloc((size_t)cf->ranks, sizeof *s->all);
	if (s->all == NULL)
		die("out of memory");
	sim_rank(s, cf);
}

/* Start over, keeping the memory. */
void
sim_rank(struct sim *s, const struct conf *cf)
{
	s->cf = cf;
	for (int64_t r = 0; r < cf->ranks; r++)
		rank_clock_init(&s->all[r], cf, r);
	rank_clock_init(&s->clock, cf, cf->rank);
	s->step = 0;
	s->now = 1000000;
	s->ext = s->corr = s->seq = s->rseq = s->ncoll = 0;
	s->py = 2; /* the two frames around all steps */
	s->allocated = 1 << 30;
	s->flow = 0;
	s->nlive = 0;
	memset(s->pgseq, 0, sizeof s->pgseq);
	memset(s->gs, 0, sizeof s->gs);
}

void
sim_free(struct sim *s)
{
	for (size_t i = 0; i < MAX_CHUNKS && s->chunk[i] != NULL; i++)
		free(s->chunk[i]);
	free(s->ev);
	free(s->coll);
	free(s->node);
	free(s->all);
}

void
sim_region(struct sim *s, uint64_t id)
{
	s->rng.s = mix(mix(s->cf->seed, (uint64_t)s->step), id);
}

void
tick(struct sim *s, int64_t ns)
{
	int64_t r = (int64_t)(rng_next(&s->rng) & 127);

	s->now += 1 + ns * (192 + r) / 256;
}

/* ---- names --------------------------------------------------------------- */

static char *
text_room(struct sim *s, size_t need)
{
	char *p;

	if (s->nchunk == 0 || CHUNK_SIZE - s->nused < need) {
		if (s->nchunk == MAX_CHUNKS)
			die("a step has too many names");
		if (s->chunk[s->nchunk] == NULL)
			s->chunk[s->nchunk] = malloc(CHUNK_SIZE);
		if (s->chunk[s->nchunk] == NULL)
			die("out of memory");
		s->nchunk++;
		s->nused = 0;
	}
	p = s->chunk[s->nchunk - 1] + s->nused;
	s->nused += need;
	return p;
}

/* A copy that lives until the next step. */
const char *
text_keep(struct sim *s, const char *text)
{
	size_t n = strlen(text) + 1;

	return memcpy(text_room(s, n), text, n);
}

/* pre, n in decimal, suf; lives until the next step. */
const char *
text_num(struct sim *s, const char *pre, int64_t n, const char *suf)
{
	char tmp[32], *d = tmp + sizeof tmp;
	size_t lp = strlen(pre), ls = strlen(suf), ld;
	char *p;

	do {
		*--d = (char)('0' + n % 10);
		n /= 10;
	} while (n > 0);
	ld = (size_t)(tmp + sizeof tmp - d);
	p = text_room(s, lp + ld + ls + 1);
	memcpy(p, pre, lp);
	memcpy(p + lp, d, ld);
	memcpy(p + lp + ld, suf, ls + 1);
	return p;
}

/* ---- nesting ------------------------------------------------------------- */

struct ev *
ev_add(struct sim *s, enum kind kind, const char *name)
{
	struct ev *e;

	s->ev = grow(s->ev, &s->capev, s->nev + 1, sizeof *s->ev);
	e = &s->ev[s->nev++];
	memset(e, 0, sizeof *e);
	e->kind = (uint8_t)kind;
	e->thr = (uint8_t)s->thr;
	e->name = name;
	e->name_len = (uint32_t)strlen(name);
	e->t0 = s->now;
	e->seq = -1;
	return e;
}

int64_t
top_ext(const struct sim *s)
{
	return s->nop > 0 ? s->ev[s->open_op[s->nop - 1]].ext : 0;
}

static struct ev *
push(struct sim *s, enum kind kind, const char *name)
{
	struct ev *e = ev_add(s, kind, name);
	struct plan *p = &s->plan[s->nop];

	if (s->nop == MAX_DEPTH)
		die("ops nest too deep");
	*p = s->nop > 0 ? p[-1] : (struct plan){ .milli = 1000 };
	p->wrapped = p->followed = false;
	s->open_op[s->nop++] = s->nev - 1;
	e->ext = ++s->ext;
	tick(s, 900);
	return e;
}

void
op_begin(struct sim *s, const char *name, const char *sig, enum opmode m)
{
	const struct change *slow = planted(s, CHANGE_SLOW, name);
	bool wrap = planted(s, CHANGE_WRAP, name) != NULL;
	struct plan *p;
	struct ev *e;

	if (wrap)
		push(s, EV_OP, "planted::wrapper");
	e = push(s, EV_OP, name);
	p = &s->plan[s->nop - 1];
	p->wrapped = wrap;
	p->followed = !s->adding && planted(s, CHANGE_ADD, name) != NULL;
	p->renamed = p->renamed || planted(s, CHANGE_RENAME, name) != NULL;
	if (slow != NULL)
		p->milli = p->milli * slow->milli / 1000;
	if (sig != NULL)
		e->u.sig = sig_get(s->cf, sig);
	if (m != OP_PLAIN && !s->no_grad)
		e->seq = s->seq;
}

static void
pop(struct sim *s)
{
	tick(s, 700);
	s->ev[s->open_op[--s->nop]].t1 = s->now;
	tick(s, 150);
}

void
op_end(struct sim *s)
{
	struct plan p = s->plan[s->nop - 1];

	pop(s);
	if (p.followed) {
		s->adding = true;
		added_op(s);
		s->adding = false;
	}
	if (p.wrapped)
		pop(s);
}

void
op_leaf(struct sim *s, const char *name, const char *sig)
{
	op_begin(s, name, sig, OP_PLAIN);
	op_end(s);
}

static void
mem(struct sim *s, int64_t bytes, int64_t addr)
{
	struct ev *e = ev_add(s, EV_MEM, "[memory]");

	s->allocated += bytes;
	e->t1 = e->t0;
	e->a = bytes;
	e->b = addr;
	e->ext = s->allocated;
}

/* An op that allocates, and frees the tensor from eight calls ago. */
void
op_alloc(struct sim *s, const char *name, const char *sig, int64_t bytes)
{
	struct live *l = &s->live[s->nlive++ % NLIVE];

	op_begin(s, name, sig, OP_PLAIN);
	if (s->nlive > NLIVE)
		mem(s, -l->bytes, l->addr);
	l->bytes = (bytes + 511) / 512 * 512;
	l->addr = 0x7f0000000000 + (int64_t)(s->nlive * 0x200000 % (1u << 30));
	tick(s, 200);
	mem(s, l->bytes, l->addr);
	op_end(s);
}

void
ann_begin(struct sim *s, const char *name, bool on_gpu)
{
	struct ev *e = push(s, EV_ANN, name);

	if (on_gpu && s->nann < 4) {
		struct annspan *a = &s->ann[s->nann++];

		memset(a, 0, sizeof *a);
		a->name = name;
		a->ext = e->ext;
		e->module = 1;
	}
}

void
ann_end(struct sim *s)
{
	struct ev *e = &s->ev[s->open_op[s->nop - 1]];
	bool on_gpu = e->module == 1;

	pop(s);
	if (!on_gpu)
		return;

	const struct annspan *a = &s->ann[--s->nann];

	for (int i = 0; i < MAX_STREAMS; i++) {
		if (a->t1[i] == 0)
			continue;
		e = ev_add(s, EV_GPUANN, a->name);
		e->stream = (uint8_t)i;
		e->ext = a->ext;
		e->t0 = a->t0[i];
		e->t1 = a->t1[i];
	}
}

static struct ev *
py_push(struct sim *s, const char *name)
{
	struct ev *e = ev_add(s, EV_PY, other_code(s, name));

	if (s->npy == MAX_DEPTH)
		die("frames nest too deep");
	e->a = ++s->py;
	e->b = -1;
	e->module = -1;
	if (s->npy > 0 && s->ev[s->open_py[s->npy - 1]].thr == s->thr)
		e->b = s->ev[s->open_py[s->npy - 1]].a;
	s->open_py[s->npy++] = s->nev - 1;
	tick(s, 600);
	return e;
}

void
py_begin(struct sim *s, const char *name)
{
	py_push(s, name);
}

/* Short calls without effect, like most frames of a real trace. */
void
py_chatter(struct sim *s, int n)
{
	static const char *const names[] = {
		"torch/nn/modules/module.py(1915): __getattr__",
		"<built-in function isinstance>",
		"torch/_jit_internal.py(103): is_scripting",
		"<built-in method get of dict object at 0x7f5180276480>",
		"torch/nn/modules/module.py(1931): __setattr__",
		"<built-in function len>",
		"torch/overrides.py(1741): has_torch_function",
		"<built-in method items of dict object at 0x7f5180276512>",
	};
	struct ev *e;

	for (int i = 0; i < n; i++) {
		e = ev_add(s, EV_PY, other_code(s, names[(s->py + i) % 8]));
		e->a = ++s->py;
		e->b = s->npy > 0 ? s->ev[s->open_py[s->npy - 1]].a : -1;
		e->module = -1;
		tick(s, 150);
		s->ev[s->nev - 1].t1 = s->now;
		tick(s, 60);
	}
}

/* A module's frame and the call inside it; one py_end() ends both. */
void
py_module(struct sim *s, const char *cls, int64_t index)
{
	struct ev *e = py_push(s, text_num(s, cls, index, ""));

	e->module = (int32_t)index;
	e = py_push(s, "torch/nn/modules/module.py(1747): _call_impl");
	e->module = MODULE_CALL;
	py_chatter(s, 10);
}

void
py_builtin(struct sim *s, const char *method, const char *type)
{
	char pre[160];

	/* 15 digits that pass for the hexadecimal address of an object */
	snprintf(pre, sizeof pre, "<built-in method %s of %s object at 0x7f",
	    method, type);
	py_push(s,
	    text_num(s, pre,
		strcmp(type, "type") == 0
		    ? 5180276480
		    : (int64_t)(1000000000 +
			  mix(s->cf->seed, (uint64_t)s->py) % 8999999999u),
		">"));
}

void
py_end(struct sim *s)
{
	struct ev *e;

	do {
		tick(s, 400);
		e = &s->ev[s->open_py[--s->npy]];
		e->t1 = s->now;
		tick(s, 100);
	} while (e->module == MODULE_CALL);
}

void
py_leaf(struct sim *s, const char *name)
{
	py_begin(s, name);
	py_end(s);
}

/* ---- autograd ------------------------------------------------------------ */

/* The open op made an autograd node: a flow starts at it. */
void
node_add(struct sim *s, enum node_type type)
{
	struct ev *e = &s->ev[s->open_op[s->nop - 1]];
	struct node *n;

	if (s->no_grad)
		return;
	s->node = grow(s->node, &s->capnode, s->nnode + 1, sizeof *s->node);
	n = &s->node[s->nnode++];
	n->type = type;
	n->layer = (int16_t)s->layer;
	n->seq = s->seq;
	n->flow = ++s->flow;
	e->seq = s->seq++;
	e->flow = n->flow;
	e->flags |= EVF_FWD;
}
