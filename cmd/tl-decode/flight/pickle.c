/* SPDX-License-Identifier: MIT */
/*
 * A pickle of plain values (dicts, lists, tuples, text, numbers, booleans,
 * None) as JSON: what PyTorch's own pickler and Python's protocols 2 to 5
 * write. Nothing is run: an opcode that names a class or calls something is an
 * error.
 */
#include "cmd/tl-decode/flight/flight.h"
#include "cmd/tl-decode/format.h"

#define PICKLE_MAX ((size_t)256 << 20)
#define DEPTH_MAX 64
/* Values may be shared, again and again. */
#define TEXT_MAX ((size_t)1 << 30)

enum node_type {
	NODE_WORD, /* null, true, false: text */
	NODE_INT,
	NODE_REAL,
	NODE_TEXT,
	NODE_LIST,
	NODE_DICT, /* keys and values in turn */
};

/* A member of a list: node and next cell, or 0. */
struct cell {
	uint32_t node, next;
};

struct node {
	enum node_type type;
	union {
		int64_t n;
		double real;
		struct str text;
		struct {
			uint32_t first, last; /* cells, or 0 */
		};
	};
};

struct pickle {
	struct source_state *s;
	const unsigned char *p, *end, *op; /* op: the current opcode */
	VEC(struct node) nodes;
	VEC(struct cell) cells; /* the first is unused */
	VEC(uint32_t) stack;
	VEC(size_t) marks; /* stack heights */
	struct map memo;
	struct buf out;
	struct in *in; /* over out */
	struct in *outer;
};

static noreturn void
fail(struct pickle *k, const char *why)
{
	source_die(k->s, k->op, why);
}

/* ---- bytes ---- */

static const unsigned char *
take(struct pickle *k, uint64_t n)
{
	const unsigned char *p = k->p;

	if (n > (uint64_t)(k->end - p))
		fail(k, "the file ends in this value: it is cut off");
	k->p += n;
	return p;
}

/* n bytes, little-endian, sign-extended if is_signed. */
static int64_t
take_int(struct pickle *k, unsigned n, bool is_signed)
{
	const unsigned char *p = take(k, n);
	uint64_t v = 0;

	for (unsigned i = 0; i < n; i++)
		v |= (uint64_t)p[i] << 8 * i;
	if (is_signed && n > 0 && n < 8 && (p[n - 1] & 0x80) != 0)
		v |= UINT64_MAX << 8 * n;
	return (int64_t)v;
}

/* Big-endian. */
static double
take_real(struct pickle *k)
{
	const unsigned char *p = take(k, 8);
	uint64_t bits = 0;
	double v;

	for (int i = 0; i < 8; i++)
		bits = bits << 8 | p[i];
	memcpy(&v, &bits, sizeof v);
	return v;
}

/* ---- the stack ---- */

static void
push(struct pickle *k, struct node node)
{
	vec_push(&k->stack, (uint32_t)k->nodes.n);
	vec_push(&k->nodes, node);
}

static void
push_text(struct pickle *k, int64_t len)
{
	const unsigned char *p = take(k, (uint64_t)len);

	push(k,
	    (struct node){
		.type = NODE_TEXT, .text = { (const char *)p, (size_t)len } });
}

static void
push_word(struct pickle *k, struct str word)
{
	push(k, (struct node){ .type = NODE_WORD, .text = word });
}

static void
push_int(struct pickle *k, int64_t v)
{
	push(k, (struct node){ .type = NODE_INT, .n = v });
}

static void
push_long(struct pickle *k)
{
	int64_t n = take_int(k, 1, false);

	if (n > 8)
		fail(k, "an integer of more than 64 bits");
	push_int(k, take_int(k, (unsigned)n, true));
}

static uint32_t
top(struct pickle *k)
{
	if (k->stack.n == 0)
		fail(k, "no value is left on the pickle's stack");
	return k->stack.v[k->stack.n - 1];
}

