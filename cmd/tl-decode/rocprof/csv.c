/* SPDX-License-Identifier: MIT */
/*
 * rocprofv3's CSV: a file per kind of record. Files of a run have a common
 * prefix (X_kernel_trace.csv, X_hip_api_trace.csv ...) and are one source: any
 * of them opens all. Rows are the JSON's records, so a table maps columns to
 * members. Hardware counters have their own rows, one per counter of a
 * dispatch; they wait, and become arguments of the dispatch.
 */
#include "cmd/tl-decode/rocprof/rocprof.h"

#include <unistd.h>

#include "cmd/tl-decode/format.h"
#include "stream/from-json.h"
#include "stream/run.h"
#include "json/json.h"

static const struct str kernels = STR_INIT("kernel_dispatch");

/* What a column is, besides a member. */
enum use { AS_MEMBER, AS_AGENT, AS_BUFFER, AS_PROCESS, AS_NAME, AS_NOTHING };

struct column {
	struct str name, path;
	enum use use;
};

static const struct column columns[] = {
#define DISPATCH(path) STR_INIT("dispatch_info." path)
	{ STR_INIT("Kind"), STR_INIT("kind"), AS_BUFFER },
	{ STR_INIT("Domain"), STR_INIT("kind"), AS_BUFFER },
	{ STR_INIT("Function"), STR_INIT("operation"), AS_MEMBER },
	{ STR_INIT("Operation"), STR_INIT("operation"), AS_MEMBER },
	{ STR_INIT("Direction"), STR_INIT("operation"), AS_MEMBER },
	{ STR_INIT("Process_Id"), STR_INIT(""), AS_PROCESS },
	{ STR_INIT("Thread_Id"), STR_INIT("thread_id"), AS_MEMBER },
	{ STR_INIT("Correlation_Id"), STR_INIT("correlation_id.internal"),
	    AS_MEMBER },
	{ STR_INIT("Start_Timestamp"), STR_INIT("start_timestamp"), AS_MEMBER },
	{ STR_INIT("End_Timestamp"), STR_INIT("end_timestamp"), AS_MEMBER },
	{ STR_INIT("Stream_Id"), STR_INIT("stream_id.handle"), AS_MEMBER },
	{ STR_INIT("Agent_Id"), DISPATCH("agent_id.handle"), AS_AGENT },
	{ STR_INIT("Source_Agent_Id"), STR_INIT("src_agent_id.handle"),
	    AS_AGENT },
	{ STR_INIT("Destination_Agent_Id"), STR_INIT("dst_agent_id.handle"),
	    AS_AGENT },
	{ STR_INIT("Queue_Id"), DISPATCH("queue_id.handle"), AS_MEMBER },
	{ STR_INIT("Dispatch_Id"), DISPATCH("dispatch_id"), AS_MEMBER },
	{ STR_INIT("Kernel_Id"), DISPATCH("kernel_id"), AS_MEMBER },
	{ STR_INIT("Kernel_Name"), STR_INIT(""), AS_NAME },
	{ STR_INIT("Private_Segment_Size"), DISPATCH("private_segment_size"),
	    AS_MEMBER },
	{ STR_INIT("Group_Segment_Size"), DISPATCH("group_segment_size"),
	    AS_MEMBER },
	{ STR_INIT("Workgroup_Size_X"), DISPATCH("workgroup_size.x"),
	    AS_MEMBER },
	{ STR_INIT("Workgroup_Size_Y"), DISPATCH("workgroup_size.y"),
	    AS_MEMBER },
	{ STR_INIT("Workgroup_Size_Z"), DISPATCH("workgroup_size.z"),
	    AS_MEMBER },
	{ STR_INIT("Grid_Size_X"), DISPATCH("grid_size.x"), AS_MEMBER },
	{ STR_INIT("Grid_Size_Y"), DISPATCH("grid_size.y"), AS_MEMBER },
	{ STR_INIT("Grid_Size_Z"), DISPATCH("grid_size.z"), AS_MEMBER },
	/* with counters: products, as in .pftrace */
	{ STR_INIT("Workgroup_Size"), STR_INIT("workgroup_size"), AS_MEMBER },
	{ STR_INIT("Grid_Size"), STR_INIT("grid_size"), AS_MEMBER },
	/* rows of counters become one dispatch */
	{ STR_INIT("Counter_Name"), STR_INIT(""), AS_NOTHING },
	{ STR_INIT("Counter_Value"), STR_INIT(""), AS_NOTHING },
#undef DISPATCH
};

