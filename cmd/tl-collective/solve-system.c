/* SPDX-License-Identifier: MIT */
/*
 * Weighted least squares of differences. Eliminating the strata's own values
 * leaves the Laplacian of a graph of clocks,
 *
 *	L = diag(sum w) - sum over strata of w w' / sum w,
 *
 * which is solved for few clocks by Cholesky, for many by conjugate gradients,
 * without being formed.
 */
#include "cmd/tl-collective/solve.h"

#include <math.h>
#include <stdlib.h>

#define DENSE_MAX 48     /* a solution starts near the last one, */
#define VARIANCE_MAX 256 /* variances do not */
#define GRADIENTS_MAX 2000
#define EXACT 1e-3 /* ns */
#define DRAWS 32   /* random solutions for variances */

/* ---- what both have ---- */

static size_t
end_of_stratum(const struct system *s, size_t i)
{
	size_t end = i + 1;

	while (end < s->nties && s->stratum[end] == s->stratum[i])
		end++;
	return end;
}

/* Sums of w value less the stratum's mean; and L x in the same way. */
static void
apply(
    const struct system *s, const double *value, bool is_of_clock, double *out)
{
	for (size_t c = 0; c < s->n; c++)
		out[c] = 0;
	for (size_t i = 0, end; i < s->nties; i = end) {
		double sum = 0, weight = 0;

		end = end_of_stratum(s, i);
		for (size_t k = i; k < end; k++) {
			sum += s->w[k] * value[is_of_clock ? s->clock[k] : k];
			weight += s->w[k];
		}
		for (size_t k = i; k < end && weight > 0; k++)
			out[s->clock[k]] += s->w[k] *
			    (value[is_of_clock ? s->clock[k] : k] -
				sum / weight);
	}
}

static void
diagonal(const struct system *s, double *out)
{
	for (size_t c = 0; c < s->n; c++)
		out[c] = 0;
	for (size_t i = 0, end; i < s->nties; i = end) {
		double weight = 0;

		end = end_of_stratum(s, i);
		for (size_t k = i; k < end; k++)
			weight += s->w[k];
		for (size_t k = i; k < end && weight > 0; k++)
			out[s->clock[k]] += s->w[k] * (1 - s->w[k] / weight);
	}
}

/* ---- few clocks ---- */

/* L + scale z z', which can be inverted; lower triangle. */
static double *
matrix_of(const struct system *s, const double *zero, double *scale)
{
	size_t n = s->n;
	double *a = xcalloc(n * n, sizeof *a), trace = 0, norm = 0;

	for (size_t i = 0, end; i < s->nties; i = end) {
		double weight = 0;

		end = end_of_stratum(s, i);
		for (size_t k = i; k < end; k++)
			weight += s->w[k];
		for (size_t k = i; k < end && weight > 0; k++) {
			a[s->clock[k] * n + s->clock[k]] += s->w[k];
			for (size_t m = i; m < end; m++)
				a[s->clock[k] * n + s->clock[m]] -=
				    s->w[k] * s->w[m] / weight;
		}
	}
	for (size_t c = 0; c < n; c++) {
		trace += a[c * n + c];
		norm += zero[c] * zero[c];
	}
	*scale = trace > 0 ? trace / (double)n / norm : 1;
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c < n; c++)
			a[r * n + c] += *scale * zero[r] * zero[c];
	return a;
}

static void
factorise(double *a, size_t n)
{
	for (size_t r = 0; r < n; r++)
		for (size_t c = 0; c <= r; c++) {
			double sum = a[r * n + c], whole = sum;

			for (size_t k = 0; k < c; k++)
				sum -= a[r * n + k] * a[c * n + k];
			if (c < r)
				a[r * n + c] = sum / a[c * n + c];
			else /* rounding leaves no tie */
				a[r * n + r] = sqrt(sum > whole * 1e-14
					? sum
					: whole * 1e-14 + 1e-300);
		}
}

static void
forward(const double *a, size_t n, size_t first, double *x)
{
	for (size_t r = first; r < n; r++) {
		for (size_t k = first; k < r; k++)
			x[r] -= a[r * n + k] * x[k];
		x[r] /= a[r * n + r];
	}
}

