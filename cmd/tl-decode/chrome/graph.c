/* SPDX-License-Identifier: MIT */
/* The graph of keys, see event.h. */
#include "cmd/tl-decode/chrome/event.h"

static const struct str field_names[] = {
	[FIELD_PH] = STR_INIT("ph"),
	[FIELD_CAT] = STR_INIT("cat"),
	[FIELD_NAME] = STR_INIT("name"),
	[FIELD_PID] = STR_INIT("pid"),
	[FIELD_TID] = STR_INIT("tid"),
	[FIELD_TS] = STR_INIT("ts"),
	[FIELD_DUR] = STR_INIT("dur"),
	[FIELD_ARGS] = STR_INIT("args"),
};

/* The path after an edge and a value. */
static struct key_path
path_on(struct key_path w, const struct edge *by, uint64_t code)
{
	if (by->field == FIELD_PH)
		w.ph = code >= CODE_PH ? (int)(code - CODE_PH) : -1;
	if (by->field == FIELD_CAT)
		w.cat = code >= CODE_CAT ? code - CODE_CAT : INTERN_NONE;
	return w;
}

struct node *
graph_node(struct event_reader *r, struct node *from, const struct edge *by,
    uint64_t code)
{
	struct node *n = arena_alloc(r->mem, sizeof *n);

	memset(n, 0, sizeof *n);
	n->from = from;
	n->by = by;
	n->code = code;
	n->nmembers = from != NULL ? from->nmembers + 1 : 0;
	n->in_args = from != NULL && from->in_args;
	n->in_first = from == NULL;
	n->path = from != NULL ? path_on(from->path, by, code)
			       : (struct key_path){ -1, INTERN_NONE };
	n->last = &r->no_edge;
	r->nnodes++;
	return n;
}

void
graph_forget(struct event_reader *r)
{
	arena_reset(r->mem, 0);
	r->nnodes = 0;
	r->is_full = false;
	r->start = graph_node(r, NULL, NULL, 0);
}

uint64_t
code_before(const struct node *n, enum field field)
{
	for (; n->from != NULL; n = n->from)
		if (n->by->field == field)
			return n->code;
	return 0;
}

enum kind
kind_of_path(const struct event_reader *r, struct key_path w)
{
	struct str cat = dict_get(r->src->dict, (uint32_t)w.cat);

	return kind_of_chrome(
	    cat, w.cat != INTERN_NONE, w.ph < 0 ? 0 : (unsigned char)w.ph);
}

/* Only text without escapes can be compared as written. */
static void
set_text(struct variant *v, struct str text)
{
	unsigned char quoted[LIT_MAX];

	lit_set(&v->lit, NULL, 0);
	if (text.len + 2 > sizeof quoted)
		return;
	for (size_t i = 0; i < text.len; i++)
		if (text.p[i] == '\\' || text.p[i] == '"' ||
		    (unsigned char)text.p[i] < ' ')
			return;
	quoted[0] = quoted[text.len + 1] = '"';
	memcpy(quoted + 1, text.p, text.len);
	lit_set(&v->lit, quoted, text.len + 2);
}

/* Whether an event of this phase and category may be written, or warned of. */
static bool
is_wanted(const struct event_reader *r, struct key_path w)
{
	enum kind kind = kind_of_path(r, w);
	struct str cat = dict_get(r->src->dict, (uint32_t)w.cat);

	return settings_want(r->src->set, kind, (unsigned char)w.ph) ||
	    device_may_ask(kind, cat) || kind_is_lost(kind, cat);
}

struct node *
graph_add_variant(
    struct event_reader *r, struct node *from, struct edge *e, uint64_t code)
{
	struct variant *v = arena_alloc(r->mem, sizeof *v);
	struct node *n = graph_node(r, from, e, code);

