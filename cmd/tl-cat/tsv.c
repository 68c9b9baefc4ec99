/* SPDX-License-Identifier: MIT */
/* tsv: columns for awk. */
#include "cat.h"
#include "stream/ndjson.h"
#include "table/view.h"
#include "trace/step.h"
#include "trace/walk.h"

/* What a cell is: a member of the event, or computed. */
enum what {
	OF_U32,
	OF_U64,
	OF_NS,
	OF_UID,
	OF_KEY,
	OF_NAME, /* a dictionary id */
	OF_RANK,
	OF_KIND,
	OF_CAT,
	OF_TS,
	OF_PID,
	OF_TID,
	OF_FLAGS,
	OF_PH,
	OF_ARGS,
	/* from the tree's stack */
	OF_OP,
	OF_OP_ID,
	OF_MODULE,
	OF_STEP,
	/* from values; the key follows the point */
	OF_ARG,
	OF_TOP,
};

#define AT(member) offsetof(struct event, member)

static const struct field {
	const char *word;
	enum what what;
	uint32_t has; /* the member exists if this bit is set; 0: always */
	size_t at;
} fields[] = {
	{ "id", OF_U64, 0, AT(uid.id) },
	{ "inst", OF_U32, 0, AT(uid.inst) },
	{ "src", OF_U32, 0, AT(src) },
	{ "rank", OF_RANK, 0, 0 },
	{ "kind", OF_KIND, 0, 0 },
	{ "cat", OF_CAT, 0, 0 },
	{ "name", OF_NAME, 0, AT(name) },
	{ "ts", OF_TS, HAS_TS, 0 },
	{ "dur", OF_NS, HAS_DUR, AT(dur_ns) },
	{ "pid", OF_PID, 0, 0 },
	{ "tid", OF_TID, 0, 0 },
	{ "dev", OF_KEY, 0, AT(dev) },
	{ "gpu_stream", OF_KEY, 0, AT(gpu_stream) },
	{ "corr", OF_KEY, 0, AT(corr) },
	{ "ext", OF_KEY, 0, AT(ext) },
	{ "launch", OF_UID, HAS_LAUNCH, AT(launch) },
	{ "parent", OF_UID, HAS_PARENT, AT(parent) },
	{ "fwd", OF_UID, HAS_FWD, AT(fwd) },
	{ "bwd", OF_UID, HAS_BWD, AT(bwd) },
	{ "depth", OF_U32, HAS_DEPTH, AT(depth) },
	{ "ndesc", OF_U64, HAS_NDESC, AT(ndesc) },
	{ "ngpu", OF_U64, HAS_NGPU, AT(ngpu) },
	{ "flags", OF_FLAGS, 0, 0 },
	{ "ph", OF_PH, 0, 0 },
	{ "args", OF_ARGS, 0, 0 },
	{ "op", OF_OP, 0, 0 },
	{ "op_id", OF_OP_ID, 0, 0 },
	{ "module", OF_MODULE, 0, 0 },
	{ "step", OF_STEP, 0, 0 },
};

#define DEFAULT_FIELDS "id,kind,name,ts,dur,pid,tid"
#define MODULE_PREFIX STR("nn.Module: ")

struct col {
	struct field of;
	struct str word;
	struct str key; /* of OF_ARG and OF_TOP */
	uint64_t hash;
	uint32_t key_id; /* INTERN_NONE until the stream defines it */
	struct value val;
	bool has_val;
};

struct tsv {
	const struct settings *set;
	struct sources sources;
	struct stream_in *in;
	struct walk *walk; /* NULL: no column needs it */
	struct out *out;
	struct buf line;
	VEC(struct col) cols;
	bool has_keys;
	bool has_flags; /* a column tells stubs from other events */
	int64_t left;
};

/* ---- columns ---- */

static struct col
parse_column(struct str word)
{
	struct col c = { .word = word, .key_id = INTERN_NONE };

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++)
		if (str_eq(word, str_of(fields[i].word))) {
			c.of = fields[i];
			return c;
		}
	if (str_starts(word, STR("args.")))
		c.of.what = OF_ARG;
	else if (str_starts(word, STR("top.")))
		c.of.what = OF_TOP;
	else
		die_usage("no column '%.*s' (id, kind, name, ts, dur, "
			  "args.NAME, ...: see tl-cat(1))",
		    (int)word.len, word.p);
	c.key.p = (const char *)memchr(word.p, '.', word.len) + 1;
	c.key.len = word.len - (size_t)(c.key.p - word.p);
	c.hash = hash_bytes(c.key.p, c.key.len);
	return c;
}