/* A counter of a dispatch; next: of the same dispatch. */
struct counter {
	uint32_t name, value; /* words */
	size_t next;
};

struct csv {
	struct process *p;
	struct source_state *s;
	struct in *given;
	/* the current table */
	struct str buffer; /* if rows name no known buffer; or empty */
	VEC(struct column) head;
	int dispatch, counter, counter_value, agent_type; /* columns, or -1 */
	struct rows rows;                                 /* the current row */
	struct buf clean;
	/* waiting rows */
	bool has_kernels;    /* a table of dispatches is read, too */
	struct map counters; /* last one by dispatch */
	VEC(struct counter) counter_list;
	struct buf texts; /* of dispatches without another table */
	VEC(struct waiting) waiting;
	struct buf agents; /* as JSON */
	struct losses losses;
	int64_t ngpus;
};

/* Losses with a warning of their own. */
#define LOSSES_SHOWN 10

/* Drops the current row. */
static void
lose_row(struct csv *c, size_t len, const char *why)
{
	struct source_state *s = c->s;

	if (!s->set->salvage) {
		source_check(s);
		source_die_at(s, c->rows.offset, why);
	}
	c->losses.bytes += len;
	if (c->losses.n++ < LOSSES_SHOWN)
		report(
		    MSG_BYTES_SKIPPED, s->in->name, c->rows.offset, len, why);
}

/* ---- meaning of fields ---- */

static const struct column *
column_of(struct str name)
{
	for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
		if (str_eq(name, columns[i].name))
			return &columns[i];
	return NULL;
}

static void
read_head(struct csv *c)
{
	c->head.n = 0;
	c->dispatch = c->counter = c->counter_value = c->agent_type = -1;
	for (size_t i = 0; i < c->rows.fields.n; i++) {
		struct str name =
		    json_as_utf8(row_field(&c->rows, i), &c->clean);
		const struct column *known = column_of(name);
		struct column col = { .use = AS_MEMBER };

		if (known != NULL)
			col = *known;
		else /* words outlive the row */
			col.path = col.name =
			    rocprof_word(c->p, intern_put(c->p->words, name));
		vec_push(&c->head, col);
		if (str_eq(name, STR("Dispatch_Id")))
			c->dispatch = (int)i;
		else if (str_eq(name, STR("Counter_Name")))
			c->counter = (int)i;
		else if (str_eq(name, STR("Counter_Value")))
			c->counter_value = (int)i;
		else if (str_eq(name, STR("Agent_Type")))
			c->agent_type = (int)i;
	}
}

/*
 * HIP_RUNTIME_API_EXT, HSA_CORE_API become hip_api, hsa_api, the JSON's
 * buffers; KERNEL_DISPATCH is one.
 */
static void
begin_row(struct csv *c)
{
	struct str buffer = c->buffer.len > 0 ? c->buffer : kernels;
	enum kind kind;
	char text[64];
	size_t n = 0;

	for (size_t i = 0; i < c->head.n; i++) {
		const struct column *col = &c->head.v[i];
		bool is_domain = str_eq(col->name, STR("Domain"));
		struct str s = row_field(&c->rows, i);

		if (col->use != AS_BUFFER)
			continue;
		for (n = 0; n < s.len && n < 48; n++) {
			if (is_domain && s.p[n] == '_')
				break;
			text[n] = s.p[n];
			if (text[n] >= 'A' && text[n] <= 'Z')
				text[n] = (char)(text[n] - 'A' + 'a');
		}
		if (is_domain) {
			memcpy(text + n, "_api", 4);
			n += 4;
		}
		buffer = json_as_utf8((struct str){ text, n }, &c->clean);
	}
	if (!category_kind(buffer, &kind) && c->buffer.len > 0)
		buffer = c->buffer;
	else if (!category_kind(buffer, &kind))
		c->s->skipped[SKIP_CATEGORY]++;
	rocprof_begin(c->p, intern_put(c->p->words, buffer));
}

