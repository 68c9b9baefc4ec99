/* SPDX-License-Identifier: MIT */
/* rocprofv3 results: the tables, and the file around the records. */
#include "rocprof.h"

/* ---- tables ---- */

static void
on_metadata(struct process *p, struct str path, struct value *v)
{
	if (v->type == VAL_INT && str_eq(path, STR("pid"))) {
		p->pid = v->i;
		p->has_pid = true;
	} else if (v->type == VAL_INT && str_eq(path, STR("init_time"))) {
		p->init_ns = v->i;
		p->has_init = true;
	} else if (v->type == VAL_INT && str_eq(path, STR("fini_time"))) {
		p->fini_ns = v->i;
		p->has_fini = true;
	} else if (v->type == VAL_STR && str_eq(path, STR("node.hostname"))) {
		facts_str(&p->s->facts, "hostname", v->s);
	} else if (v->type == VAL_JSON && str_eq(path, STR("command"))) {
		facts_set(&p->s->facts, "command",
		    (struct value){ .type = VAL_JSONX, .s = v->s });
	}
}

static void
on_agent(struct process *p, struct str path, struct value *v)
{
	struct agent_row *r = &p->agent_row;

	if (v->type != VAL_INT)
		return;
	if (str_eq(path, STR("id.handle")))
		r->handle = v->i;
	else if (str_eq(path, STR("gpu_index")))
		r->gpu_index = v->i;
	else if (str_eq(path, STR("logical_node_id")))
		r->node = v->i;
	else if (str_eq(path, STR("type")))
		r->type = v->i;
}

static void
read_agent(struct process *p, struct str text)
{
	struct agent_row *r = &p->agent_row;

	*r = (struct agent_row){ .gpu_index = -1, .node = -1 };
	rocprof_flatten(p, text, on_agent);
	vec_push(&p->agents,
	    ((struct agent){ .handle = r->handle,
		.device = r->gpu_index >= 0 ? r->gpu_index
		    : r->node >= 0          ? r->node
					    : r->handle,
		.is_gpu = r->type == 2 }));
}

static void
on_symbol(struct process *p, struct str path, struct value *v)
{
	struct symbol_row *r = &p->symbol_row;

	if (v->type == VAL_INT && str_eq(path, STR("kernel_id")))
		r->id = v->i;
	if (v->type != VAL_STR || v->s.len == 0)
		return;
	if (str_eq(path, STR("kernel_name")))
		r->mangled = intern_put(p->symbol_names, v->s);
	else if (str_eq(path, STR("formatted_kernel_name")))
		r->formatted = intern_put(p->symbol_names, v->s);
	else if (str_eq(path, STR("demangled_kernel_name")))
		r->demangled = intern_put(p->symbol_names, v->s);
	else if (str_eq(path, STR("truncated_kernel_name")))
		r->truncated = intern_put(p->symbol_names, v->s);
}

static uint32_t
first_of(uint32_t a, uint32_t b, uint32_t c)
{
	return a != INTERN_NONE ? a : b != INTERN_NONE ? b : c;
}

static void
read_symbol(struct process *p, struct str text)
{
	struct symbol_row *r = &p->symbol_row;
	uint64_t *place;

	*r = (struct symbol_row){ -1, INTERN_NONE, INTERN_NONE, INTERN_NONE,
		INTERN_NONE };
	rocprof_flatten(p, text, on_symbol);
	if (r->id < 0)
		return;
	/* a later symbol of the same id wins */
	place = map_put(&p->symbols, (uint64_t)r->id, NULL);
	*place = p->symbol_list.n;
	vec_push(&p->symbol_list,
	    ((struct symbol){ first_of(r->truncated, r->formatted, r->mangled),
		first_of(r->formatted, r->demangled, r->mangled) }));
}

static void
free_operations(struct process *p)
{
	for (size_t i = 0; i < p->operations.n; i++)
		vec_free(&p->operations.v[i].names);
	vec_free(&p->operations);
}

/* The string token just read, as a word. */
static uint32_t
word_of(struct process *p, const struct json *j)
{
	const char *error;
	size_t at;

	p->text.len = 0;
	if (!json_unescape(j->raw, &p->text, &error, &at))
		rocprof_die(p, j->raw.p + at, error);
	return intern_put(p->words, buf_str(&p->text));
}

