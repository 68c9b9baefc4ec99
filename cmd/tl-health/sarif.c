/* SPDX-License-Identifier: MIT */
/* Writes findings as SARIF 2.1.0, for services that show them in CI. */
#include "cmd/tl-health/health.h"
#include "cmd/tl-health/rules.h"
#include "json/json.h"

#include <math.h>

#define SCHEMA "https://json.schemastore.org/sarif-2.1.0.json"

static const char *const levels_of_checks[SEVERITIES] = {
	[SOUND] = "none",
	[NOTE] = "note",
	[WARNING] = "warning",
	[MISLEADING] = "error",
};

static void
put_text(struct buf *b, const char *key, struct str text)
{
	buf_printf(b, "\"%s\":{\"text\":", key);
	json_put_string(b, text);
	buf_putc(b, '}');
}

/* ---- what can be found ---- */

static void
put_descriptor(struct buf *b, const char *prefix, struct str id,
    struct str text, struct str help, const char *level)
{
	struct buf full = { 0 };

	buf_printf(&full, "%s%.*s", prefix, (int)id.len, id.p);
	buf_puts(b, b->p[b->len - 1] == '[' ? "{\"id\":" : ",\n{\"id\":");
	json_put_string(b, buf_str(&full));
	buf_putc(b, ',');
	put_text(b, "shortDescription", text);
	if (help.len > 0) {
		buf_putc(b, ',');
		put_text(b, "help", help);
	}
	buf_printf(b, ",\"defaultConfiguration\":{\"level\":\"%s\"}}", level);
	buf_free(&full);
}

static void
put_descriptors(const struct health *h, struct buf *b)
{
	for (int c = 0; c < CHECKS; c++)
		put_descriptor(b, "", str_of(checks[c].id),
		    str_of(checks[c].text), str_of(checks[c].advice),
		    isfinite(checks[c].misleading)    ? "error"
			: isfinite(checks[c].warning) ? "warning"
						      : "note");
	for (size_t i = 0; h->rules != NULL && i < h->rules->list.n; i++) {
		const struct site_rule *rule = &h->rules->list.v[i];

		put_descriptor(b, RULE_PREFIX, rule->id, rule->require.source,
		    rule->text, rule_level_words[rule->level]);
	}
}

/* ---- where ---- */

/* Escapes a path as RFC 3986 asks. */
static void
put_uri(struct buf *b, const char *path)
{
	buf_puts(b, path[0] == '/' ? "\"uri\":\"file://" : "\"uri\":\"");
	/* what precedes a colon would be a scheme */
	if (path[0] != '/' && strchr(path, ':') != NULL)
		buf_puts(b, "./");
	for (const char *p = path; *p != '\0'; p++) {
		unsigned char c = (unsigned char)*p;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
		    (c >= '0' && c <= '9') || strchr("/._~-", c) != NULL)
			buf_putc(b, (char)c);
		else
			buf_printf(b, "%%%02X", c);
	}
	buf_putc(b, '"');
}

static void
put_location(struct buf *b, const char *path, struct str uid)
{
	buf_puts(b,
	    ",\"locations\":[{\"physicalLocation\":"
	    "{\"artifactLocation\":{");
	put_uri(b, path);
	buf_puts(b, "}}");
	if (uid.len > 0) {
		buf_puts(b,
		    ",\"logicalLocations\":[{\"kind\":\"event\","
		    "\"fullyQualifiedName\":");
		json_put_string(b, uid);
		buf_puts(b, "}]");
	}
	buf_puts(b, "}]}");
}

/* ---- what was found ---- */

static void
put_result(struct buf *b, const char *prefix, struct str id, size_t index,
    const char *level, const char *kind, struct str text)
{
	struct buf full = { 0 };

	buf_printf(&full, "%s%.*s", prefix, (int)id.len, id.p);
	buf_puts(
	    b, b->p[b->len - 1] == '[' ? "{\"ruleId\":" : ",\n{\"ruleId\":");
	json_put_string(b, buf_str(&full));
	buf_printf(b, ",\"ruleIndex\":%zu,\"kind\":\"%s\",\"level\":\"%s\",",
	    index, kind, level);
	put_text(b, "message", text);
	buf_free(&full);
}

static void
put_findings(const struct health *h, struct buf *b)
{
	for (size_t i = 0; i < h->findings.n; i++) {
		const struct finding *f = &h->findings.v[i];
		const char *level = levels_of_checks[f->severity];
		struct buf text = { 0 };
		char uid[UID_MAX];

		finding_put(&text, f);
		put_result(b, "", str_of(checks[f->check].id), f->check, level,
		    "fail", buf_str(&text));
		put_location(b, h->sources.list.v[f->source].path,
		    (struct str){
			uid, f->has_uid ? uid_put(uid, f->first) : 0 });
		buf_free(&text);
	}
	for (size_t i = 0; i < h->outcomes.n; i++) {
		const struct outcome *o = &h->outcomes.v[i];
		bool is_broken = o->result == RULE_BROKEN;

		if (o->result == RULE_PASSED)
			continue;
		/* results of kind open have no level */
		put_result(b, RULE_PREFIX, o->rule->id,
		    CHECKS + (size_t)(o->rule - h->rules->list.v),
		    is_broken ? rule_level_words[o->rule->level] : "none",
		    is_broken ? "fail" : "open", o->why);
		put_location(b, h->sources.list.v[o->source].path, o->uid);
	}
}

void
health_sarif(const struct health *h, struct out *out)
{
	struct buf b = { 0 };

	buf_puts(&b,
	    "{\"$schema\":\"" SCHEMA "\",\"version\":\"2.1.0\","
	    "\"runs\":[{\"tool\":{\"driver\":{\"name\":\"tl-health\","
	    "\"rules\":[");
	put_descriptors(h, &b);
	buf_puts(&b, "]}},\n\"results\":[");
	put_findings(h, &b);
	buf_puts(&b, "]}]}\n");
	out_str(out, buf_str(&b));
	out_finish(out);
	buf_free(&b);
}