/* "Agent 4", 4: a node; "GPU 1": the second GPU, whatever its node. */
static bool
agent_handle(const struct csv *c, struct str s, int64_t *handle)
{
	bool is_gpu = str_starts(s, STR("GPU "));

	for (size_t i = s.len; i-- > 0;)
		if (s.p[i] == ' ') {
			s = (struct str){ s.p + i + 1, s.len - i - 1 };
			break;
		}
	if (!num_i64(s, handle))
		return false;
	for (size_t i = 0; is_gpu && i < c->p->agents.n; i++) {
		const struct agent *a = &c->p->agents.v[i];

		if (a->is_gpu && a->device == *handle) {
			*handle = a->handle;
			break;
		}
	}
	return true;
}

static struct value
value_of(struct csv *c, struct str s)
{
	struct value v = value_of_digits(s);

	if (v.type == VAL_NUM)
		v = (struct value){ .type = VAL_STRX,
			.s = json_as_utf8(s, &c->clean) };
	return v;
}

static void
take_field(struct csv *c, const struct column *col, struct str s)
{
	struct process *p = c->p;
	struct value v;

	switch (col->use) {
	case AS_NOTHING: return;
	case AS_PROCESS:
		if (num_i64(s, &p->pid))
			p->has_pid = true;
		return;
	case AS_NAME:
		p->kernel_name =
		    intern_put(p->words, json_as_utf8(s, &c->clean));
		return;
	default: break;
	}
	v = value_of(c, s);
	if (col->use == AS_AGENT && agent_handle(c, s, &v.i))
		v.type = VAL_INT;
	rocprof_member(p, col->path, &v);
}

static void
add_counters(struct csv *c, size_t last)
{
	size_t i = last;

	do {
		const struct counter *n =
		    &c->counter_list.v[c->counter_list.v[i].next];
		struct value v = value_of(c, rocprof_word(c->p, n->value));

		rocprof_member(c->p, rocprof_word(c->p, n->name), &v);
		i = c->counter_list.v[i].next;
	} while (i != last);
}

static void
write_row(struct csv *c, size_t len)
{
	const uint64_t *first = NULL;
	int64_t dispatch;

	begin_row(c);
	for (size_t i = 0; i < c->head.n; i++)
		if (row_field(&c->rows, i).len > 0)
			take_field(c, &c->head.v[i], row_field(&c->rows, i));
	if (c->dispatch >= 0 &&
	    num_i64(row_field(&c->rows, (size_t)c->dispatch), &dispatch))
		first = map_get(&c->counters, (uint64_t)dispatch);
	if (first != NULL)
		add_counters(c, *first);
	if (!rocprof_end(c->p))
		lose_row(c, len, ROCPROF_TOO_MANY);
}

/* ---- waiting rows ---- */

/*
 * A counter. Its dispatch is the first such row, unless another table has it.
 */
static void
hold_counter(struct csv *c, size_t len)
{
	struct counter n = { .next = c->counter_list.n };
	uint64_t *last;
	int64_t dispatch;
	bool is_new;

	if (c->dispatch < 0 || c->counter_value < 0 ||
	    !num_i64(row_field(&c->rows, (size_t)c->dispatch), &dispatch)) {
		lose_row(c, len, "a counter without a dispatch or a value");
		return;
	}
	n.name = intern_put(c->p->words,
	    json_as_utf8(row_field(&c->rows, (size_t)c->counter), &c->clean));
	n.value = intern_put(c->p->words,
	    json_as_utf8(
		row_field(&c->rows, (size_t)c->counter_value), &c->clean));
	last = map_put(&c->counters, (uint64_t)dispatch, &is_new);
	if (!is_new) { /* a ring: the last leads to the first */
		n.next = c->counter_list.v[*last].next;
		c->counter_list.v[*last].next = c->counter_list.n;
	}
	*last = c->counter_list.n;
	vec_push(&c->counter_list, n);
	if (!is_new || c->has_kernels)
		return;
	vec_push(&c->waiting,
	    ((struct waiting){ 0, c->texts.len, len, c->rows.offset }));
	buf_put(&c->texts, c->s->in->p, len);
}