	if (e->field == FIELD_ARGS && code == CODE_ENTER) {
		n->in_args = true;
		n->in_first = true;
	} else if (e->field == FIELD_ARGS_END) {
		n->in_args = false;
	}
	n->skip = (e->field == FIELD_PH || e->field == FIELD_CAT) &&
	    n->path.ph >= 0 && n->path.cat != INTERN_NONE &&
	    !is_wanted(r, n->path);
	*v = (struct variant){ .code = code, .to = n, .next = e->variants };
	lit_set(&v->lit, NULL, 0);
	if (code >= CODE_CAT)
		set_text(v, dict_get(r->src->dict, (uint32_t)n->path.cat));
	e->variants = v;
	r->is_full |= ++e->nvariants > BRANCHES_MAX;
	return n;
}

static bool
is_on_path(const struct node *n, const struct edge *e)
{
	bool in_args = n->in_args;

	for (; n->from != NULL; n = n->from) {
		if (n->by->field == FIELD_ARGS && n->code == CODE_ENTER) {
			if (in_args)
				return false; /* members of args only */
			if (e->field == FIELD_ARGS)
				return true;
		}
		if (n->by->key == e->key && n->from->in_args == in_args &&
		    n->by->field != FIELD_ARGS_END)
			return true;
	}
	return false;
}

static enum field
field_of(const struct event_reader *r, const struct node *n, uint32_t key)
{
	struct str name = dict_get(r->src->dict, key);

	if (n->in_args)
		return FIELD_NONE;
	for (enum field f = FIELD_PH; f <= FIELD_ARGS; f++)
		if (str_eq(name, field_names[f]))
			return f;
	return FIELD_NONE;
}

/* Finds or adds the edge of a key, as written here. */
static struct edge *
learn_edge(struct event_reader *r, struct node *n, uint32_t key,
    enum field field, const unsigned char *lit, size_t lit_len)
{
	struct edge *e = n->edges;

	while (e != NULL && (e->key != key || e->field != field))
		e = e->next;
	if (e == NULL) {
		e = arena_alloc(r->mem, sizeof *e);
		memset(e, 0, sizeof *e);
		e->key = key;
		e->field = (uint8_t)field;
		e->action =
		    (uint8_t)(is_on_path(n, e) ? ACTION_REPEATED : field);
		e->next = n->edges;
		n->edges = e;
		r->is_full |= ++n->nedges > BRANCHES_MAX;
	}
	lit_set(&e->lit, lit, lit_len);
	return e;
}

/* The number of a key. */
static enum json_status
key_no(struct event_reader *r, struct str raw, bool escaped, uint32_t *id)
{
	if (!escaped)
		return intern_plain(r, raw, id);
	return intern_cooked(r, (struct str){ raw.p - 1, raw.len + 2 }, id);
}

/* Reads the next key or closing brace, and finds its edge. */
enum json_status
graph_learn(struct event_reader *r, struct node *n, struct edge **edge)
{
	struct json *j = r->json;
	const unsigned char *start = j->p;
	enum json_status status;
	struct str raw;
	bool escaped;
	uint32_t key;

	if (n->from == NULL)
		j->p++; /* the event's opening brace */
	json_space(j);
	if (*j->p == '}') {
		j->p++;
		*edge = learn_edge(r, n, INTERN_NONE,
		    n->in_args ? FIELD_ARGS_END : FIELD_END, start,
		    (size_t)(j->p - start));
		return JSON_OK;
	}
	if (!n->in_first) {
		if (*j->p != ',')
			return json_fail(
			    j, j->p, "expected ',' or '}' after a value");
		j->p++;
		json_space(j);
	}
	if (*j->p != '"')
		return json_fail(j, j->p, "expected a key in quotes");
	if (n->nmembers >= MEMBERS_MAX)
		return json_fail(
		    j, j->p, "an event has more than 2048 members");
	if ((status = json_string(j, &raw, &escaped)) != JSON_OK)
		return status;
	json_space(j);
	if (*j->p != ':')
		return json_fail(j, j->p, "expected ':' after a key");
	j->p++;
	json_space(j);
	if (j->p >= j->end)
		return json_fail(j, j->p, "the file ends in an event");
	if ((status = key_no(r, raw, escaped, &key)) != JSON_OK)
		return status;
	*edge = learn_edge(
	    r, n, key, field_of(r, n, key), start, (size_t)(j->p - start));
	return JSON_OK;
}