/* Moves values above this height into the list or dict below. */
static void
gather(struct pickle *k, size_t from, enum node_type type)
{
	struct node *to;

	if (from == 0 || from > k->stack.n)
		fail(k, "no value is left on the pickle's stack");
	to = &k->nodes.v[k->stack.v[from - 1]];
	if (to->type != type)
		fail(k, "a member of something that is not a container");
	if (type == NODE_DICT && (k->stack.n - from) % 2 != 0)
		fail(k, "a key without a value");
	for (size_t i = from; i < k->stack.n; i++) {
		uint32_t cell = (uint32_t)k->cells.n;

		vec_push(&k->cells, ((struct cell){ k->stack.v[i], 0 }));
		if (to->last != 0)
			k->cells.v[to->last].next = cell;
		else
			to->first = cell;
		to->last = cell;
	}
	k->stack.n = from;
}

static size_t
pop_mark(struct pickle *k)
{
	if (k->marks.n == 0 || k->marks.v[k->marks.n - 1] > k->stack.n)
		fail(k, "a mark is missing");
	return k->marks.v[--k->marks.n];
}

/* The topmost values as a tuple, a list. */
static void
push_tuple(struct pickle *k, size_t from)
{
	uint32_t list = (uint32_t)k->nodes.n;

	vec_push(&k->nodes, ((struct node){ .type = NODE_LIST }));
	vec_push(&k->stack, list);
	for (size_t i = k->stack.n - 1; i > from; i--)
		k->stack.v[i] = k->stack.v[i - 1];
	k->stack.v[from] = list;
	gather(k, from + 1, NODE_LIST);
}

static size_t
above(struct pickle *k, size_t n)
{
	if (k->stack.n < n)
		fail(k, "no value is left on the pickle's stack");
	return k->stack.n - n;
}

static void
get_memo(struct pickle *k, int64_t at)
{
	const uint64_t *node = map_get(&k->memo, (uint64_t)at);

	if (node == NULL)
		fail(k, "a value that was not kept before");
	vec_push(&k->stack, (uint32_t)*node);
}

static void
put_memo(struct pickle *k, int64_t at)
{
	*map_put(&k->memo, (uint64_t)at, NULL) = top(k);
}

/* ---- opcodes ---- */

static void
containers(struct pickle *k, unsigned op)
{
	switch (op) {
	case '(': vec_push(&k->marks, k->stack.n); break;
	case ']':
	case ')': push(k, (struct node){ .type = NODE_LIST }); break;
	case '}': push(k, (struct node){ .type = NODE_DICT }); break;
	case 'a': gather(k, above(k, 1), NODE_LIST); break;
	case 'e': gather(k, pop_mark(k), NODE_LIST); break;
	case 's': gather(k, above(k, 2), NODE_DICT); break;
	case 'u': gather(k, pop_mark(k), NODE_DICT); break;
	case 't': push_tuple(k, pop_mark(k)); break;
	case 0x85:
	case 0x86:
	case 0x87: push_tuple(k, above(k, op - 0x84)); break;
	case 'q': put_memo(k, take_int(k, 1, false)); break;
	case 'r': put_memo(k, take_int(k, 4, false)); break;
	case 0x94: put_memo(k, (int64_t)k->memo.n); break;
	case 'h': get_memo(k, take_int(k, 1, false)); break;
	case 'j': get_memo(k, take_int(k, 4, false)); break;
	default:
		fail(k,
		    "this pickle holds more than plain values: not a dump of "
		    "the flight recorder");
	}
}

/* Runs an opcode; false: the end. */
static bool
step(struct pickle *k)
{
	unsigned op;

	k->op = k->p;
	op = *take(k, 1);
	switch (op) {
	case '.': return false;
	case 0x80: (void)take(k, 1); break; /* protocol */
	case 0x95: (void)take(k, 8); break; /* length of a frame */
	case 'N': push_word(k, STR("null")); break;
	case 0x88: push_word(k, STR("true")); break;
	case 0x89: push_word(k, STR("false")); break;
	case 'K': push_int(k, take_int(k, 1, false)); break;
	case 'M': push_int(k, take_int(k, 2, false)); break;
	case 'J': push_int(k, take_int(k, 4, true)); break;
	case 0x8a: push_long(k); break;
	case 'G':
		push(k,
		    (struct node){ .type = NODE_REAL, .real = take_real(k) });
		break;
	case 0x8c: push_text(k, take_int(k, 1, false)); break;
	case 'X': push_text(k, take_int(k, 4, false)); break;
	case 0x8d: push_text(k, take_int(k, 8, false)); break;
	default: containers(k, op); break;
	}
	return true;
}

