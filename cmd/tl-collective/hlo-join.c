/* SPDX-License-Identifier: MIT */
/* XLA's collectives of a rank: joins starts with ends; its groups; its GPUs. */
#include "cmd/tl-collective/hlo.h"

#include "cmd/tl-collective/collective.h"
#include "json/json.h"

size_t
hlo_join(struct rec *recs, size_t n, const struct hlo_signature *seen,
    const uint32_t *sigs, uint64_t *nskipped)
{
	struct map open = { 0 }; /* pair to 1 + index */
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct rec rec = recs[i];
		const struct hlo_signature *s = &seen[rec.sig];
		uint64_t *at = s->role == HLO_OPENS || s->role == HLO_CLOSES
		    ? map_put(&open, s->pair, NULL)
		    : NULL;

		if (s->role == HLO_CLOSES && *at > 0) {
			struct rec *start = &recs[*at - 1];

			start->dur_ns = rec_end(&rec) - start->start_ns;
			*at = 0;
		}
		if (s->role != HLO_WHOLE && s->role != HLO_OPENS)
			continue;
		rec.sig = sigs[rec.sig];
		rec.dur_ns = s->role == HLO_OPENS ? -1 : rec.dur_ns;
		recs[left++] = rec;
		if (s->role == HLO_OPENS)
			*at = left;
	}
	map_free(&open);
	n = left;
	left = 0;
	for (size_t i = 0; i < n; i++) {
		recs[left] = recs[i];
		left += recs[i].dur_ns >= 0;
	}
	*nskipped += n - left;
	return left;
}

void
hlo_own(struct str text, int64_t rank, struct buf *b)
{
	const char *end = text.p + text.len;
	const char *name = memchr(text.p, '\t', text.len);
	const char *tail = memchr(name + 1, '\t', (size_t)(end - name - 1));
	struct buf members = { 0 };
	int64_t n = replicas_of(
	    (struct str){ text.p, (size_t)(name - text.p) }, rank, &members);

	b->len = 0;
	if (n > 0)
		buf_printf(b, "[\"%.*s\",\"%.*s\"", (int)members.len, members.p,
		    (int)members.len, members.p);
	else
		buf_puts(b, "[null,null");
	buf_putc(b, ',');
	buf_put(b, name + 1, (size_t)(tail - name - 1));
	if (n > 0)
		buf_printf(b, ",%" PRId64 ",", n);
	else
		buf_puts(b, ",null,");
	buf_put(b, tail + 1, (size_t)(end - tail - 1));
	buf_free(&members);
}

int64_t
hlo_gpus(struct map *to, struct arena *mem, struct str fact)
{
	json_items of = { 0 };
	int64_t pid, gpu, n = 0;

	(void)!json_split(&of, mem, fact);
	for (size_t i = 0; i + 1 < of.n; i += 2)
		if (num_i64(of.v[i].text, &pid) &&
		    num_i64(of.v[i + 1].text, &gpu) && gpu >= 0 &&
		    gpu < GPUS_MAX) {
			*map_put(to, (uint64_t)pid, NULL) = (uint64_t)gpu;
			n = gpu >= n ? gpu + 1 : n;
		}
	vec_free(&of);
	return n;
}
