/* SPDX-License-Identifier: MIT */
/*
 * Sentences from templates, and records on a descriptor. As in err.c nothing
 * allocates.
 *
 * {name} in a template is a text, {#name} an integer, {name:one|many} what
 * goes with that integer: {#n} {n:event|events}.
 */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/err-line.h"
#include "base/report.h"
#include "base/unsafe.h"

static const struct {
	const char *name, *text;
	enum report_level level;
} messages[] = {
#define NOTE(id, text) { #id, text, LEVEL_NOTE },
#define WARNING(id, text) { #id, text, LEVEL_WARNING },
#define NOTHING(id, text) { #id, text, LEVEL_NOTHING },
#define REASON(id, text)
#include "base/report-ids.h"
};

static const char *const reasons[] = {
#define NOTE(id, text)
#define WARNING(id, text)
#define NOTHING(id, text)
#define REASON(id, text) text,
#include "base/report-ids.h"
};

const char *const report_levels[] = { "note", "warning", "nothing", "error",
	NULL };

const char *
report_reason(enum reason why)
{
	return reasons[why];
}

/* ---- arguments ---- */

struct report_arg
report_str(struct str s)
{
	if (s.p == NULL)
		s = STR("");
	return (struct report_arg){ .is_text = true, .text = s };
}

struct report_arg
report_text(const char *s)
{
	return report_str(str_of(s));
}

struct report_arg
report_int(int64_t n)
{
	return (struct report_arg){ .n = n };
}

struct report_arg
report_uint(uint64_t n)
{
	return report_int(n > INT64_MAX ? INT64_MAX : (int64_t)n);
}

/* ---- templates ---- */

enum piece_kind {
	PIECE_END,
	PIECE_PLAIN,
	PIECE_TEXT,
	PIECE_INT,
	PIECE_PLURAL,
	PIECE_BAD,
};

struct piece {
	enum piece_kind kind;
	struct str s; /* the plain text, or the name */
	struct str one, many;
};

static struct str
cut_at(struct str *s, char c)
{
	const char *p = memchr(s->p, c, s->len);
	struct str head = { s->p, p != NULL ? (size_t)(p - s->p) : s->len };
	size_t used = head.len + (p != NULL);

	s->p += used;
	s->len -= used;
	return head;
}

static struct piece
next_piece(const char **at)
{
	size_t n = strcspn(*at, "{}");
	struct piece p = { PIECE_PLAIN, { *at, n }, { 0 }, { 0 } };
	const char *end;
	struct str rest;

	if (**at == '\0')
		return (struct piece){ .kind = PIECE_END };
	*at += n;
	if (n > 0)
		return p;
	end = strchr(*at, '}');
	if (**at != '{' || end == NULL)
		return (struct piece){ .kind = PIECE_BAD };
	rest = (struct str){ *at + 1, (size_t)(end - *at) - 1 };
	*at = end + 1;
	p.kind = PIECE_TEXT;
	if (memchr(rest.p, ':', rest.len) != NULL) {
		p.kind = PIECE_PLURAL;
		p.s = cut_at(&rest, ':');
		p.one = cut_at(&rest, '|');
		p.many = rest;
		return p;
	}
	if (rest.len > 0 && rest.p[0] == '#') {
		p.kind = PIECE_INT;
		rest.p++;
		rest.len--;
	}
	p.s = rest;
	return p;
}

static size_t
param_index(const struct report_params *p, struct str name)
{
	size_t i = 0;

	while (i < p->n && !str_eq(p->name[i], name))
		i++;
	return i;
}

bool
report_params(enum report_id id, struct report_params *p)
{
	const char *at = messages[id].text;
	struct piece piece;

	p->n = 0;
	while ((piece = next_piece(&at)).kind != PIECE_END) {
		bool is_text = piece.kind == PIECE_TEXT;
		size_t i = param_index(p, piece.s);

		if (piece.kind == PIECE_BAD || i == REPORT_ARGS_MAX)
			return false;
		if ((is_text || piece.kind == PIECE_INT) && i == p->n) {
			p->is_text[i] = is_text;
			p->name[p->n++] = piece.s;
		}
	}
	for (at = messages[id].text;
	     (piece = next_piece(&at)).kind != PIECE_END;) {
		size_t i = param_index(p, piece.s);

		if (piece.kind == PIECE_PLURAL &&
		    (i == p->n || p->is_text[i] || piece.many.len == 0))
			return false;
	}
	return true;
}

