/* SPDX-License-Identifier: MIT */
/*
 * A simulator of GEMMs: a command that reads lines "M N K B dtype" and answers
 * each with a line of microseconds (anything else: it can't tell). One process
 * for the whole run; the same problem is asked for once.
 *
 * Of attention the products of one block are asked for, as one compute unit
 * does them with its share of the bandwidth: "M N K 1 dtype 1 GBPS". The blocks
 * go through the GPU in waves, as many at a time as there are compute units.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "cmd/tl-roofline/roof.h"

struct sim {
	const char *command;
	pid_t pid;
	FILE *to, *from;
	struct map known; /* hash of the line to the bits of the answer */
};

static void
start_failed(const char *command)
{
	die_errno("--sim: %s", command);
}

struct sim *
sim_start(const char *command)
{
	struct sim *s = xcalloc(1, sizeof *s);
	char *argv[] = { xstrdup("/bin/sh"), xstrdup("-c"), xstrdup(command),
		NULL };
	int in[2], out[2];

	/* no other child may hold them open */
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		start_failed(command);
	s->pid = child_spawn(argv, in[0], out[1]);
	if (s->pid < 0)
		start_failed(command);
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
	close(in[0]);
	close(out[1]);
	s->command = command;
	s->to = fdopen(in[1], "w");
	s->from = fdopen(out[0], "r");
	if (s->to == NULL || s->from == NULL)
		start_failed(command);
	return s;
}

static double
ask(struct sim *s, const char *line)
{
	char answer[256];
	double us = NAN;
	void (*old)(int) = signal(SIGPIPE, SIG_IGN);

	if (fputs(line, s->to) == EOF || fflush(s->to) != 0 ||
	    fgets(answer, sizeof answer, s->from) == NULL)
		die("--sim: %s: it ended without an answer to: %.*s",
		    s->command, (int)strcspn(line, "\n"), line);
	(void)signal(SIGPIPE, old);
	if (!num_double((struct str){ answer, strcspn(answer, "\r\n") }, &us) ||
	    us <= 0)
		return NAN;
	return us;
}

/* What a product may use of the GPU; no units: all of it. */
struct share {
	int cus;
	double gbps;
};

static double
product_us(struct sim *s, double m, double n, double k, double b,
    struct str dtype, struct share share)
{
	char line[192], limit[48] = "";
	bool is_new;
	uint64_t *slot;
	double us;
	int len;

	if (share.cus > 0)
		(void)snprintf(
		    limit, sizeof limit, " %d %.0f", share.cus, share.gbps);
	len = snprintf(line, sizeof line, "%.0f %.0f %.0f %.0f %.*s%s\n", m, n,
	    k, b, (int)dtype.len, dtype.p, limit);
	if (isnan(m + n + k) || len < 0 || (size_t)len >= sizeof line)
		return NAN;
	slot = map_put(&s->known, hash_bytes(line, (size_t)len), &is_new);
	if (is_new) {
		us = ask(s, line);
		memcpy(slot, &us, sizeof us);
	}
	memcpy(&us, slot, sizeof us);
	return us;
}

static double
number(const struct model_result *r, const char *name)
{
	struct model_value v;

	if (!model_param(r, str_of(name), &v))
		return NAN;
	if (v.type == MODEL_INT)
		return (double)v.i;
	return v.type == MODEL_REAL ? v.real : NAN;
}

/* ---- attention ---- */

/* Blocks of rows are held in the L1 cache; of the others all is one block. */
#define BLOCK_ROWS 128
#define UNITS_PER_CU 4 /* where the GPU's file does not say */

/* Of an element, by the digits of "bf16" or "fp8". */
static double
bytes_of(struct str precision)
{
	double bits = 0;

	for (size_t i = 0; i < precision.len; i++)
		if (precision.p[i] >= '0' && precision.p[i] <= '9')
			bits = bits * 10 + precision.p[i] - '0';
	return bits / 8;
}

static bool
is_flash(struct str name)
{
	return str_eq(name, STR("FlashAttnFunc")) ||
	    str_eq(name, STR("flash_attn::_flash_attn_forward")) ||
	    str_eq(name, STR("flash_attn::_flash_attn_backward"));
}

/* The softmax of a block of n elements, bound by the units or by the memory. */
static double
softmax_us(const struct arch *a, double n, double elem, double gbps)
{
	double units =
	    isnan(a->gemm_units_per_cu) ? UNITS_PER_CU : a->gemm_units_per_cu;
	double compute = 3 * n / (units * 256) / a->freq_mhz;
	double memory = 2 * n * elem / (gbps * 1000);

	return isnan(compute) || compute > memory ? compute : memory;
}

/*
 * Forward: Q K^T, softmax and P V of a block of rows with all keys. Backward:
 * of a block of keys with all rows, Q K^T and its gradients, once more computed
 * if blocks are held, and atomics of 400 ns and 40 ns on memory and on what a
 * group shares, for 64 elements each.
 */
static double
attention_us(struct sim *s, const struct arch *a, double gbps,
    const struct model_result *r, bool is_held, bool is_backward)
{
	double n_q = number(r, "N_Q"), n_kv = number(r, "N_KV");
	double dim = number(r, "d_h_qk"), lines = ceil(dim / 64);
	double near_gbps = is_held ? a->l1_bw_gbps : gbps;
	double rows = is_held && !is_backward ? fmin(n_q, BLOCK_ROWS) : n_q;
	double keys = is_held && is_backward ? fmin(n_kv, BLOCK_ROWS) : n_kv;
	double blocks = ceil(is_backward ? n_kv / keys : n_q / rows);
	double waves =
	    ceil(blocks * number(r, "B") * number(r, "H_Q") / a->num_cus);
	double softmax =
	    softmax_us(a, rows * keys, bytes_of(r->precision), near_gbps);
	double moved = r->bytes / (n_q * n_kv) * rows * keys / (gbps * 1000);
	struct share share = { 1, round(near_gbps / a->num_cus) };
	double qk, pv;

	if (isnan(waves + softmax + moved + share.gbps) || !(waves > 0) ||
	    !(dim > 0))
		return NAN;
	qk = product_us(s, rows, keys, dim, 1, r->precision, share);
	pv = product_us(s, rows, dim, keys, 1, r->precision, share);
	if (!is_backward)
		return waves * (qk + softmax + pv + moved);
	qk *= waves;
	pv *= waves;
	return (is_held ? qk + pv : 0) + qk + 3 * pv + waves * softmax +
	    (400 * waves * lines + 40 * waves * keys * lines) / 1000 +
	    moved * waves;
}

/* ---- one op ---- */

double
sim_time(struct sim *s, const struct roof_state *g,
    const struct model_result *r, struct str name, bool is_backward)
{
	const struct arch *a = g->arch;
	double b;

	if (s == NULL || r->status != MODEL_OK || r->precision.len == 0)
		return NAN;
	b = number(r, "B");
	if (r->model->is_gemm && !is_backward)
		return product_us(s, number(r, "M"), number(r, "N"),
		    number(r, "K"), isnan(b) ? 1 : b, r->precision,
		    (struct share){ 0, 0 });
	if (!str_eq(r->model->sheet, STR("SDPA")) || a == NULL)
		return NAN;
	return attention_us(s, a, arch_gbps(a, g->roof), r, is_flash(name),
	    is_backward || is_backward_op(r->model, name));
}

void
sim_finish(struct sim *s)
{
	if (s == NULL)
		return;
	(void)fclose(s->to);
	(void)fclose(s->from);
	(void)child_wait(s->pid);
	map_free(&s->known);
	free(s);
}
