/* SPDX-License-Identifier: MIT */
/*
 * Events: a row each, numbered in the order of the tree, so that the rows after
 * an event's are those below it. Memory: the events above the current one, each
 * string once, and the numbers of ops with a backward op.
 */
#include "base/embedded.h"
#include "stream/ndjson.h"
#include "trace/walk.h"
#include "json/json.h"

#include "cmd/tl-sql/sql.h"

extern const struct embedded tl_sql_data[]; /* schema.sql, views.sql */

#define DEPTH_MAX 900 /* of lists and objects in an argument */

/* The columns of events, in the order of the schema. */
enum {
	SEQ = 1,
	SRC,
	ID,
	INST,
	KIND,
	CAT,
	NAME,
	TS,
	DUR,
	PID,
	TID,
	DEV,
	GPU_STREAM,
	CORR,
	EXT,
	PARENT,
	LAUNCH,
	FWD,
	OP,
	MODULE,
	STEP,
	DEPTH,
	NDESC,
	NGPU,
	FLAGS,
	ARGS,
};

struct place {
	struct uid uid;
	int64_t seq;
};

struct events {
	struct db *db;
	sqlite3_stmt *source, *string, *event, *set_fwd;
	struct dict *dict;
	struct numbering numbers;
	struct walk *walk;
	VEC(int64_t)
	string_of; /* dictionary id to its number; 0: none */
	int64_t nstrings;
	VEC(struct place) open;  /* the current event and those above it */
	struct map forward;      /* ops with a backward op */
	VEC(struct place) early; /* backward ops before their forward op */
	uint32_t src;
	int64_t seq;
	struct buf flags, args;
};

static void
run(struct db *db, size_t file)
{
	db_run(db, (const char *)tl_sql_data[file].bytes);
}

struct events *
events_create(struct db *db)
{
	struct events *e = xcalloc(1, sizeof *e);

	e->db = db;
	e->dict = e->numbers.dict = dict_create();
	run(db, 0);
	e->source = db_prepare(
	    db, "INSERT OR REPLACE INTO sources VALUES (?,?,?,?,?,?)");
	e->string = db_prepare(db, "INSERT INTO strings VALUES (?,?)");
	e->event = db_prepare(db,
	    "INSERT INTO events VALUES"
	    " (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)");
	e->set_fwd = db_prepare(db, "UPDATE events SET fwd = ? WHERE seq = ?");
	return e;
}

/* ---- cells ---- */

static void
put_int(struct events *e, int at, int64_t v)
{
	db_int(e->db, e->event, at, v);
}

static void
put_text(struct events *e, int at, struct str s)
{
	db_text(e->db, e->event, at, s);
}

/* Sets a string's number, and adds the string if new. */
static void
put_name(struct events *e, int at, uint32_t id)
{
	if (id == INTERN_NONE)
		return;
	while (e->string_of.n <= id)
		vec_push(&e->string_of, 0);
	if (e->string_of.v[id] == 0) {
		e->string_of.v[id] = ++e->nstrings;
		db_int(e->db, e->string, 1, e->nstrings);
		db_text(e->db, e->string, 2, dict_get(e->dict, id));
		db_row(e->db, e->string);
	}
	put_int(e, at, e->string_of.v[id]);
}

static void
put_key(struct events *e, int at, struct key key)
{
	if (key.type == KEY_INT)
		put_int(e, at, key.n);
	else if (key.type == KEY_STR)
		put_text(e, at, dict_get(e->dict, (uint32_t)key.n));
}

/* Sets the number of an event above. */
static void
put_above(struct events *e, int at, struct uid uid)
{
	for (size_t i = e->open.n; i-- > 0;)
		if (uid_same(e->open.v[i].uid, uid)) {
			put_int(e, at, e->open.v[i].seq);
			return;
		}
}

/* Links a backward op to its forward op, which mostly comes first. */
static void
put_forward(struct events *e, const struct event *ev)
{
	const uint64_t *seq = map_get(&e->forward, uid_hash(ev->fwd));

	if (seq != NULL)
		put_int(e, FWD, (int64_t)*seq);
	else
		vec_push(&e->early, ((struct place){ ev->fwd, e->seq }));
}

