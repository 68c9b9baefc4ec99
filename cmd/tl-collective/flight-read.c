/* SPDX-License-Identifier: MIT */
/* Reads a flight recorder's dump into calls; see flight.h. */
#include "cmd/tl-collective/flight.h"

#include <stddef.h>

#include "json/json.h"

/* A stack and what is shown of it. */
struct stack {
	uint32_t frame, whole;
};

struct dump_reader {
	bool is_dump;
	int64_t base_ns;
	VEC(struct fcall) calls; /* created_ns relative to the base */
	struct intern *texts;
	struct intern *frames; /* lists of frames, as in the dump */
	VEC(struct stack) stacks;
	struct str config;
	struct arena *mem;
	struct buf text, bytes;
};

struct dump_reader *
dump_reader_new(void)
{
	struct dump_reader *d = xcalloc(1, sizeof *d);

	d->texts = intern_create();
	d->frames = intern_create();
	d->mem = arena_create();
	return d;
}

void
dump_begin(struct dump_reader *d)
{
	d->is_dump = false;
	d->base_ns = 0;
	d->calls.n = d->stacks.n = 0;
	d->config = STR("");
	intern_clear(d->texts);
	intern_clear(d->frames);
	arena_reset(d->mem, 0);
}

/* ---- stacks ---- */

/* Frames of PyTorch and C++ precede the caller's. */
static bool
is_callers(struct str file)
{
	return file.len > 0 && !str_ends(file, STR(".cpp")) &&
	    !str_ends(file, STR(".h")) && !str_ends(file, STR(".so")) &&
	    str_find(file, STR("/torch/"), false) < 0 &&
	    !str_starts(file, STR("torch/"));
}

static struct str
base_name(struct str path)
{
	for (size_t i = path.len; i-- > 0;)
		if (path.p[i] == '/')
			return (struct str){ path.p + i + 1, path.len - i - 1 };
	return path;
}

/* A member of a frame, which is an object in the list. */
static struct str
part_of(struct arena *mem, struct str frame, struct str name)
{
	json_items list = { 0 };
	struct str text = STR("");

	if (json_split(&list, mem, frame))
		text = json_member_text(&list, name);
	vec_free(&list);
	return text;
}

static void
put_frame(struct buf *b, struct arena *mem, struct str frame, bool is_short)
{
	struct str name = part_of(mem, frame, STR("name"));
	struct str line = part_of(mem, frame, STR("line"));
	struct str file = part_of(mem, frame, STR("filename"));

	if (is_short)
		file = base_name(file);
	buf_put(b, name.p, name.len);
	buf_puts(b, " (");
	buf_put(b, file.p, file.len);
	buf_putc(b, ':');
	buf_put(b, line.p, line.len);
	buf_putc(b, ')');
}

/* From the innermost frame of the user's code outwards. */
static struct stack
read_frames(struct dump_reader *d, struct str list)
{
	struct arena *mem = arena_create();
	json_items frames = { 0 };
	struct stack s;
	size_t first = 0;

	if (!json_split(&frames, mem, list))
		frames.n = 0;
	while (first < frames.n &&
	    !is_callers(part_of(mem, frames.v[first].text, STR("filename"))))
		first++;
	if (first == frames.n)
		first = 0;
	d->text.len = 0;
	if (frames.n > 0)
		put_frame(&d->text, mem, frames.v[first].text, true);
	s.frame = intern_put(d->texts, buf_str(&d->text));
	d->text.len = 0;
	for (size_t i = first; i < frames.n; i++) {
		buf_puts(&d->text, i > first ? " < " : "");
		put_frame(&d->text, mem, frames.v[i].text, false);
	}
	s.whole = intern_put(d->texts, buf_str(&d->text));
	vec_free(&frames);
	arena_destroy(mem);
	return s;
}

