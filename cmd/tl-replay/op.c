/* SPDX-License-Identifier: MIT */
/* An op as a script calls it, or why it cannot. */
#include "cmd/tl-replay/replay.h"
#include "json/json.h"

void
uid_text(const struct replay *g, const struct run *r, struct buf *out)
{
	char text[UID_MAX];

	if (g->sink.sources.list.n > 1)
		buf_printf(out, "%" PRIu32 ":", r->rec.source);
	buf_put(out, text, uid_put(text, r->rec.uid));
}

/* Writes arguments as JSON; returns NULL, or why it cannot. */
static const char *
arguments(struct replay *g, struct form *f, uint32_t name,
    const struct op_args *args, struct buf *out)
{
	const char *why = form_read(g, name, args, f);
	struct buf text = { 0 };

	if (why != NULL)
		return why;
	f->schema = schema_match(g->schemas, f->name, &f->args, &text);
	text.len = 0;
	if (!form_put(g, f, IR_V2, out, &text))
		why = arena_printf(g->mem, "%.*s", (int)text.len, text.p);
	buf_free(&text);
	return why;
}

static void
put_called(struct buf *out, const struct form *f, const struct buf *arguments)
{
	buf_puts(out, "{\"op_name\":");
	json_put_string(out, f->name);
	buf_puts(out, ",\"overload\":");
	if (f->schema != NULL)
		json_put_string(out, f->schema->overload);
	else
		buf_puts(out, "null");
	buf_puts(out, ",\"replay_ir\":");
	buf_put(out, arguments->p, arguments->len);
	buf_putc(out, '}');
}

/* Of an autograd node the script replays the backward of its forward op. */
static const char *
build_backward(struct replay *g, struct op *op, struct buf *out)
{
	const uint64_t *at = map_get(&g->forward_of,
	    event_key(op->first->rec.source, op->first->forward));
	const struct forward *forward;
	struct form f = { .kernel = op->form.kernel };
	struct buf args = { 0 };
	const char *why;

	if (at == NULL)
		return op->first->forward.id == 0
		    ? "not a PyTorch op: a label or an extension function"
		    : "its forward op is not in the trace";
	forward = &g->forwards.v[*at];
	if (!is_dispatched(dict_get(g->sink.dict, forward->name)))
		return "its forward op is not a PyTorch op";
	why = arguments(g, &f, forward->name, &forward->args, &args);
	if (why == NULL)
		put_called(out, &f, &args);
	buf_free(&args);
	return why;
}

static const char *
build_triton(struct replay *g, struct op *op, struct buf *out)
{
	const uint64_t *at = map_get(&g->triton_of,
	    event_key(op->first->rec.source, op->first->rec.uid));

	if (at == NULL)
		return NULL;
	op->triton = &g->tritons.v[*at];
	return arguments(g, &op->form, op->first->name, &op->first->args, out);
}

static struct str
kept(struct replay *g, const struct buf *b)
{
	return arena_str(g->mem, buf_str(b));
}

void
op_build(struct replay *g, struct op *op)
{
	const struct run *r = op->first;
	struct str name = dict_get(g->sink.dict, r->name);
	struct buf ir = { 0 }, forward = { 0 };
	const char *why;

	op->form.name = name;
	op->form.kernel =
	    dict_get(g->sink.dict, g->kernels.v[r->first_kernel].name);
	if (is_dispatched(name))
		why = arguments(g, &op->form, r->name, &r->args, &ir);
	else if ((why = build_triton(g, op, &ir)) == NULL && ir.len == 0)
		why = build_backward(g, op, &forward);
	if (why != NULL)
		op->missing = str_of(why);
	else if (forward.len > 0)
		op->backward_of = kept(g, &forward);
	else
		op->ir = kept(g, &ir);
	buf_free(&ir);
	buf_free(&forward);
}