/* Writes the source's facts. */
static void
end_source(struct events *e)
{
	for (size_t i = 0; i < e->early.n; i++) {
		const struct place *p = &e->early.v[i];
		const uint64_t *seq = map_get(&e->forward, uid_hash(p->uid));

		if (seq == NULL)
			continue;
		db_int(e->db, e->set_fwd, 1, (int64_t)*seq);
		db_int(e->db, e->set_fwd, 2, p->seq);
		db_row(e->db, e->set_fwd);
	}
	e->early.n = e->open.n = 0;
	map_free(&e->forward);
}

/*
 * Whether SQLite reads it: no NaN or infinities, which traces hold, and not
 * nested deeper than its limit, 1,000 from 3.45 on.
 */
static bool
is_plain_json(struct str s)
{
	size_t depth = 0;

	for (size_t i = 0; i < s.len; i++)
		switch (s.p[i]) {
		case '"':
			while (++i < s.len && s.p[i] != '"')
				i += s.p[i] == '\\';
			break;
		case 'N':
		case 'I': return false;
		case '[':
		case '{':
			if (++depth > DEPTH_MAX)
				return false;
			break;
		case ']':
		case '}': depth--; break;
		default: break;
		}
	return true;
}

static void
put_json(struct buf *b, const struct value *v)
{
	bool is_plain = v->type < VAL_JSON || is_plain_json(v->s);

	if (v->type == VAL_NUM)
		is_plain = json_is_digit((unsigned char)v->s.p[v->s.len - 1]);
	if (UNLIKELY(!is_plain))
		json_put_string(b, v->s);
	else
		value_put_json(b, v);
}

static void
put_args(struct events *e, const struct event *ev)
{
	struct entries it = entries_of(e->dict, ev);
	struct buf *b = &e->args;

	if ((ev->shape->flags & SHAPE_ARGS) == 0)
		return;
	b->len = 0;
	while (entries_next(&it)) {
		if (it.entry->group != GROUP_ARGS)
			continue;
		buf_putc(b, b->len == 0 ? '{' : ',');
		json_put_string(b, dict_get(e->dict, it.entry->key));
		buf_putc(b, ':');
		put_json(b, &it.val);
	}
	buf_puts(b, b->len == 0 ? "{}" : "}");
	put_text(e, ARGS, buf_str(b));
}

/* ---- rows ---- */

static void
put_fixed(struct events *e, const struct event *ev)
{
	const struct shape *s = ev->shape;

	put_int(e, SEQ, e->seq);
	put_int(e, SRC, ev->src);
	put_int(e, ID, (int64_t)ev->uid.id);
	put_int(e, INST, ev->uid.inst);
	put_text(e, KIND, str_of(kind_words[s->kind]));
	put_name(e, CAT, s->cat);
	put_name(e, NAME, ev->name);
	if (s->has & HAS_TS)
		put_int(e, TS, ev->ts_ns);
	if (s->has & HAS_DUR)
		put_int(e, DUR, ev->dur_ns);
	put_key(e, PID, ev->pid);
	put_key(e, TID, ev->tid);
	put_key(e, DEV, ev->dev);
	put_key(e, GPU_STREAM, ev->gpu_stream);
	put_key(e, CORR, ev->corr);
	put_key(e, EXT, ev->ext);
	e->flags.len = 0;
	words_put(&e->flags, ev->flags, event_flag_words, ",");
	if (e->flags.len > 0)
		put_text(e, FLAGS, buf_str(&e->flags));
	put_args(e, ev);
}