/* Commas separate columns; "\," is a comma in a key, "\\" a backslash. */
static void
parse_columns(struct tsv *t, const char *text)
{
	struct buf word = { 0 };
	const char *p = text;

	for (;; p++) {
		if (*p == '\\' && (p[1] == ',' || p[1] == '\\')) {
			buf_putc(&word, *++p);
			continue;
		}
		if (*p != ',' && *p != '\0') {
			buf_putc(&word, *p);
			continue;
		}
		vec_push(&t->cols,
		    parse_column(arena_str(t->sources.mem, buf_str(&word))));
		word.len = 0;
		if (*p == '\0')
			break;
	}
	buf_free(&word);
	for (size_t i = 0; i < t->cols.n; i++)
		t->has_keys |= t->cols.v[i].of.what >= OF_ARG;
}

/* ---- cells ---- */

static void
put_text(struct tsv *t, struct str s)
{
	text_escape(s, "", "\\", &t->line);
}

static void
put_value(struct tsv *t, const struct value *v)
{
	if (v->type >= VAL_NUM)
		put_text(t, v->s);
	else
		value_put_json(&t->line, v);
}

static void
put_key(struct tsv *t, struct key key)
{
	if (key.type == KEY_INT)
		json_put_i64(&t->line, key.n);
	else if (key.type == KEY_STR)
		put_text(t, dict_get(t->in->dict, (uint32_t)key.n));
}

static void
put_name(struct tsv *t, uint32_t id)
{
	put_text(t, dict_get(t->in->dict, id));
}

static void
put_uid(struct tsv *t, struct uid uid)
{
	buf_room(&t->line, UID_MAX);
	t->line.len += uid_put(t->line.p + t->line.len, uid);
}

static void
put_args(struct tsv *t, const struct event *ev)
{
	struct entries it = entries_of(t->in->dict, ev);
	struct buf json = { 0 };

	if ((ev->shape->flags & SHAPE_ARGS) == 0)
		return;
	buf_putc(&json, '{');
	while (entries_next(&it)) {
		if (it.entry->group != GROUP_ARGS)
			continue;
		if (json.len > 1)
			buf_putc(&json, ',');
		json_put_string(&json, dict_get(t->in->dict, it.entry->key));
		buf_putc(&json, ':');
		ndjson_put_value(&json, &it.val);
	}
	buf_putc(&json, '}');
	put_text(t, buf_str(&json));
	buf_free(&json);
}

/* Writes what the tree's stack says. */
static void
put_above(struct tsv *t, enum what what)
{
	const struct walk_above *op = walk_op(t->walk);
	const struct walk_above *module = walk_module(t->walk);
	const struct step_window *step = walk_step(t->walk);

	switch (what) {
	case OF_OP:
		if (op != NULL)
			put_name(t, op->name);
		break;
	case OF_OP_ID:
		if (op != NULL)
			put_uid(t, op->uid);
		break;
	case OF_MODULE:
		if (module != NULL) {
			struct str s = dict_get(t->in->dict, module->name);
			size_t n = MODULE_PREFIX.len;

			if (str_starts(s, MODULE_PREFIX))
				s = (struct str){ s.p + n, s.len - n };
			put_text(t, s);
		}
		break;
	default:
		if (step != NULL && step->what == STEP_IS_BETWEEN)
			buf_puts(&t->line, "between");
		else if (step != NULL)
			json_put_i64(&t->line, step->number);
		break;
	}
}

static void
put_cell(struct tsv *t, const struct event *ev, const struct col *c)
{
	const struct shape *s = ev->shape;
	const struct track *track = &t->in->dict->tracks.v[ev->track];
	const struct sources *sources = &t->sources;
	const void *at = (const char *)ev + c->of.at;

	if ((s->has & c->of.has) != c->of.has)
		return;
	switch (c->of.what) {
	case OF_U32:
		buf_printf(&t->line, "%" PRIu32, *(const uint32_t *)at);
		break;
	case OF_U64:
		buf_printf(&t->line, "%" PRIu64, *(const uint64_t *)at);
		break;
	case OF_NS: json_put_i64(&t->line, *(const int64_t *)at); break;
	case OF_UID: put_uid(t, *(const struct uid *)at); break;
	case OF_KEY: put_key(t, *(const struct key *)at); break;
	case OF_NAME: put_name(t, *(const uint32_t *)at); break;
	case OF_RANK:
		if (ev->src < sources->known.n &&
		    sources->known.v[ev->src].rank.type != VAL_NULL)
			put_value(t, &sources->known.v[ev->src].rank);
		break;
	case OF_KIND: buf_puts(&t->line, kind_words[s->kind]); break;
	case OF_CAT: put_name(t, s->cat); break;
	case OF_TS:
		json_put_i64(&t->line,
		    t->set->abs ? sources_abs(sources, t->in, ev) : ev->ts_ns);
		break;
	case OF_PID:
		if (track->has_pid)
			put_value(t, &track->raw_pid);
		break;
	case OF_TID:
		if (track->has_tid)
			put_value(t, &track->raw_tid);
		break;
	case OF_FLAGS:
		words_put(&t->line, ev->flags, event_flag_words, ",");
		break;
	case OF_PH:
		if (s->ph != 0)
			put_text(t, (struct str){ (const char *)&s->ph, 1 });
		break;
	case OF_ARGS: put_args(t, ev); break;
	case OF_ARG:
	case OF_TOP:
		if (c->has_val)
			put_value(t, &c->val);
		break;
	default: put_above(t, c->of.what); break;
	}
}

