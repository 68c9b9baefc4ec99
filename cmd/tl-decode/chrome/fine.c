/* SPDX-License-Identifier: MIT */
/*
 * Times finer than ns. Start and end are each rounded once, so that nested
 * events stay nested; a rounded duration could reach out of its parent. So what
 * rounding took is kept until ts and dur are known.
 */
#include "cmd/tl-decode/chrome/event.h"

#define UNIT INT64_C(1000000000) /* 1 ns, in 1e-9 ns */

/* The nine digits after the third decimal; 0 for other forms. */
static int64_t
behind_ns(struct str s)
{
	int64_t fine = 0;
	size_t i = 0;

	while (i < s.len && s.p[i] != '.')
		if (s.p[i++] == 'e' || s.p[i - 1] == 'E')
			return 0;
	i += 4;
	for (int n = 0; n < 9; n++, i++) {
		bool is_digit = i < s.len && s.p[i] >= '0' && s.p[i] <= '9';

		if (i < s.len && !is_digit)
			return 0;
		fine = fine * 10 + (is_digit ? s.p[i] - '0' : 0);
	}
	return fine;
}

int64_t
fine_of(const struct value *v)
{
	char text[NUM_DEC_MAX];
	struct str s = v->s;
	int64_t fine;

	if (v->type == VAL_INT)
		return 0;
	if (v->type == VAL_DEC)
		s = (struct str){ text, num_put_dec(text, v->dec) };
	fine = behind_ns(s);
	if (fine >= UNIT / 2) /* was rounded up */
		fine -= UNIT;
	return s.len > 0 && *s.p == '-' ? -fine : fine;
}

int64_t
fine_dur(int64_t ts_ns, int64_t ts_fine, int64_t dur_ns, int64_t dur_fine)
{
	int64_t end = ts_ns + dur_ns, fine = ts_fine + dur_fine;

	/* halves away from zero */
	if (fine > UNIT / 2 || (fine == UNIT / 2 && end >= 0))
		dur_ns++;
	else if (fine < -UNIT / 2 || (fine == -UNIT / 2 && end <= 0))
		dur_ns--;
	return dur_ns > 0 ? dur_ns : 0;
}
