/* SPDX-License-Identifier: MIT */
/*
 * Kernel names on a terminal. A demangled C++ name is mostly arguments:
 *
 *	void at::native::reduce_kernel<512, 1, ReduceOp<float, F<1> > >(Args)
 *
 * Brackets are matched once; then the name is written with less and less in
 * them until it fits.
 */
#include <stdlib.h>

#include "table/view.h"

#define NO_MATCH UINT32_MAX
#define MAX_NESTING 256
#define MAX_NAME 65536 /* longer names are only elided */
#define SHARE_MIN 12   /* least width of a name in a sequence */

static const struct str separator = { " | ", 3 };

struct parsed {
	struct str s;
	uint32_t *match; /* end of a foldable < or (, start of a > */
	unsigned depth;  /* nesting of foldable < */
};

/* "<1>" and "(int)" are no longer than what would replace them. */
#define WORTH_FOLDING 4

/* How much of a name is written. */
struct folding {
	unsigned keep; /* template arguments nested less deep than this */
	/* what is dropped besides, in this order */
	enum {
		NO_PARAMS,
		NO_ANONYMOUS,
		NO_HASH, /* what follows # */
		NO_TAIL, /* the outermost "(...)" */
		NO_NAMESPACES,
		NO_ARGUMENTS, /* and the outermost "<...>" */
	} step;
};

static bool
is_name_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') || c == '_' || c == '$' ||
	    (unsigned char)c >= 0x80;
}

static struct str
from(struct str s, size_t i)
{
	return (struct str){ s.p + i, s.len - i };
}

/* Bytes of "operator<<" or similar at i, or 0: its brackets are its name. */
static size_t
operator_len(struct str s, size_t i)
{
	static const char *const symbols[] = { "<=>", "<<=", ">>=", "->*", "->",
		"<<", ">>", "<=", ">=", "()", "[]", "<", ">" };
	static const struct str word = { "operator", 8 };

	if (!str_starts(from(s, i), word) ||
	    (i > 0 && is_name_char(s.p[i - 1])))
		return 0;
	for (size_t k = 0; k < sizeof symbols / sizeof *symbols; k++)
		if (str_starts(from(s, i + word.len), str_of(symbols[k])))
			return word.len + strlen(symbols[k]);
	return word.len;
}

/* Arguments follow a name; "(anonymous namespace)" and casts don't. */
static bool
opens_arguments(struct str s, size_t i, size_t operator_end)
{
	if (s.p[i] != '<' && s.p[i] != '(')
		return false;
	return i == operator_end ||
	    (i > 0 &&
		(is_name_char(s.p[i - 1]) ||
		    strchr(">]})'", s.p[i - 1]) != NULL));
}

/* "enumerate(DataLoader)#Iter.__next__": a qualifier, not arguments. */
static bool
is_before_hash(struct str s, size_t end)
{
	return end + 1 < s.len && s.p[end + 1] == '#';
}

/* "utils.py(53)" is a line number. */
static bool
is_line_number(struct str s, size_t open, size_t end)
{
	while (++open < end)
		if (s.p[open] < '0' || s.p[open] > '9')
			return false;
	return s.p[end] == ')' && s.p[end - 1] != '(';
}

struct stack {
	struct {
		uint32_t at;
		bool arguments;
	} open[MAX_NESTING];
	unsigned n;
};

/*
 * Closes the nearest open bracket of that kind; open ones inside were less-than
 * signs. False if there is none.
 */
static bool
close_bracket(struct parsed *p, struct stack *st, char open, size_t i)
{
	unsigned n = st->n;

	if (open == '<' && (n == 0 || p->s.p[st->open[n - 1].at] != '<'))
		return true; /* a greater-than sign */
	while (n > 0 && p->s.p[st->open[n - 1].at] != open)
		n--;
	if (n == 0)
		return false;
	st->n = --n;
	if (st->open[n].arguments && !is_before_hash(p->s, i) &&
	    !is_line_number(p->s, st->open[n].at, i))
		p->match[st->open[n].at] = (uint32_t)i;
	return true;
}