size_t
report_sentence(
    enum report_id id, const struct report_arg *args, char *out, size_t size)
{
	const char *at = messages[id].text;
	struct report_params p;
	struct piece piece;
	size_t len = 0;

	(void)report_params(id, &p);
	while ((piece = next_piece(&at)).kind != PIECE_END) {
		const struct report_arg *a = &args[param_index(&p, piece.s)];
		struct str s = piece.s;
		char digits[32];

		if (piece.kind == PIECE_TEXT)
			s = a->text;
		else if (piece.kind == PIECE_PLURAL)
			s = a->n == 1 ? piece.one : piece.many;
		else if (piece.kind == PIECE_INT)
			s = (struct str){ digits, num_put_i64(digits, a->n) };
		if (s.len > size - len)
			s.len = size - len;
		memcpy(out + len, s.p, s.len);
		len += s.len;
	}
	return len;
}

const char *
report_word(enum report_id id)
{
	static _Thread_local char word[64];
	const char *name = messages[id].name;
	size_t n = 0;

	for (; name[n] != '\0' && n < sizeof word - 1; n++)
		word[n] = name[n] == '_' ? '-'
		    : name[n] >= 'A' && name[n] <= 'Z'
		    ? (char)(name[n] - 'A' + 'a')
		    : name[n];
	word[n] = '\0';
	return word;
}

enum report_level
report_level(enum report_id id)
{
	return messages[id].level;
}

enum report_id
report_find(struct str word)
{
	enum report_id id = 0;

	while (id < MSG_COUNT && !str_eq(str_of(report_word(id)), word))
		id++;
	return id;
}

/* ---- records ---- */

static int status_fd = -1;