static void
write_waiting(struct csv *c)
{
	for (size_t i = 0; i < c->waiting.n; i++) {
		const struct waiting *w = &c->waiting.v[i];
		const unsigned char *row =
		    (const unsigned char *)c->texts.p + w->at;

		c->rows.offset = w->offset;
		if (row_split(&c->rows, row, row + w->len) > 0)
			write_row(c, w->len);
	}
	c->waiting.n = c->texts.len = 0;
}

/* Agents as in the JSON, with lower-case names. */
static void
hold_agent(struct csv *c)
{
	bool is_gpu =
	    str_eq(row_field(&c->rows, (size_t)c->agent_type), STR("GPU"));
	struct buf *b = &c->agents, key = { 0 };
	int64_t node = -1;

	buf_printf(b, "%s{\"type\":%d", b->len > 0 ? "," : "[", is_gpu ? 2 : 1);
	for (size_t i = 0; i < c->head.n; i++) {
		struct value v = value_of(c, row_field(&c->rows, i));
		struct str name = c->head.v[i].name;

		key.len = 0;
		for (size_t k = 0; k < name.len; k++)
			buf_putc(&key,
			    name.p[k] >= 'A' && name.p[k] <= 'Z'
				? (char)(name.p[k] - 'A' + 'a')
				: name.p[k]);
		if (v.type == VAL_INT &&
		    (str_eq(name, STR("Logical_Node_Id")) ||
			(node < 0 && str_eq(name, STR("Node_Id")))))
			node = v.i;
		buf_putc(b, ',');
		json_put_string(b, buf_str(&key));
		buf_putc(b, ':');
		if (v.type == VAL_STRX)
			json_put_string(b, v.s);
		else
			buf_put(b, row_field(&c->rows, i).p,
			    row_field(&c->rows, i).len);
	}
	buf_printf(b,
	    ",\"id\":{\"handle\":%" PRId64 "},\"gpu_index\":%" PRId64 "}", node,
	    is_gpu ? c->ngpus++ : -1);
	buf_free(&key);
}

/* ---- files ---- */

static void
read_table(struct csv *c, size_t table)
{
	const struct str name =
	    table < RUN_TABLES ? run_tables[table] : STR("");
	const size_t end = strlen("_trace.csv");
	static const struct str bom = STR_INIT("\xef\xbb\xbf");
	struct in *in = c->s->in;
	bool has_head = false, is_cut = false;
	size_t n;

	if (in_need(in, bom.len) && memcmp(in->p, bom.p, bom.len) == 0)
		in->p += bom.len;
	c->buffer = str_starts(name, STR("kernel_")) ? kernels
	    : str_ends(name, STR("_trace.csv"))
	    ? (struct str){ name.p, name.len - end }
	    : STR("");
	c->head.n = 0; /* no header, no rows */
	for (; (n = row_next(&c->rows, in)) > 0; in->p += n, in_release(in)) {
		c->s->counts->bytes += n;
		is_cut = c->rows.error != NULL;
		if (c->rows.error != NULL)
			lose_row(c, n, c->rows.error);
		else if (!has_head)
			read_head(c);
		else if (c->rows.fields.n != c->head.n)
			lose_row(c, n,
			    "a row has another number of fields than the "
			    "first");
		else if (c->agent_type >= 0)
			hold_agent(c);
		else if (c->counter >= 0)
			hold_counter(c, n);
		else
			write_row(c, n);
		has_head = true;
		if (progress_due)
			progress_show(in_consumed(in), in_size(in));
	}
	if (!c->s->set->salvage)
		source_check(c->s);
	c->losses.is_cut |= is_cut;
	write_waiting(c);
	if (c->agents.len > 0) {
		buf_putc(&c->agents, ']');
		rocprof_agents(c->p, &c->agents);
		c->agents.len = 0;
	}
}