/* {"buffer_records":[{"kind":"HIP_API","operations":["NONE", ...]}, ...]} */
static void
read_strings(struct process *p, struct str text)
{
	struct json *j = &p->sub;
	struct operations *ops = NULL;
	bool in_buffers = false, in_list = false, is_kind = false;
	enum json_token t;

	free_operations(p);
	json_start(j, text.p, text.len);
	while ((t = json_next(j)) > JSON_T_END) {
		if (t == JSON_T_KEY && j->depth == 1)
			in_buffers = str_eq(j->raw, STR("buffer_records"));
		else if (t == JSON_T_KEY)
			is_kind = str_eq(j->raw, STR("kind"));
		if (!in_buffers)
			continue;
		if (t == JSON_T_OBJECT && j->depth == 3) {
			ops = vec_add(&p->operations);
			memset(ops, 0, sizeof *ops);
			ops->kind = INTERN_NONE;
		} else if (t == JSON_T_ARRAY && j->depth == 4) {
			in_list = true;
		} else if (t == JSON_T_ARRAY_END) {
			in_list = false;
		} else if (t == JSON_T_STRING && ops != NULL) {
			if (in_list)
				vec_push(&ops->names, word_of(p, j));
			else if (is_kind)
				ops->kind = word_of(p, j);
		}
	}
	if (t != JSON_T_END)
		rocprof_die(p, j->where, j->error);
}

/* ---- the file around ---- */

/* The whole value at the cursor, in the window. */
static struct str
span(struct source_state *s)
{
	enum json_status status;
	struct str raw;

	s->in->p = s->json.p;
	in_release(s->in);
	while ((status = json_span(&s->json, &raw)) != JSON_OK)
		source_retry(s, status);
	return raw;
}

/* White space away; dies at the end of the file. */
static unsigned char
peek(struct source_state *s)
{
	struct json *j = &s->json;

	json_space(j);
	while (j->p >= j->end) {
		if (j->eof)
			source_die(
			    s, j->p, "the file ends here: it is cut off");
		s->in->p = j->p;
		source_need_more(s);
		json_space(j);
	}
	return *j->p;
}

/* In a list or object: true when another element follows. */
static bool
next_element(struct source_state *s, bool first, unsigned char close)
{
	unsigned char c = peek(s);

	if (c == close) {
		s->json.p++;
		return false;
	}
	if (!first) {
		if (c != ',')
			source_die(s, s->json.p,
			    "expected ',' or the closing bracket");
		s->json.p++;
		peek(s);
	}
	return true;
}

static void
open_container(struct source_state *s, unsigned char open, const char *what)
{
	if (peek(s) != open)
		source_die(s, s->json.p, what);
	s->json.p++;
}

/* The key at the cursor, in name; cursor at its value. */
static void
read_name(struct source_state *s, struct buf *name)
{
	struct str raw;
	const char *error;
	size_t at;

	if (peek(s) != '"')
		source_die(s, s->json.p, "expected a key in quotes");
	raw = span(s);
	name->len = 0;
	raw = (struct str){ raw.p + 1, raw.len - 2 };
	if (!json_unescape(raw, name, &error, &at))
		source_die(s, (const unsigned char *)raw.p + at, error);
	if (peek(s) != ':')
		source_die(s, s->json.p, "expected ':' after a key");
	s->json.p++;
	peek(s);
}

static void
each_element(struct process *p, void (*fn)(struct process *, struct str))
{
	open_container(p->s, '[', "expected a list");
	for (bool first = true; next_element(p->s, first, ']'); first = false) {
		if (peek(p->s) != '{')
			source_die(p->s, p->s->json.p, "expected an object");
		fn(p, span(p->s));
	}
}

static void
read_buffer(struct process *p, struct str name)
{
	bool ready = p->has_strings && p->has_symbols && p->has_agents;
	uint32_t buffer = intern_put(p->words, name);

	open_container(p->s, '[', "expected a list of records");
	for (bool first = true; next_element(p->s, first, ']'); first = false) {
		struct str text;

		if (peek(p->s) != '{')
			source_die(
			    p->s, p->s->json.p, "expected a record, an object");
		text = span(p->s);
		if (ready) {
			rocprof_record(p, buffer, text);
		} else {
			vec_push(&p->waiting,
			    ((struct waiting){ buffer, p->texts.len, text.len,
				in_offset(p->s->in,
				    (const unsigned char *)text.p) }));
			buf_put(&p->texts, text.p, text.len);
		}
		if (progress_due)
			progress_show(in_consumed(p->s->in), in_size(p->s->in));
	}
}

static void
read_buffers(struct process *p)
{
	open_container(p->s, '{', "expected an object of buffers");
	for (bool first = true; next_element(p->s, first, '}'); first = false) {
		read_name(p->s, &p->name);
		read_buffer(p, buf_str(&p->name));
	}
}