void
report_use_fd(int fd)
{
	struct stat st;
	char text[96];

	status_fd = fd;
	/* identifies the file: in a child the number may be another's */
	if (fstat(fd, &st) != 0)
		die_usage("option '--status-fd': %d is not open", fd);
	(void)snprintf(text, sizeof text, "%d:%ju:%ju", fd,
	    (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	if (setenv("TL_STATUS_FD", text, 1) != 0)
		die_errno("TL_STATUS_FD");
}

void
report_begin(void)
{
	const char *text = getenv("TL_STATUS_FD");
	uintmax_t dev, ino;
	struct stat st;
	int fd;

	status_fd = -1;
	if (text != NULL && sscanf(text, "%d:%ju:%ju", &fd, &dev, &ino) == 3 &&
	    fd >= 0 && fstat(fd, &st) == 0 && st.st_dev == dev &&
	    st.st_ino == ino)
		status_fd = fd;
}

/* A JSON string, cut to what fits; invalid UTF-8 is replaced. */
static void
line_json(struct line *l, size_t limit, struct str s)
{
	const unsigned char *p = (const unsigned char *)s.p;
	size_t i = 0;

	l->p[l->len++] = '"';
	while (i < s.len && l->len + 14 < limit) {
		uint32_t c;
		size_t len = utf8_next(s.p + i, s.len - i, &c), n = len;

		if (c == UTF8_BAD || (c <= 0xffff && char_is_unsafe(c)))
			n = (size_t)snprintf(l->p + l->len, 7, "\\u%04x",
			    c == UTF8_BAD ? 0xfffd : c);
		else if (char_is_unsafe(c))
			n = (size_t)snprintf(l->p + l->len, 13,
			    "\\u%04x\\u%04x", 0xd7c0 + (c >> 10),
			    0xdc00 | (c & 0x3ff));
		else if (p[i] == '"' || p[i] == '\\')
			n = (size_t)snprintf(l->p + l->len, 3, "\\%c", p[i]);
		else
			memcpy(l->p + l->len, p + i, n);
		l->len += n;
		i += len;
	}
	l->p[l->len++] = '"';
}

static void
line_member(struct line *l, size_t limit, struct str key, struct str value)
{
	const char *mark = l->len == 0 ? "{" : ",";

	l->p[l->len++] = *mark;
	line_json(l, STATUS_MAX, key);
	l->p[l->len++] = ':';
	line_json(l, limit, value);
}

static void
line_args(struct line *l, const struct report_params *p,
    const struct report_arg *args)
{
	for (size_t i = 0; i < p->n; i++) {
		size_t room = STATUS_MAX - 64 - l->len;

		if (p->is_text[i]) {
			line_member(l, l->len + room / (p->n - i), p->name[i],
			    args[i].text);
			continue;
		}
		l->p[l->len++] = ',';
		line_json(l, STATUS_MAX, p->name[i]);
		l->p[l->len++] = ':';
		l->len += num_put_i64(l->p + l->len, args[i].n);
	}
}

static bool
put_record(const char *program, const char *level, const char *id,
    struct str sentence, const struct report_params *p,
    const struct report_arg *args)
{
	struct line l = { .len = 0 };
	ssize_t n;

	if (status_fd < 0)
		return false;
	line_member(&l, 200, STR("program"), str_of(program));
	line_member(&l, 300, STR("level"), str_of(level));
	line_member(&l, 400, STR("id"), str_of(id));
	line_member(&l, 2500, STR("text"), sentence);
	if (p != NULL)
		line_args(&l, p, args);
	l.p[l.len++] = '}';
	l.p[l.len++] = '\n';
	while ((n = write(status_fd, l.p, l.len)) < 0 && errno == EINTR)
		;
	return n >= 0;
}

bool
status_error(const char *program, const char *id, struct str sentence)
{
	return put_record(program, "error", id, sentence, NULL, NULL);
}

static void
tell(const char *program, const char *level, const char *id,
    struct str sentence, const struct report_params *p,
    const struct report_arg *args)
{
	struct line l = { .len = 0 };
	bool is_whole;

	if (put_record(program, level, id, sentence, p, args))
		return;
	message_text(&l, program);
	message_text(&l, ": ");
	is_whole = message_visible(
	    &l, MESSAGE_MAX - strlen("...\n"), sentence.p, sentence.len);
	if (!is_whole)
		message_text(&l, "...");
	l.p[l.len++] = '\n';
	message_emit(&l);
}

void
report_error_again(const char *program, const char *id, struct str sentence)
{
	tell(program, "error", id, sentence, NULL, NULL);
}

void
report_again(const char *program, struct str side, enum report_id id,
    const struct report_arg *args)
{
	char text[MESSAGE_MAX];
	struct report_params p;
	int err = errno;
	size_t n = 0;

	if (side.len > 0)
		n = (size_t)snprintf(text, sizeof text, "%.*s: ",
		    (int)(side.len < MESSAGE_MAX / 4 ? side.len
						     : MESSAGE_MAX / 4),
		    side.p);
	n += report_sentence(id, args, text + n, sizeof text - n);
	(void)report_params(id, &p);
	if (messages[id].level == LEVEL_WARNING)
		err_warned();
	tell(program, report_levels[messages[id].level], report_word(id),
	    (struct str){ text, n }, &p, args);
	errno = err;
}

static void
check_args(enum report_id id, const struct report_arg *args)
{
	struct report_params p;

	assert(id < MSG_COUNT && report_params(id, &p));
	for (size_t i = 0; i < p.n; i++)
		assert(args[i].is_text == p.is_text[i] &&
		    (!args[i].is_text || args[i].text.p != NULL));
	assert(args[p.n].is_text && args[p.n].text.p == NULL);
	(void)args;
}

void
report_args(const struct report_arg *args)
{
	enum report_id id = (enum report_id)args[0].n;

	assert(report_level(id) < LEVEL_NOTHING);
	check_args(id, args + 1);
	report_again(err_program_name(), STR(""), id, args + 1);
}

void
die_nothing_args(const struct report_arg *args)
{
	enum report_id id = (enum report_id)args[0].n;

	assert(report_level(id) == LEVEL_NOTHING);
	check_args(id, args + 1);
	err_claim_death();
	report_again(err_program_name(), STR(""), id, args + 1);
	err_end_nothing();
}
