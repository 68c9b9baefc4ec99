/* SPDX-License-Identifier: MIT */
/* Recognizes formats: see format.h. */
#include "cmd/tl-decode/format.h"

#include "cmd/tl-decode/json/trace.h"

#include <unistd.h>

/*
 * All formats: X(NAME) is NAME_format of folder NAME, or of the part of the
 * folder's name before a _. Of two equally sure ones the first reads.
 */
/* clang-format off */
#ifdef HAVE_SQLITE
#define EACH_DATABASE(X) X(sqlite)
#else
#define EACH_DATABASE(X)
#endif
#define EACH_FORMAT(X) \
	X(chrome) \
	X(flight) \
	X(flight_pickle) \
	X(perfetto) \
	X(rocprof) \
	X(rocprof_csv) \
	X(xplane) \
	X(zip) \
	EACH_DATABASE(X)
/* clang-format on */

#define DECLARE(name) extern const struct format name##_format;
#define ADDRESS(name) &name##_format,

EACH_FORMAT(DECLARE)

static const struct format *const formats[] = { EACH_FORMAT(ADDRESS) };

void
format_die(struct source_state *s)
{
	const unsigned char *p = s->in->p;
	const char *is = guess_bytes(p, (size_t)(s->in->end - p));

	if (is == NULL &&
	    (str_ends(str_of(s->in->name), STR(".nsys-rep")) ||
		str_ends(str_of(s->in->name), STR(".qdrep"))))
		is = "is an Nsight Systems report: export it with nsys export "
		     "--type sqlite";
	while (p < s->in->end && (*p == ' ' || *p == '\n' || *p == '\t'))
		p++;
	die("%s: byte %" PRIu64 ": not a trace: this %s", s->in->name,
	    in_offset(s->in, p), is != NULL ? is : "is in no known format");
}

/* The surest format, or NULL. */
static const struct format *
format_of(struct str head, const char *path)
{
	const struct format *best = NULL;
	enum sniff sure = SNIFF_NO;

	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
		enum sniff now = SNIFF_NO;

		if (formats[i]->sniff != NULL)
			now = formats[i]->sniff(head, path);
		if (now > sure) {
			best = formats[i];
			sure = now;
		}
	}
	return best;
}

const struct json_format *
format_of_key(struct str key)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i]->json != NULL &&
		    str_eq(key, formats[i]->json->events))
			return formats[i]->json;
	return NULL;
}

/* The format that finds whole events among garbage. */
static const struct format *
format_of_damaged(void)
{
	for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
		if (formats[i]->can_salvage)
			return formats[i];
	return NULL;
}

void
format_read(struct source_state *s)
{
	bool is_short = !in_need(s->in, FORMAT_HEAD);
	const struct format *f;
	struct str head;

	head = (struct str){ (const char *)s->in->p,
		(size_t)(s->in->end - s->in->p) };
	if (head.len > FORMAT_HEAD)
		head.len = FORMAT_HEAD;
	f = head.len > 0 ? format_of(head, s->in->name) : NULL;
	s->can_salvage = f != NULL && f->can_salvage;
	if (is_short && !s->set->salvage)
		source_check(s);
	if (head.len == 0)
		die("%s: the input is empty", s->in->name);
	if (f == NULL && s->set->salvage &&
	    guess_bytes(s->in->p, (size_t)(s->in->end - s->in->p)) == NULL)
		f = format_of_damaged();
	if (f == NULL)
		format_die(s);
	if (s->set->salvage && !f->can_salvage)
		die("%s: --salvage cannot read a damaged %s file", s->in->name,
		    f->name);
	if (f->read_file != NULL) {
		int fd = in_seekable(s->in);

		f->read_file(s, fd);
		close(fd);
	} else {
		f->read(s);
	}
}
