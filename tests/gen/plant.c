/* SPDX-License-Identifier: MIT */
/* Changes planted in a run, to be found in comparison with a run without. */
#include "gen.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
	const char *name;
	bool has_op;
} kinds[] = {
	[CHANGE_SLOW] = { "slow", true },
	[CHANGE_ADD] = { "add", true },
	[CHANGE_WRAP] = { "wrap", true },
	[CHANGE_RENAME] = { "rename", true },
	[CHANGE_FUSE] = { "fuse", false },
	[CHANGE_SWAP] = { "swap", false },
};

static bool
number(const char *text, char **end, int64_t min, int64_t *v)
{
	*v = strtoll(text, end, 10);
	return *end != text && *v >= min && *v <= 1000000;
}

/* STEP[.LAYER], each a number or `*`. */
static bool
parse_place(const char *text, struct change *c)
{
	char *end = NULL;

	if (text[0] == '*')
		text++;
	else if (number(text, &end, 1, &c->step))
		text = end;
	else
		return false;
	if (text[0] == '\0')
		return true;
	return text[0] == '.' && number(text + 1, &end, 0, &c->layer) &&
	    *end == '\0';
}

/* OP:PERCENT; op names have colons too. */
static bool
parse_percent(char *text, struct change *c)
{
	char *colon = strrchr(text, ':'), *end;
	int64_t percent;

	if (colon == NULL || !number(colon + 1, &end, -100, &percent) ||
	    *end != '\0')
		return false;
	*colon = '\0';
	c->milli = 1000 + 10 * percent;
	return true;
}

static bool
parse(char *arg, struct change *c)
{
	char *at = strrchr(arg, '@'), *op;
	size_t i, n = sizeof kinds / sizeof kinds[0];

	if (at != NULL) {
		*at = '\0';
		if (!parse_place(at + 1, c))
			return false;
	}
	op = strchr(arg, '=');
	if (op != NULL)
		*op++ = '\0';
	for (i = 0; i < n && strcmp(arg, kinds[i].name) != 0; i++)
		;
	if (i == n || kinds[i].has_op != (op != NULL))
		return false;
	c->kind = (enum change_kind)i;
	c->op = op;
	if (c->kind == CHANGE_SLOW && !parse_percent(op, c))
		return false;
	return op == NULL || op[0] != '\0';
}

/* The text is kept: it holds the op's name. */
void
plant_parse(struct conf *cf, const char *arg)
{
	struct change *c = &cf->change[cf->nchange];
	char *text = strdup(arg);

	if (text == NULL)
		die("out of memory");
	if (cf->nchange++ == MAX_PLANTS)
		die("--plant: at most %d of them", MAX_PLANTS);
	*c = (struct change){ .milli = 1000, .step = -1, .layer = -1 };
	if (!parse(text, c))
		usage("plant", arg);
}

/* The change of this kind for the op here, or NULL. */
const struct change *
planted(const struct sim *s, enum change_kind kind, const char *op)
{
	for (int i = 0; i < s->cf->nchange; i++) {
		const struct change *c = &s->cf->change[i];

		if (c->kind == kind &&
		    (c->step < 0 || c->step == s->step + 1) &&
		    (c->layer < 0 || c->layer == s->place) &&
		    (c->op == NULL || strcmp(c->op, op) == 0))
			return c;
	}
	return NULL;
}

/* ---- the same code elsewhere -------------------------------------------- */

/* The name of a frame after --code: another line, folder or file. */
const char *
other_code(struct sim *s, const char *name)
{
	static const char moved[] = "moved/";
	const char *py = strstr(name, ".py("), *hex = strstr(name, "0x");
	char text[512];
	int n = 0, stem;

	if (s->cf->code == CODE_SAME || (py == NULL && hex == NULL))
		return name;
	if (py == NULL) {
		n = snprintf(text, sizeof text, "%.*s0x55%s", (int)(hex - name),
		    name, hex + 2);
	} else {
		stem = (int)(py - name);
		n = snprintf(text, sizeof text, "%s%.*s%s.py(%ld%s",
		    s->cf->code >= CODE_FOLDERS ? moved : "", stem, name,
		    s->cf->code >= CODE_FILES ? "_v2" : "",
		    strtol(py + 4, NULL, 10) + 17, strchr(py, ')'));
	}
	if (n >= (int)sizeof text)
		die("a name is too long");
	return text_keep(s, text);
}
