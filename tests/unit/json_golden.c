/* SPDX-License-Identifier: MIT */
/*
 * Every case of tests/golden/json through the token reader, through the
 * minifier, and through a window that grows byte by byte.
 */
#include <dirent.h>

#include "tests/unit/tap.h"
#include "json/json.h"

#define PAD 64

struct text {
	unsigned char *p; /* followed by PAD zeros */
	size_t len;
};

static bool
read_file(const char *path, struct text *t)
{
	FILE *f = fopen(path, "rb");
	size_t cap = 1 << 20, n;

	if (f == NULL)
		return false;
	t->p = malloc(cap + PAD);
	n = fread(t->p, 1, cap, f);
	t->len = n;
	memset(t->p + n, 0, PAD);
	fclose(f);
	return n < cap;
}

/* The result of a text: a running hash of its tokens, and the verdict. */
struct verdict {
	bool good;
	uint64_t hash;
	size_t byte; /* of the error */
	const char *error;
};

static void
token(struct verdict *v, const struct json *j, enum json_token t)
{
	v->hash = hash_mix(v->hash ^ (uint64_t)t, HASH_K0);
	if (t == JSON_T_KEY || t == JSON_T_STRING || t == JSON_T_NUMBER)
		v->hash ^= hash_same(j->raw) + j->escaped;
}

/* Only white space may follow the value. */
static struct verdict
finish(struct verdict v, struct json *j, const unsigned char *start)
{
	if (v.good) {
		json_space(j);
		v.good = j->p == j->end;
		j->where = j->p;
		j->error = "text after the value";
	}
	v.byte = (size_t)(j->where - start);
	v.error = v.good ? NULL : j->error;
	return v;
}

static struct verdict
whole(const struct text *t)
{
	struct verdict v = { 0 };
	struct json j;
	enum json_token tok = JSON_T_BAD;

	json_start(&j, t->p, t->len);
	if (json_bom(&j) == JSON_OK)
		while ((tok = json_next(&j)) > JSON_T_END)
			token(&v, &j, tok);
	v.good = tok == JSON_T_END;
	return finish(v, &j, t->p);
}

/* A byte more each time that more is asked for, each window a new block. */
static struct verdict
by_bytes(const struct text *t)
{
	struct verdict v = { 0 };
	struct json j;
	size_t seen = 0, at = 0;
	unsigned char *window = calloc(1, PAD);
	enum json_token tok = JSON_T_MORE;
	bool bom = true;

	json_start(&j, window, 0);
	j.eof = false;
	for (;;) {
		if (bom) {
			enum json_status s = json_bom(&j);

			bom = s == JSON_MORE;
			tok = s == JSON_OK  ? JSON_T_OBJECT
			    : s == JSON_BAD ? JSON_T_BAD
					    : JSON_T_MORE;
			if (s == JSON_OK)
				continue;
		} else {
			tok = json_next(&j);
		}
		if (tok == JSON_T_MORE) {
			at = (size_t)(j.p - window);
			free(window);
			if (seen < t->len)
				seen++;
			else
				j.eof = true;
			window = malloc(seen + PAD);
			memcpy(window, t->p, seen);
			memset(window + seen, 0, PAD);
			j.p = window + at;
			j.end = window + seen;
		} else if (tok <= JSON_T_END) {
			break;
		} else {
			token(&v, &j, tok);
		}
	}
	v.good = tok == JSON_T_END;
	if (v.good) { /* let it see what follows */
		at = (size_t)(j.p - window);
		j.p = t->p + at;
		j.end = t->p + t->len;
		v = finish(v, &j, t->p);
	} else {
		v = finish(v, &j, window);
	}
	free(window);
	return v;
}

static struct verdict
minified(const struct text *t)
{
	struct verdict v = { 0 };
	struct buf out = { 0 };
	struct json j;
	size_t at = 0;

	json_start(&j, t->p, t->len);
	if (json_bom(&j) != JSON_OK)
		return finish(v, &j, t->p);
	v.good = json_minify(
	    (struct str){ (const char *)j.p, (size_t)(j.end - j.p) }, 0, &out,
	    &v.error, &at);
	v.byte = (size_t)(j.p - t->p) + at;
	if (v.good) {
		struct text again = { NULL, out.len };

		again.p = malloc(out.len + PAD);
		memcpy(again.p, out.p, out.len);
		memset(again.p + out.len, 0, PAD);
		v.hash = whole(&again).hash;
		free(again.p);
	}
	free(out.p);
	return v;
}

static int
one_file(const char *path, const char *name, bool accept)
{
	struct text t;
	struct verdict a, b, c;

	if (!read_file(path, &t)) {
		diag("cannot read %s", path);
		return 1;
	}
	a = whole(&t);
	b = t.len < 2000 ? by_bytes(&t) : a;
	c = minified(&t);
	free(t.p);
	if (a.good != accept || (!accept && (a.error == NULL || !*a.error)))
		diag("%s: reader: %s at %zu", name, a.good ? "ok" : a.error,
		    a.byte);
	else if (b.good != a.good || b.hash != a.hash ||
	    (!a.good && b.byte != a.byte))
		diag("%s: by bytes: %s at %zu, not %zu", name,
		    b.good ? "ok" : b.error, b.byte, a.byte);
	else if (c.good != a.good || (a.good && c.hash != a.hash) ||
	    (!a.good && c.byte != a.byte))
		diag("%s: minify: %s at %zu, not %zu (%s)", name,
		    c.good ? "ok" : c.error, c.byte, a.byte,
		    a.good ? "ok" : a.error);
	else
		return 0;
	return 1;
}

/* verdict: 'a', 'r', or 0 when the file's name begins with it. */
static void
folder(const char *root, const char *sub, char verdict)
{
	char dir[3000], path[4000];
	struct dirent *e;
	int wrong = 0, n = 0;
	DIR *d;

	snprintf(dir, sizeof dir, "%s/tests/golden/json/%s", root, sub);
	d = opendir(dir);
	if (d == NULL) {
		skip(1, "no tests/golden/json");
		return;
	}
	while ((e = readdir(d)) != NULL) {
		size_t len = strlen(e->d_name);

		if (len < 5 || strcmp(e->d_name + len - 5, ".json") != 0)
			continue;
		snprintf(path, sizeof path, "%s/%s", dir, e->d_name);
		wrong += one_file(
		    path, e->d_name, (verdict ? verdict : e->d_name[0]) == 'a');
		n++;
	}
	closedir(d);
	ok(n > 0 && wrong == 0, "%s: %d of %d as decided", sub, n - wrong, n);
}

static const char *
find_root(void)
{
	static const char *const tries[] = { ".", "..", "../..", "../../.." };
	static char path[256];
	const char *root = getenv("TL_ROOT");

	for (size_t i = 0; root == NULL && i < 4; i++) {
		DIR *d;

		snprintf(path, sizeof path, "%s/tests/golden/json", tries[i]);
		d = opendir(path);
		if (d != NULL) {
			closedir(d);
			root = tries[i];
		}
	}
	return root;
}

int
main(void)
{
	const char *root = find_root();

	if (root == NULL)
		skip_all("no tests/golden/json");
	folder(root, "accept", 'a');
	folder(root, "reject", 'r');
	folder(root, "free", 0);
	done_testing();
}