/* ---- as JSON ---- */

static void put_node(struct pickle *k, uint32_t id, unsigned depth);

static void
put_key(struct pickle *k, uint32_t id)
{
	const struct node *node = &k->nodes.v[id];
	char text[24];

	if (node->type == NODE_TEXT)
		json_put_string(&k->out, node->text);
	else if (node->type == NODE_INT)
		json_put_string(
		    &k->out, (struct str){ text, num_put_i64(text, node->n) });
	else
		fail(k, "a key that is neither text nor an integer");
}

static void
put_members(struct pickle *k, const struct node *node, unsigned depth)
{
	bool is_dict = node->type == NODE_DICT, is_key = is_dict;
	uint32_t next;

	if (depth == DEPTH_MAX)
		fail(k, "the values are nested too deep");
	buf_putc(&k->out, is_dict ? '{' : '[');
	for (uint32_t c = node->first; c != 0; c = next) {
		next = k->cells.v[c].next;
		if (is_key)
			put_key(k, k->cells.v[c].node);
		else
			put_node(k, k->cells.v[c].node, depth + 1);
		if (is_key)
			buf_putc(&k->out, ':');
		else if (next != 0)
			buf_putc(&k->out, ',');
		is_key = is_dict && !is_key;
	}
	buf_putc(&k->out, is_dict ? '}' : ']');
}

static void
put_node(struct pickle *k, uint32_t id, unsigned depth)
{
	const struct node *node = &k->nodes.v[id];
	char text[NUM_DOUBLE_MAX];

	if (k->out.len > TEXT_MAX)
		fail(k, "the values are too large: more than 1 GiB of text");
	switch (node->type) {
	case NODE_WORD: buf_put(&k->out, node->text.p, node->text.len); break;
	case NODE_INT: json_put_i64(&k->out, node->n); break;
	case NODE_TEXT: json_put_string(&k->out, node->text); break;
	case NODE_REAL:
		buf_put(&k->out, text, num_put_double(text, node->real));
		break;
	default: put_members(k, node, depth); break;
	}
}

/* ---- the format ---- */

static void
release(void *reading)
{
	struct pickle *k = reading;

	vec_free(&k->nodes);
	vec_free(&k->cells);
	vec_free(&k->stack);
	vec_free(&k->marks);
	map_free(&k->memo);
	buf_free(&k->out);
	vec_release(k);
}

static void
read_whole(struct pickle *k)
{
	struct in *in = k->s->in;

	while (in_more(in))
		if ((size_t)(in->end - in->p) > PICKLE_MAX)
			die("%s: a pickle of more than 256 MiB", in->name);
	source_check(k->s);
	k->p = in->p;
	k->end = in->end;
	vec_push(&k->cells, ((struct cell){ 0 }));
	while (step(k))
		;
	put_node(k, top(k), 0);
	k->s->counts->bytes += (uint64_t)(in->end - in->p);
	in->p = in->end;
}

static void
read_pickle(struct source_state *s)
{
	struct pickle *k = xcalloc(1, sizeof *k);
	struct in *outer = s->in;
	struct buf text;

	s->is_binary = true;
	k->s = s;
	s->reading = k;
	s->release = release;
	read_whole(k);
	text = k->out;
	k->out = (struct buf){ 0 };
	release(k);
	s->release = NULL;
	buf_room(&text, IN_PAD);
	memset(text.p + text.len, 0, IN_PAD);
	s->in = in_open_mem(text.p, text.len, outer->name);
	flight_read(s);
	in_close(s->in);
	s->in = outer;
	buf_free(&text);
}

static enum sniff
sniff(struct str head, const char *path)
{
	(void)path;
	return head.len > 1 && head.p[0] == '\x80' && head.p[1] >= 2 &&
		head.p[1] <= 5
	    ? SNIFF_SURE
	    : SNIFF_NO;
}

const struct format flight_pickle_format = {
	.name = "flight recorder",
	.sniff = sniff,
	.read = read_pickle,
};