static bool
match_brackets(struct parsed *p)
{
	struct stack st = { .n = 0 };
	size_t operator_end = SIZE_MAX;
	bool fine = true;

	for (size_t i = 0, n; fine && i < p->s.len; i += n) {
		n = operator_len(p->s, i);
		if (n > 0) {
			operator_end = i + n;
			continue;
		}
		n = 1;
		switch (p->s.p[i]) {
		case '<':
		case '(':
		case '{':
		case '[':
			if (st.n == MAX_NESTING)
				return false;
			st.open[st.n].at = (uint32_t)i;
			st.open[st.n++].arguments =
			    opens_arguments(p->s, i, operator_end);
			break;
		case '>':
			if (i == 0 || p->s.p[i - 1] != '-')
				fine = close_bracket(p, &st, '<', i);
			break;
		case ')': fine = close_bracket(p, &st, '(', i); break;
		case '}': fine = close_bracket(p, &st, '{', i); break;
		case ']': fine = close_bracket(p, &st, '[', i); break;
		default: break;
		}
	}
	return fine;
}

/* Finds the < of each >, and how deep they nest. */
static void
link_ends(struct parsed *p)
{
	unsigned depth = 0;

	for (size_t i = 0; i < p->s.len; i++) {
		uint32_t m = p->match[i];

		if (m == NO_MATCH)
			continue;
		if (m < i) {
			depth--;
		} else if (p->s.p[i] == '<') {
			p->match[m] = (uint32_t)i;
			if (++depth > p->depth)
				p->depth = depth;
		}
	}
}

/* Folds what is between i and its end m, if it should be. */
static bool
fold_arguments(const struct parsed *p, const struct folding *f, unsigned depth,
    size_t i, struct buf *out)
{
	bool angle = p->s.p[i] == '<';

	if (angle && depth < f->keep)
		return false;
	if (depth == 0 && f->step >= (angle ? NO_ARGUMENTS : NO_TAIL))
		return true;
	if (p->match[i] - i - 1 < WORTH_FOLDING)
		return false;
	buf_puts(out, angle ? "<...>" : "(...)");
	return true;
}

static void
write_folded(const struct parsed *p, const struct folding *f, struct buf *out)
{
	static const struct str anon = { "(anonymous namespace)::", 23 };
	struct str s = p->s;
	unsigned depth = 0;
	size_t i = str_starts(s, STR("void ")) ? 5 : 0;

	while (i < s.len) {
		uint32_t m = p->match[i];
		bool opens = m != NO_MATCH && m > i;

		if (f->step >= NO_ANONYMOUS && str_starts(from(s, i), anon)) {
			i += anon.len;
			continue;
		}
		if (opens && fold_arguments(p, f, depth, i, out)) {
			i = m + 1;
			continue;
		}
		if (opens && s.p[i] == '<')
			depth++;
		else if (m != NO_MATCH && !opens)
			depth--;
		buf_putc(out, s.p[i++]);
	}
}

static int
nesting(char c)
{
	return strchr("<({", c) != NULL ? 1 : strchr(">)}", c) != NULL ? -1 : 0;
}

/*
 * Bytes of the namespaces and classes before the last name, and of a function
 * that names what it is called for, "autograd::engine::evaluate_function: X"; 0
 * also where that name, a lambda or an operator, says nothing by itself.
 */
static size_t
namespaces_len(struct str s)
{
	size_t last = 0;
	int depth = 0;

	if (str_find(s, STR("operator"), false) >= 0)
		return 0;
	for (size_t i = 0; i + 1 < s.len; i++) {
		depth += nesting(s.p[i]);
		if (depth == 0 && s.p[i] == ':' &&
		    (s.p[i + 1] == ':' || (last > 0 && s.p[i + 1] == ' ')))
			last = i + 2;
	}
	return last < s.len && is_name_char(s.p[last]) ? last : 0;
}