/* The path of a sibling, or NULL; to be freed. */
static char *
sibling(struct str front, struct str table, struct str packing)
{
	struct buf b = { 0 };

	buf_put(&b, front.p, front.len);
	buf_put(&b, table.p, table.len);
	buf_put(&b, packing.p, packing.len);
	buf_putc(&b, '\0');
	if (access(b.p, R_OK) == 0)
		return b.p;
	buf_free(&b);
	return NULL;
}

static void
read_sibling(struct csv *c, const char *path, size_t table)
{
	struct source_state *s = c->s;

	s->in = in_open(path);
	in_tolerate(s->in);
	read_table(c, table);
	s->counts->compressed += in_consumed(s->in);
	if (in_damage(s->in) != NULL) {
		c->losses.n++;
		c->losses.is_cut = true;
		report(MSG_UNREADABLE_REST, s->in->name, in_damage(s->in));
	}
	in_close(s->in);
	s->in = c->given;
}

/* Sets the fact "read_with": names of the other files, without folders. */
static void
tell_siblings(struct csv *c, char *const paths[RUN_TABLES], size_t given)
{
	struct buf list = { 0 };

	for (size_t i = 0; i < RUN_TABLES; i++) {
		const char *slash;

		if (i == given || paths[i] == NULL)
			continue;
		slash = strrchr(paths[i], '/');
		buf_putc(&list, list.len == 0 ? '[' : ',');
		json_put_string(
		    &list, str_of(slash != NULL ? slash + 1 : paths[i]));
	}
	if (list.len > 0) {
		buf_putc(&list, ']');
		facts_json(&c->s->facts, "read_with", buf_str(&list));
	}
	buf_free(&list);
}

static void
read_all(struct csv *c)
{
	struct str front, packing;
	size_t given = run_table(str_of(c->given->name), &front, &packing);
	char *paths[RUN_TABLES] = { NULL };

	for (size_t i = 0; given < RUN_TABLES && i < RUN_TABLES; i++) {
		paths[i] = sibling(front, run_tables[i], packing);
		if (str_starts(run_tables[i], STR("kernel_trace")))
			c->has_kernels = paths[i] != NULL;
	}
	for (size_t i = 0; i < RUN_TABLES; i++)
		if (i == given)
			read_table(c, i);
		else if (paths[i] != NULL)
			read_sibling(c, paths[i], i);
	if (given == RUN_TABLES)
		read_table(c, RUN_TABLES);
	tell_siblings(c, paths, given);
	for (size_t i = 0; i < RUN_TABLES; i++)
		vec_release(paths[i]);
}

static void
release(void *reading)
{
	struct csv *c = reading;

	rocprof_close(c->p);
	vec_free(&c->head);
	rows_free(&c->rows);
	buf_free(&c->clean);
	map_free(&c->counters);
	vec_free(&c->counter_list);
	buf_free(&c->texts);
	vec_free(&c->waiting);
	buf_free(&c->agents);
	vec_release(c);
}

static void
read_csv(struct source_state *s)
{
	struct csv *c = xcalloc(1, sizeof *c);

	c->s = s;
	c->given = s->in;
	c->p = rocprof_open(s);
	s->reading = c;
	s->release = release;
	facts_str(&s->facts, "format", STR("rocprofv3"));
	read_all(c);
	if (s->set->salvage)
		source_salvaged(s, &c->losses, s->next_id);
}

/* Known by columns in the first line. */
static enum sniff
sniff(struct str head, const char *path)
{
	const char *nl = memchr(head.p, '\n', head.len);

	(void)path;
	if (nl == NULL)
		return SNIFF_NO;
	head.len = (size_t)(nl - head.p);
	return (str_find(head, STR("Start_Timestamp"), false) >= 0 &&
		   str_find(head, STR("Correlation_Id"), false) >= 0) ||
		(str_find(head, STR("Node_Id"), false) >= 0 &&
		    str_find(head, STR("Agent_Type"), false) >= 0)
	    ? SNIFF_SURE
	    : SNIFF_NO;
}

const struct format rocprof_csv_format = {
	.name = "rocprofv3 CSV",
	.sniff = sniff,
	.read = read_csv,
	.can_salvage = true,
};
