/* SPDX-License-Identifier: MIT */
/* rocprofv3 results: tables, and the file around the records. */
#include "cmd/tl-decode/rocprof/rocprof.h"

#include "cmd/tl-decode/format.h"

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
	} else if (v->type == VAL_STRX && str_eq(path, STR("node.hostname"))) {
		facts_str(&p->s->facts, "hostname", v->s);
	} else if (v->type == VAL_JSONX && str_eq(path, STR("command"))) {
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

/* Names in rocprofv3's CSV. */
const struct rocprof_registers rocprof_registers[SYMBOL_REGISTERS] = {
	{ STR_INIT("arch_vgpr_count"), STR_INIT("VGPR_Count") },
	{ STR_INIT("accum_vgpr_count"), STR_INIT("Accum_VGPR_Count") },
	{ STR_INIT("sgpr_count"), STR_INIT("SGPR_Count") },
};

static void
on_symbol(struct process *p, struct str path, struct value *v)
{
	struct symbol_row *r = &p->symbol_row;

	if (v->type == VAL_INT && str_eq(path, STR("kernel_id")))
		r->id = v->i;
	for (int i = 0; v->type == VAL_INT && i < SYMBOL_REGISTERS; i++)
		if (str_eq(path, rocprof_registers[i].of_symbol))
			r->registers[i] = v->i;
	if (v->type != VAL_STRX || v->s.len == 0)
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
		INTERN_NONE, { -1, -1, -1 } };
	rocprof_flatten(p, text, on_symbol);
	if (r->id < 0)
		return;
	/* the last symbol of an id wins */
	place = map_put(&p->symbols, (uint64_t)r->id, NULL);
	*place = p->symbol_list.n;
	vec_push(&p->symbol_list,
	    ((struct symbol){ first_of(r->truncated, r->formatted, r->mangled),
		first_of(r->formatted, r->demangled, r->mangled),
		{ r->registers[0], r->registers[1], r->registers[2] } }));
}

static void
free_operations(struct process *p)
{
	for (size_t i = 0; i < p->operations.n; i++)
		vec_free(&p->operations.v[i].names);
	vec_free(&p->operations);
}

/* The current string token as a word. */
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

static void
each_element(struct process *p, void (*fn)(struct process *, struct str))
{
	trace_open(p->t, '[', "expected a list");
	for (bool first = true; trace_element(p->t, first); first = false) {
		struct str text;

		if (trace_peek(p->t) != '{')
			trace_die(p->t, "expected an object");
		if (trace_span(p->t, &text))
			fn(p, text);
	}
}

static void
read_buffer(struct process *p, struct str name)
{
	bool ready = p->has_strings && p->has_symbols && p->has_agents;
	uint32_t buffer = intern_put(p->words, name);
	struct str text;

	trace_open(p->t, '[', "expected a list of records");
	for (bool first = true; trace_record(p->t, first, &text);
	     first = false) {
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
	trace_open(p->t, '{', "expected an object of buffers");
	for (bool first = true; trace_member(p->t, first, &p->name);
	     first = false)
		read_buffer(p, buf_str(&p->name));
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
read_member(struct process *p, struct str name, struct buf *text)
{
	struct str whole;
	struct value v;

	if (str_eq(name, STR("buffer_records"))) {
		read_buffers(p);
	} else if (str_eq(name, STR("kernel_symbols"))) {
		each_element(p, read_symbol);
		p->has_symbols = true;
	} else if (str_eq(name, STR("strings"))) {
		p->has_strings = trace_span(p->t, &whole);
		if (p->has_strings)
			read_strings(p, whole);
	} else if (trace_value(p->t, text, &v)) {
		source_meta(p->s, name, v);
	} else {
		text->len = 0;
	}
}

/* From the first start to the last end of a process. */
static void
add_window(struct process *p)
{
	struct facts *f = &p->s->facts;
	struct source so;
	int64_t a, b, other;

	if (!p->has_init || !p->has_fini || !source_is_time(p->init_ns) ||
	    !source_is_time(p->fini_ns))
		return;
	a = source_time(p->s, p->init_ns);
	b = source_time(p->s, p->fini_ns);
	so = facts_source(f, 0, false); /* after the base, a fact, too */
	if (source_int(&so, "window_start", &other) && other < a)
		a = other;
	if (source_int(&so, "window_end", &other) && other > b)
		b = other;
	facts_int(f, "window_start", a);
	facts_int(f, "window_end", b);
}

void
rocprof_agents(struct process *p, struct buf *text)
{
	struct json list;
	enum json_token t;

	buf_room(text, IN_PAD);
	memset(text->p + text->len, 0, IN_PAD);
	p->has_agents = true;
	facts_set(&p->s->facts, "devices",
	    (struct value){ .type = VAL_JSONX, .s = buf_str(text) });
	/* rocprof_flatten() reads one object at a time */
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

/* Metadata and agents are kept whole before they are read. */
static void
understand(struct process *p, struct str name, struct buf *text)
{
	if (str_eq(name, STR("agents")))
		rocprof_agents(p, text);
	if (!str_eq(name, STR("metadata")))
		return;
	buf_room(text, IN_PAD);
	memset(text->p + text->len, 0, IN_PAD);
	rocprof_flatten(p, buf_str(text), on_metadata);
	add_window(p);
}

struct process *
rocprof_open(struct source_state *s)
{
	struct process *p = xcalloc(1, sizeof *p);

	p->s = s;
	p->maker.st = s->dict;
	p->symbol_names = intern_create();
	p->words = intern_create();
	facts_int(&s->facts, "api_trace", 1);
	return p;
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
	buf_free(&p->name);
	buf_free(&p->text);
	vec_release(p);
}

static void
read_process(struct json_trace *t)
{
	struct process *p = rocprof_open(t->s);
	struct buf name = { 0 }, text = { 0 };

	t->reader = p;
	p->t = t;
	trace_open(t, '{', "expected a process, an object");
	for (bool first = true; trace_member(t, first, &name); first = false) {
		text.len = 0;
		read_member(p, buf_str(&name), &text);
		if (text.len > 0)
			understand(p, buf_str(&name), &text);
	}
	write_waiting(p);
	rocprof_close(p);
	buf_free(&name);
	buf_free(&text);
	t->reader = NULL;
}

static void
read_processes(struct json_trace *t, bool may_be_open)
{
	(void)may_be_open;
	for (bool first = true; trace_element(t, first); first = false)
		read_process(t);
}

static void
release(struct json_trace *t)
{
	rocprof_close(t->reader);
}

/* ---- the format ---- */

static const struct str marks[] = { STR_INIT("correlation_id"),
	STR_INIT("start_timestamp"), { 0 } };

static const struct salvage_rules rules = {
	.marks = marks,
	.key_depth = JSON_MAX_DEPTH,
	.max_keys = SHAPE_MAX_ENTRIES / 2,
};

static const struct json_format json = {
	.name = "rocprofv3",
	.events = STR_INIT("rocprofiler-sdk-tool"),
	.read = read_processes,
	.release = release,
	.rules = &rules,
};

static void
read_json(struct source_state *s)
{
	json_read(s, &json);
}

const struct format rocprof_format = {
	.name = "rocprofv3",
	.json = &json,
	.read = read_json,
	.can_salvage = true,
};