static void
backward(const double *a, size_t n, double *x)
{
	for (size_t r = n; r-- > 0;) {
		for (size_t k = r + 1; k < n; k++)
			x[r] -= a[k * n + r] * x[k];
		x[r] /= a[r * n + r];
	}
}

static void
solve_dense(const struct system *s, const double *value, double *x)
{
	double *zero = xcalloc(s->n, sizeof *zero), scale, *a;

	zero[0] = 1;
	a = matrix_of(s, zero, &scale);
	factorise(a, s->n);
	apply(s, value, false, x);
	forward(a, s->n, 0, x);
	backward(a, s->n, x);
	free(a);
	free(zero);
}

static void
variance_dense(const struct system *s, const double *zero, double *out)
{
	size_t n = s->n;
	double scale, *a = matrix_of(s, zero, &scale);
	double *unit = xmalloc(n * sizeof *unit);

	factorise(a, n);
	for (size_t c = 0; c < n; c++) {
		double sum = 0;

		for (size_t k = 0; k < n; k++)
			unit[k] = k == c;
		forward(a, n, c, unit);
		for (size_t k = c; k < n; k++)
			sum += unit[k] * unit[k];
		out[c] = fmax(0, sum - 1 / scale);
	}
	free(unit);
	free(a);
}

/* ---- many ---- */

static double
dot(const double *a, const double *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void
solve_gradients(const struct system *s, const double *value, double *x)
{
	size_t n = s->n;
	double *room = xcalloc(5 * n, sizeof *room);
	double *r = room, *p = r + n, *z = p + n, *ap = z + n, *diag = ap + n;
	double rz = 0;

	diagonal(s, diag);
	apply(s, value, false, r);
	apply(s, x, true, ap);
	for (int round = 0; round <= GRADIENTS_MAX; round++) {
		double most = 0, next, along;

		for (size_t c = 0; c < n; c++) {
			r[c] -= round == 0 ? ap[c] : 0;
			z[c] = diag[c] > 0 ? r[c] / diag[c] : 0;
			most = fmax(most, fabs(z[c]));
		}
		if (most < EXACT || round == GRADIENTS_MAX)
			break;
		next = dot(r, z, n);
		for (size_t c = 0; c < n; c++)
			p[c] = z[c] + (rz > 0 ? next / rz : 0) * p[c];
		rz = next;
		apply(s, p, true, ap);
		along = dot(p, ap, n);
		if (along <= 0)
			break;
		for (size_t c = 0; c < n; c++) {
			x[c] += rz / along * p[c];
			r[c] -= rz / along * ap[c];
		}
	}
	free(room);
}

/* Reproducible random numbers. */
static double
draw(uint64_t *state)
{
	double sum = 0;

	/* 12 uniform ones add up to a nearly normal one */
	for (int i = 0; i < 12; i++) {
		*state = *state * UINT64_C(6364136223846793005) +
		    1442695040888963407;
		sum += (double)(*state >> 11) / 0x1p53;
	}
	return sum - 6;
}

static void
variance_drawn(const struct system *s, const double *zero, double *out)
{
	double *value = xmalloc(s->nties * sizeof *value);
	double *x = xmalloc(s->n * sizeof *x);
	uint64_t state = 1;

	for (size_t c = 0; c < s->n; c++)
		out[c] = 0;
	for (int i = 0; i < DRAWS; i++) {
		double mean;

		for (size_t k = 0; k < s->nties; k++)
			value[k] =
			    s->w[k] > 0 ? draw(&state) / sqrt(s->w[k]) : 0;
		for (size_t c = 0; c < s->n; c++)
			x[c] = 0;
		solve_gradients(s, value, x);
		mean = dot(zero, x, s->n);
		for (size_t c = 0; c < s->n; c++)
			out[c] += (x[c] - mean) * (x[c] - mean) / DRAWS;
	}
	free(value);
	free(x);
}

/* ---- */

void
system_solve(const struct system *s, const double *value, double *x)
{
	if (s->n <= DENSE_MAX)
		solve_dense(s, value, x);
	else
		solve_gradients(s, value, x);
}

void
system_variance(const struct system *s, const double *zero, double *out)
{
	if (s->n <= VARIANCE_MAX)
		variance_dense(s, zero, out);
	else
		variance_drawn(s, zero, out);
}