static struct stack
stack_of(struct dump_reader *d, struct str list)
{
	uint32_t id = intern_put(d->frames, list);

	if (id == d->stacks.n)
		vec_push(&d->stacks, read_frames(d, list));
	return d->stacks.v[id];
}

/* ---- a call ---- */

/* Elements of "[[1024,8],[3]]"; NONE: too many. */
static int64_t
elements(struct str sizes)
{
	int64_t sum = 0, product = 1, n = 0;
	int depth = 0;

	for (size_t i = 0; i < sizes.len; i++) {
		char c = sizes.p[i];

		if ((unsigned)(c - '0') < 10) {
			if (__builtin_mul_overflow(n, 10, &n) ||
			    !num_add(n, c - '0', &n))
				return NONE;
			continue;
		}
		if (i > 0 && (unsigned)(sizes.p[i - 1] - '0') < 10 &&
		    __builtin_mul_overflow(product, n, &product))
			return NONE;
		n = 0;
		depth += (c == '[') - (c == ']');
		if (c == '[')
			product = 1;
		if (c == ']' && depth == 1 && !num_add(sum, product, &sum))
			return NONE;
	}
	return sum;
}

/* all_reduce of "nccl:all_reduce"; also the ranks of "nccl:send 1->2". */
static void
take_name(struct dump_reader *d, struct fcall *c, struct str name)
{
	const char *colon = memchr(name.p, ':', name.len);
	const char *blank;
	struct str rest;
	uint32_t ranks[2] = { 0 };
	bool is_recv;

	if (colon != NULL)
		name = (struct str){ colon + 1,
			(size_t)(name.p + name.len - colon - 1) };
	is_recv = str_starts(name, STR("recv "));
	blank = memchr(name.p, ' ', name.len);
	c->name = intern_put(d->texts, name);
	if (blank == NULL || (!is_recv && !str_starts(name, STR("send "))))
		return;
	rest = (struct str){ blank, (size_t)(name.p + name.len - blank) };
	for (size_t i = 0, k = 0; i < rest.len; i++)
		if ((unsigned)(rest.p[i] - '0') < 10 && ranks[k] < 100000000)
			ranks[k] = ranks[k] * 10 + (unsigned)(rest.p[i] - '0');
		else
			k |= rest.p[i] == '-';
	c->src = ranks[is_recv];
	c->dst = ranks[!is_recv];
}

/* Arguments that are read; text where text is set. */
static const struct member {
	struct str key;
	uint16_t at;
	bool is_text;
} members[] = {
#define MEMBER_AT(key, m, is_text)                                \
	{                                                         \
		STR_INIT(key), offsetof(struct fcall, m), is_text \
	}
	MEMBER_AT("record_id", id, false),
	MEMBER_AT("collective_seq_id", seq, false),
	MEMBER_AT("p2p_seq_id", p2p_seq, false),
	MEMBER_AT("timeout_ms", timeout_ms, false),
	MEMBER_AT("process_group", group, true),
	MEMBER_AT("input_sizes", sizes, true),
	MEMBER_AT("input_dtypes", in_types, true),
	MEMBER_AT("output_dtypes", out_types, true),
};

static void
take_member(struct dump_reader *d, struct fcall *c, struct str key,
    const struct value *v)
{
	struct str text = v->type >= VAL_STR ? v->s : STR("");

	for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
		const struct member *m = &members[i];
		void *to = (char *)c + m->at;

		if (!str_eq(key, m->key))
			continue;
		if (m->is_text)
			*(uint32_t *)to = intern_put(d->texts, text);
		else if (v->type == VAL_INT)
			*(int64_t *)to = v->i;
	}
	if (str_eq(key, STR("input_sizes")))
		c->in = elements(text);
	else if (str_eq(key, STR("output_sizes")))
		c->out = elements(text);
	else if (str_eq(key, STR("is_p2p")))
		c->is_p2p = v->type == VAL_TRUE;
	else if (str_eq(key, STR("state")))
		c->is_done = str_eq(text, STR("completed"));
	else if (str_eq(key, STR("frames"))) {
		struct stack s = stack_of(d, text);

		c->frame = s.frame;
		c->stack = s.whole;
	}
}

