/* SPDX-License-Identifier: MIT */
/*
 * Where an op was called: the frames from the root down to the kernel, and the
 * line of the user's program.
 */
#include <strings.h>

#include "cmd/tl-roofline/roof.h"
#include "json/json.h"

struct frames {
	VEC(struct str) list;
};

/* Frames of torch between an op and its caller, not of the user's program. */
static const char *const wrapper_starts[] = { "<built-in", "pybind11_builtins",
	"nn.Module:", NULL };
static const char *const wrapper_parts[] = { "torch/_ops.py",
	"torch/nn/modules/module.py", "torch/utils/_contextlib.py",
	"torch/utils/_device.py", "torch/_tensor.py", "torch/functional.py",
	"torch/overrides.py", "torch/_inductor/", "torch/_functorch/",
	"torch/distributed/c10d_logger.py", "triton/backends/", NULL };
static const char *const wrapper_functions[] = { "__torch_function__",
	"_call_impl", "_wrapped_call_impl", "decorate_context",
	"dispatch_wrapper", "handle_torch_function", "wrapper",
	"custom_wrapper", "wrapper_custom", "outer_wrapper", NULL };

static bool
has(struct str s, const char *part)
{
	return str_find(s, str_of(part), false) >= 0;
}

static bool
is_kept(const struct roof_state *g, const struct node *n)
{
	struct str s = dict_get(g->sink.dict, n->name);

	return n->kind == KIND_OP || has(s, "nn.Module") || has(s, "::") ||
	    has(s, "/");
}

/* Drops numbers of instances. */
static struct str
plain_name(struct roof_state *g, const struct node *n)
{
	return dict_get(g->sink.dict,
	    name_without_numbers(
		g->sink.dict, dict_get(g->sink.dict, n->name)));
}

/*
 * Adds the frames from the root down to a node, inclusive, that are below
 * `from`.
 */
static void
add_frames(struct roof_state *g, struct frames *f, uint32_t from, uint32_t node)
{
	size_t first = f->list.n;

	for (; node != NO_INDEX && node != from; node = g->nodes.v[node].up)
		if (is_kept(g, &g->nodes.v[node]))
			vec_push(&f->list, plain_name(g, &g->nodes.v[node]));
	for (size_t i = first, k = f->list.n; i + 1 < k; i++) {
		struct str s = f->list.v[i];

		f->list.v[i] = f->list.v[--k];
		f->list.v[k] = s;
	}
}

/* ---- entry point ---- */

/* What follows the last such part of a text, or all of it. */
static struct str
behind_last(struct str s, const char *part)
{
	size_t n = strlen(part);

	for (size_t i = s.len; i >= n; i--)
		if (memcmp(s.p + i - n, part, n) == 0)
			return (struct str){ s.p + i, s.len - i };
	return s;
}

static struct str
function_of(struct str frame)
{
	return behind_last(frame, "): ");
}

static bool
is_wrapper(struct str frame)
{
	struct str function = function_of(frame);

	for (size_t i = 0; wrapper_starts[i] != NULL; i++)
		if (str_starts(frame, str_of(wrapper_starts[i])))
			return true;
	for (size_t i = 0; wrapper_parts[i] != NULL; i++)
		if (has(frame, wrapper_parts[i]))
			return true;
	for (size_t i = 0; wrapper_functions[i] != NULL; i++)
		if (str_eq(function, str_of(wrapper_functions[i])))
			return true;
	return false;
}

/* Down to the function with the op's name, else up to a caller. */
static struct str
entry_of(const struct frames *f, const struct frames *below, struct str name)
{
	struct str op = behind_last(name, "::");
	size_t n = f->list.n;

	for (size_t i = 0; i < below->list.n; i++) {
		struct str s = below->list.v[i];

		if (has(s, ".py") && str_find(function_of(s), op, true) >= 0)
			return s;
	}
	for (size_t i = n - 1; i-- > 0;)
		if (has(f->list.v[i], ".py") && !is_wrapper(f->list.v[i]))
			return f->list.v[i];
	return STR("Not found");
}

/* ---- call stack ---- */

static void
put_frames(struct buf *b, const struct str *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (b->len > 0 && b->p[b->len - 1] != '[')
			buf_putc(b, ',');
		json_put_string(b, v[i]);
	}
}

struct tails {
	VEC(struct frames) list;
};

/* The length of the common beginning of two lists. */
static size_t
alike(const struct frames *a, const struct frames *b)
{
	size_t n = 0;

	while (n < a->list.n && n < b->list.n &&
	    str_eq(a->list.v[n], b->list.v[n]))
		n++;
	return n;
}

/* For each kernel the frames below the op, and its name; each once. */
static void
find_tails(
    struct roof_state *g, struct tails *t, const struct call *c, uint32_t node)
{
	for (uint32_t i = 0; i < c->nkernels; i++) {
		uint32_t w = g->lists.v[c->first_kernel + i];
		struct frames f = { 0 };
		bool is_new = true;

		add_frames(g, &f, node, g->above.v[w - g->first_work]);
		vec_push(&f.list, dict_get(g->sink.dict, g->works.v[w].name));
		for (size_t k = 0; k < t->list.n && is_new; k++)
			is_new = t->list.v[k].list.n != f.list.n ||
			    alike(&t->list.v[k], &f) < f.list.n;
		if (is_new)
			vec_push(&t->list, f);
		else
			vec_free(&f.list);
	}
}

static void
put_stack(struct buf *b, const struct frames *f, const struct tails *t)
{
	size_t shared = t->list.v[0].list.n; /* common to all tails */

	for (size_t k = 1; k < t->list.n; k++) {
		size_t n = alike(&t->list.v[0], &t->list.v[k]);

		shared = n < shared ? n : shared;
	}
	buf_putc(b, '[');
	put_frames(b, f->list.v, f->list.n);
	put_frames(b, t->list.v[0].list.v, shared);
	for (size_t k = 0; k < t->list.n && t->list.n > 1; k++) {
		buf_puts(b, b->p[b->len - 1] == '[' ? "[" : ",[");
		put_frames(b, t->list.v[k].list.v + shared,
		    t->list.v[k].list.n - shared);
		buf_putc(b, ']');
	}
	buf_putc(b, ']');
}

void
stack_of(struct roof_state *g, struct call *c, uint32_t node)
{
	struct frames f = { 0 };
	struct tails t = { 0 };
	struct buf b = { 0 };

	add_frames(g, &f, NO_INDEX, node);
	find_tails(g, &t, c, node);
	if (f.list.n == 0 || t.list.n == 0)
		goto done;
	put_stack(&b, &f, &t);
	c->stack = intern_put(g->sink.dict->text, buf_str(&b));
	c->entry_point = intern_put(g->sink.dict->text,
	    entry_of(&f, &t.list.v[0], dict_get(g->sink.dict, c->name)));
done:
	for (size_t i = 0; i < t.list.n; i++)
		vec_free(&t.list.v[i].list);
	vec_free(&t.list);
	vec_free(&f.list);
	buf_free(&b);
}