/* Sets its place in the tree, and what is above it. */
static void
put_tree(struct events *e, const struct event *ev)
{
	const struct walk_above *op = walk_op(e->walk);
	const struct walk_above *module = walk_module(e->walk);
	const struct step_window *step = walk_step(e->walk);
	unsigned has = ev->shape->has;

	if (has & HAS_PARENT)
		put_above(e, PARENT, ev->parent);
	if (has & HAS_LAUNCH)
		put_above(e, LAUNCH, ev->launch);
	if (has & HAS_FWD)
		put_forward(e, ev);
	if (op != NULL)
		put_above(e, OP, op->uid);
	if (module != NULL)
		put_above(e, MODULE, module->uid);
	if (step != NULL && step->what == STEP_IS_STEP)
		put_int(e, STEP, step->number);
	if (has & HAS_DEPTH)
		put_int(e, DEPTH, ev->depth);
	if (has & HAS_NDESC)
		put_int(e, NDESC, (int64_t)ev->ndesc);
	if (has & HAS_NGPU)
		put_int(e, NGPU, (int64_t)ev->ngpu);
}

static void
put_event(struct events *e, struct event *ev)
{
	struct place here = { .uid = ev->uid };
	size_t depth = ev->shape->has & HAS_DEPTH ? ev->depth : 0;

	walk_push(e->walk, ev);
	if (ev->shape->is_inferred) /* these are in the column step */
		return;
	here.seq = ++e->seq;
	numbering_event(&e->numbers, ev);
	if (ev->src != e->src)
		end_source(e);
	e->src = ev->src;
	if (e->open.n > depth)
		e->open.n = depth;
	put_fixed(e, ev);
	put_tree(e, ev);
	db_row(e->db, e->event);
	vec_push(&e->open, here);
	if (ev->shape->has & HAS_BWD)
		*map_put(&e->forward, uid_hash(ev->uid), NULL) =
		    (uint64_t)e->seq;
}

/* ---- sources ---- */

static void
put_fact_int(struct events *e, int at, const struct source *s, const char *key)
{
	int64_t v;

	if (source_int(s, key, &v))
		db_int(e->db, e->source, at, v);
}

static void
put_source(struct events *e, const struct source *s)
{
	const struct fact *name = source_fact(s, "name");
	struct buf *b = &e->args;

	b->len = 0;
	for (size_t i = 0; i < s->nfacts; i++) {
		buf_putc(b, i == 0 ? '{' : ',');
		json_put_string(b, s->facts[i].key);
		buf_putc(b, ':');
		put_json(b, &s->facts[i].val);
	}
	buf_puts(b, b->len == 0 ? "{}" : "}");
	db_int(e->db, e->source, 1, numbering_source(&e->numbers, s->src));
	if (name != NULL && name->val.s.p != NULL)
		db_text(e->db, e->source, 2, name->val.s);
	put_fact_int(e, 3, s, "rank");
	put_fact_int(e, 4, s, "base");
	put_fact_int(e, 5, s, "epoch");
	db_text(e->db, e->source, 6, buf_str(b));
	db_row(e->db, e->source);
}

void
events_read(struct events *e, struct in *in)
{
	struct stream_in *stream = stream_open_in(in, e->dict, WANT_TREE);
	enum item item;

	numbering_input(&e->numbers);
	e->walk = walk_create(e->dict);
	while ((item = stream_next(stream)) != ITEM_END)
		if (item == ITEM_EVENT)
			put_event(e, &stream->ev);
		else if (item == ITEM_SOURCE)
			put_source(e, &stream->source);
	if (stream->nevents == 0)
		die_nothing(MSG_NO_EVENTS, stream->name);
	end_source(e);
	walk_destroy(e->walk);
	stream_close(stream);
}

void
events_finish(struct events *e)
{
	(void)sqlite3_finalize(e->source);
	(void)sqlite3_finalize(e->string);
	(void)sqlite3_finalize(e->event);
	(void)sqlite3_finalize(e->set_fwd);
	run(e->db, 1);
	dict_destroy(e->dict);
	vec_free(&e->string_of);
	vec_free(&e->open);
	vec_free(&e->early);
	vec_free(&e->numbers.tracks);
	buf_free(&e->flags);
	buf_free(&e->args);
	vec_release(e);
}