static void
take_event(struct dump_reader *d, const struct dict *st, const struct event *ev)
{
	struct entries it = entries_of(st, ev);
	struct fcall c = { .in = NONE, .out = NONE };
	uint32_t none;

	if (!event_is(ev, KINDS_DUMP) ||
	    !str_eq(dict_get(st, ev->shape->cat), STR("flight_recorder")))
		return;
	d->is_dump = true;
	none = intern_put(d->texts, STR(""));
	c.group = c.sizes = c.in_types = c.out_types = none;
	c.frame = c.stack = none;
	take_name(d, &c, dict_get(st, ev->name));
	c.created_ns = (ev->shape->has & HAS_TS) != 0 ? ev->ts_ns : NONE;
	while (entries_next(&it))
		if (it.entry->group == GROUP_ARGS)
			take_member(
			    d, &c, dict_get(st, it.entry->key), &it.val);
	vec_push(&d->calls, c);
}

/* ---- around ---- */

static void
take_source(struct dump_reader *d, const struct source *s)
{
	const struct fact *format = source_fact(s, "format");

	(void)source_int(s, "base", &d->base_ns);
	d->is_dump |= format != NULL && str_eq(format->val.s, STR("flight"));
}

void
dump_item(struct dump_reader *d, const struct stream_in *in, enum item item)
{
	const struct fact *meta = &in->meta.fact;

	if (item == ITEM_SOURCE)
		take_source(d, &in->source);
	else if (item == ITEM_EVENT)
		take_event(d, in->dict, &in->ev);
	else if (item == ITEM_META && meta->val.s.p != NULL &&
	    str_eq(meta->key, STR("pg_config")))
		d->config = arena_str(d->mem, meta->val.s);
}

static void
put_words(struct buf *b, const void *p, size_t n)
{
	static const char zeros[8];

	buf_put(b, p, n);
	buf_put(b, zeros, (8 - n % 8) % 8);
}

static void
put_text(struct buf *b, struct str s)
{
	uint64_t len = s.len;

	put_words(b, &len, sizeof len);
	put_words(b, s.p, s.len);
}

struct str
dump_put(struct dump_reader *d)
{
	uint64_t counts[2] = { d->calls.n, d->texts->list.n + 1 };
	struct buf *b = &d->bytes;

	b->len = 0;
	if (!d->is_dump)
		return STR("");
	for (size_t i = 0; i < d->calls.n; i++) {
		struct fcall *c = &d->calls.v[i];

		if (c->created_ns == NONE ||
		    !num_add(c->created_ns, d->base_ns, &c->created_ns))
			c->created_ns = 0;
	}
	put_words(b, counts, sizeof counts);
	put_words(b, d->calls.v, d->calls.n * sizeof *d->calls.v);
	put_text(b, d->config);
	for (uint32_t i = 0; i < d->texts->list.n; i++)
		put_text(b, intern_get(d->texts, i));
	return buf_str(b);
}

void
dump_get(struct dump *d, struct str bytes)
{
	const char *at = bytes.p;
	uint64_t counts[2], len;
	struct str *texts;

	memcpy(counts, at, sizeof counts);
	d->ncalls = counts[0];
	d->ntexts = counts[1] - 1;
	at += sizeof counts;
	d->calls = (const struct fcall *)(const void *)at;
	at += d->ncalls * sizeof *d->calls;
	texts = xcalloc(counts[1], sizeof *texts);
	for (size_t i = 0; i < counts[1]; i++) {
		memcpy(&len, at, sizeof len);
		at += sizeof len;
		texts[i] = (struct str){ at, len };
		at += (len + 7) / 8 * 8;
	}
	d->config = texts[0];
	d->texts = texts + 1;
}