/*
 * Bytes before the # that qualifies a name, as in "Optimizer.step#SGD.step",
 * but not one that begins a name: "## forward ##".
 */
static size_t
hash_at(struct str s)
{
	int depth = 0;

	for (size_t i = 0; i < s.len; i++) {
		depth += nesting(s.p[i]);
		if (depth == 0 && s.p[i] == '#' && i > 0 &&
		    (is_name_char(s.p[i - 1]) || s.p[i - 1] == ')'))
			return i;
	}
	return s.len;
}

/* Rewrites b; returns whether it fits. */
static bool
try_folding(const struct parsed *p, const struct folding *f, size_t width,
    struct buf *b)
{
	b->len = 0;
	write_folded(p, f, b);
	if (f->step >= NO_HASH)
		b->len = hash_at(buf_str(b));
	if (f->step >= NO_NAMESPACES) {
		size_t cut = namespaces_len(buf_str(b));

		b->len -= cut;
		memmove(b->p, b->p + cut, b->len);
	}
	return text_width(buf_str(b)) <= width;
}

/* Drops more step by step until it fits; b holds the last result. */
static void
fold_steps(const struct parsed *p, size_t width, struct buf *b)
{
	struct folding f = { .keep = width > 0 ? p->depth : 0 };

	while (!try_folding(p, &f, width, b) && width > 0) {
		if (f.keep > 0)
			f.keep--;
		else if (f.step < NO_ARGUMENTS)
			f.step++;
		else
			return;
	}
}

/* AMD's kernel descriptors have the kernel's name with this ending. */
static struct str
without_kd(struct str s)
{
	static const struct str ends[] = { { ".kd", 3 },
		{ " [clone .kd]", 12 } };

	for (size_t i = 0; i < sizeof ends / sizeof *ends; i++)
		if (s.len > ends[i].len &&
		    str_eq(from(s, s.len - ends[i].len), ends[i]))
			s.len -= ends[i].len;
	return s;
}

static void
fold_one(struct str name, size_t width, struct buf *out)
{
	struct buf whole = { 0 }, b = { 0 };
	struct parsed p = { 0 };

	text_visible(without_kd(name), &whole);
	p.s = buf_str(&whole);
	if ((width > 0 && text_width(p.s) <= width) || p.s.len > MAX_NAME) {
		text_elide(p.s, width > 0 ? width : SIZE_MAX, out);
		buf_free(&whole);
		return;
	}
	p.match = xmalloc((p.s.len + 1) * sizeof *p.match);
	memset(p.match, 0xff, (p.s.len + 1) * sizeof *p.match);
	if (!match_brackets(&p))
		memset(p.match, 0xff, (p.s.len + 1) * sizeof *p.match);
	link_ends(&p);
	fold_steps(&p, width, &b);
	text_elide(buf_str(&b), width > 0 ? width : SIZE_MAX, out);
	free(p.match);
	buf_free(&b);
	buf_free(&whole);
}

size_t
names_count(struct str s)
{
	size_t n = 1;

	for (int64_t at; (at = str_find(s, separator, false)) >= 0; n++)
		s = from(s, (size_t)at + separator.len);
	return n;
}

struct str
names_take(struct str *s)
{
	int64_t at = str_find(*s, separator, false);
	struct str name = { s->p, at < 0 ? s->len : (size_t)at };

	*s = at < 0 ? STR("") : from(*s, name.len + separator.len);
	return name;
}

/* Names of a sequence share the width. */
void
table_fold_name(struct str name, size_t width, struct buf *out)
{
	size_t n = names_count(name), gaps = (n - 1) * separator.len;
	size_t share = width > gaps ? (width - gaps) / n : 0;
	struct buf b = { 0 };

	if (n == 1 || name.len <= width) {
		fold_one(name, width, out);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_put(&b, separator.p, separator.len);
		fold_one(names_take(&name),
		    width > 0 && share < SHARE_MIN ? SHARE_MIN : share, &b);
	}
	text_elide(buf_str(&b), width > 0 ? width : SIZE_MAX, out);
	buf_free(&b);
}