/* Finds the values of columns args.NAME and top.NAME in one walk. */
static void
find_values(struct tsv *t, const struct event *ev)
{
	struct entries it = entries_of(t->in->dict, ev);

	for (size_t i = 0; i < t->cols.n; i++) {
		struct col *c = &t->cols.v[i];

		c->has_val = false;
		if (c->of.what >= OF_ARG && c->key_id == INTERN_NONE)
			c->key_id =
			    intern_find(t->in->dict->text, c->key, c->hash);
	}
	while (entries_next(&it)) {
		for (size_t i = 0; i < t->cols.n; i++) {
			struct col *c = &t->cols.v[i];
			enum group group =
			    c->of.what == OF_ARG ? GROUP_ARGS : GROUP_TOP;

			if (c->of.what < OF_ARG || c->key_id != it.entry->key ||
			    it.entry->group != group)
				continue;
			c->val = it.val;
			c->has_val = true;
		}
	}
}

static void
put_event(struct tsv *t, struct event *ev)
{
	if (t->walk != NULL)
		walk_push(t->walk, ev);
	/* a stub was not selected itself */
	if (((ev->flags & EV_STUB) != 0 && !t->has_flags) ||
	    (t->set->kinds & KIND_BIT(ev->shape->kind)) == 0 ||
	    !is_picked(t->set, ev))
		return;
	numbering_event(&t->sources.numbers, ev);
	if (t->has_keys)
		find_values(t, ev);
	t->line.len = 0;
	for (size_t i = 0; i < t->cols.n; i++) {
		if (i > 0)
			buf_putc(&t->line, '\t');
		put_cell(t, ev, &t->cols.v[i]);
	}
	buf_putc(&t->line, '\n');
	out_write(t->out, t->line.p, t->line.len);
	t->left--;
}

static void
put_names(struct tsv *t)
{
	t->line.len = 0;
	for (size_t i = 0; i < t->cols.n; i++) {
		if (i > 0)
			buf_putc(&t->line, '\t');
		put_text(t, t->cols.v[i].word);
		if (t->set->abs && t->cols.v[i].of.what == OF_TS)
			buf_puts(&t->line, "_abs");
	}
	buf_putc(&t->line, '\n');
	out_write(t->out, t->line.p, t->line.len);
}

static void
put_file(struct tsv *t, const char *path, bool is_tree)
{
	enum item item;

	t->in =
	    select_front_open(&t->set->select, path, t->sources.numbers.dict,
		is_tree ? WANT_TREE : WANT_STREAM, t->sources.numbers.next);
	numbering_input(&t->sources.numbers);
	if (is_tree)
		t->walk = walk_create(t->sources.numbers.dict);
	else
		stream_only(t->in, t->set->kinds);
	while (t->left > 0 && (item = stream_next(t->in)) != ITEM_END) {
		if (item == ITEM_EVENT) {
			put_event(t, &t->in->ev);
		} else if (item == ITEM_SOURCE) {
			struct source s = t->in->source;

			iteration_formats_of(&s);
			sources_tell(&t->sources, &s);
		}
	}
	if (t->walk != NULL)
		walk_destroy(t->walk);
	t->walk = NULL;
	stream_close(t->in);
}

void
cat_tsv(const struct settings *set)
{
	struct tsv t = { .set = set, .left = set->head };
	bool is_tree = false;

	sources_start(&t.sources, dict_create());
	parse_columns(&t, set->fields != NULL ? set->fields : DEFAULT_FIELDS);
	for (size_t i = 0; i < t.cols.n; i++) {
		enum what what = t.cols.v[i].of.what;

		is_tree |= what >= OF_OP && what <= OF_STEP;
		t.has_flags |= what == OF_FLAGS;
	}
	t.out = out_open(set->dest.path);
	if (set->dest.zstd)
		out_zstd(t.out, set->dest.zstd_level);
	if (!set->no_header)
		put_names(&t);
	for (size_t i = 0; set->files[i] != NULL && t.left > 0; i++)
		put_file(&t, set->files[i], is_tree);
	buf_free(&t.line);
	cat_check_picks(set, t.left);
	out_finish(t.out);
}