static void
write_waiting(struct process *p)
{
	buf_room(&p->texts, IN_PAD);
	memset(p->texts.p + p->texts.len, 0, IN_PAD);
	for (size_t i = 0; i < p->waiting.n; i++) {
		const struct waiting *w = &p->waiting.v[i];

		p->copy = p->texts.p + w->at;
		p->copy_offset = w->offset;
		rocprof_record(p, w->buffer, (struct str){ p->copy, w->len });
	}
}

static void
read_other(struct process *p, struct str name, struct buf *text)
{
	enum json_status status;
	struct value v;

	p->s->in->p = p->s->json.p;
	while ((status = source_value(p->s, text, &v)) != JSON_OK)
		source_retry(p->s, status);
	source_meta(p->s, name, v);
}

static void
read_member(struct process *p, struct str name, struct buf *text)
{
	if (str_eq(name, STR("buffer_records"))) {
		read_buffers(p);
	} else if (str_eq(name, STR("kernel_symbols"))) {
		each_element(p, read_symbol);
		p->has_symbols = true;
	} else if (str_eq(name, STR("strings"))) {
		read_strings(p, span(p->s));
		p->has_strings = true;
	} else {
		read_other(p, name, text);
	}
}

static void
tell_window(struct source_state *s, const struct process *p)
{
	int64_t a, b;

	if (!p->has_init || !p->has_fini || !source_is_time(p->init_ns) ||
	    !source_is_time(p->fini_ns))
		return;
	a = source_time(s, p->init_ns);
	b = source_time(s, p->fini_ns);
	if (!s->has_window || a < s->window_start)
		s->window_start = a;
	if (!s->has_window || b > s->window_end)
		s->window_end = b;
	s->has_window = true;
	facts_int(&s->facts, "window_start", s->window_start);
	facts_int(&s->facts, "window_end", s->window_end);
}

/* Metadata and agents are kept whole, and then understood. */
static void
understand(struct process *p, struct str name, struct buf *text)
{
	struct json list;
	enum json_token t;

	buf_room(text, IN_PAD);
	memset(text->p + text->len, 0, IN_PAD);
	if (str_eq(name, STR("metadata"))) {
		rocprof_flatten(p, buf_str(text), on_metadata);
		tell_window(p->s, p);
		return;
	}
	if (!str_eq(name, STR("agents")))
		return;
	p->has_agents = true;
	facts_set(&p->s->facts, "devices",
	    (struct value){ .type = VAL_JSONX, .s = buf_str(text) });
	/* element by element: flatten() reads one object */
	json_start(&list, text->p, text->len);
	while ((t = json_next(&list)) > JSON_T_END) {
		const unsigned char *from = list.p - 1;

		if (t != JSON_T_OBJECT)
			continue;
		if (json_skip(&list) != JSON_OK)
			break;
		read_agent(p,
		    (struct str){
			(const char *)from, (size_t)(list.p - from) });
	}
}

void
rocprof_close(struct process *p)
{
	map_free(&p->symbols);
	intern_destroy(p->symbol_names);
	vec_free(&p->symbol_list);
	vec_free(&p->agents);
	free_operations(p);
	intern_destroy(p->words);
	buf_free(&p->texts);
	vec_free(&p->waiting);
	maker_free(&p->maker);
	buf_free(&p->path);
	buf_free(&p->list);
	buf_free(&p->name);
	buf_free(&p->text);
	vec_release(p);
}

static void
read_process(struct source_state *s)
{
	struct process *p = xcalloc(1, sizeof *p);

	s->process = p;
	p->s = s;
	p->maker.st = s->strings;
	p->symbol_names = intern_create();
	p->words = intern_create();
	open_container(s, '{', "expected a process, an object");
	for (bool first = true; next_element(s, first, '}'); first = false) {
		read_name(s, &s->key);
		s->text.len = 0;
		read_member(p, buf_str(&s->key), &s->text);
		if (s->text.len > 0)
			understand(p, buf_str(&s->key), &s->text);
	}
	write_waiting(p);
	rocprof_close(p);
	s->process = NULL;
}

void
rocprof_read(struct source_state *s)
{
	facts_str(&s->facts, "format", STR("rocprofv3"));
	s->events_began = true;
	open_container(s, '[', "expected a list of processes");
	for (bool first = true; next_element(s, first, ']'); first = false)
		read_process(s);
	s->events_ended = true;
}
