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
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd/tl-roofline/roof.h"

struct sim {
	const char *command;
	pid_t pid;
	FILE *to, *from;
	struct map known; /* hash of the line to the bits of the answer */
};

extern char **environ;

static void
start_failed(const char *command, int error)
{
	errno = error;
	die_errno("--sim: %s", command);
}

struct sim *
sim_start(const char *command)
{
	struct sim *s = xcalloc(1, sizeof *s);
	posix_spawn_file_actions_t fa;
	char *argv[] = { xstrdup("sh"), xstrdup("-c"), xstrdup(command), NULL };
	int in[2], out[2], error;

	/* no other child may hold them open */
	if (pipe2(in, O_CLOEXEC) != 0 || pipe2(out, O_CLOEXEC) != 0)
		start_failed(command, errno);
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_adddup2(&fa, in[0], 0);
	posix_spawn_file_actions_adddup2(&fa, out[1], 1);
	error = posix_spawn(&s->pid, "/bin/sh", &fa, NULL, argv, environ);
	if (error != 0)
		start_failed(command, error);
	child_began(s->pid);
	posix_spawn_file_actions_destroy(&fa);
	for (size_t i = 0; i < 3; i++)
		free(argv[i]);
	close(in[0]);
	close(out[1]);
	s->command = command;
	s->to = fdopen(in[1], "w");
	s->from = fdopen(out[0], "r");
	if (s->to == NULL || s->from == NULL)
		start_failed(command, errno);
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

/* What a GEMM may use of the GPU; none: all of it. */
struct share {
	int cus; /* 0: all */
	double gbps;
};

static double
gemm_us(struct sim *s, double m, double n, double k, double b, struct str dtype,
    struct share share)
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
	if (len < 0 || (size_t)len >= sizeof line)
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

/* ---- GEMMs ---- */

static double
gemm_time(struct sim *s, const struct model_result *r)
{
	double m = number(r, "M"), n = number(r, "N"), k = number(r, "K");
	double b = number(r, "B");

	if (isnan(m) || isnan(n) || isnan(k))
		return NAN;
	return gemm_us(
	    s, m, n, k, isnan(b) ? 1 : b, r->precision, (struct share){ 0, 0 });
}

/* ---- attention ---- */

/* Blocks of rows are held in the L1 cache; of the others all is one block. */
#define BLOCK_ROWS 128

struct attention {
	double batch, heads, n_q, n_kv, dim, bytes; /* bytes: of all of it */
	double elem;                                /* bytes of an element */
	double rows, columns;                       /* of a block */
	bool is_flash;
};

static double
bytes_of_precision(struct str precision)
{
	static const struct {
		const char *word;
		double bytes;
	} sizes[] = { { "fp64", 8 }, { "fp32", 4 }, { "fp16", 2 },
		{ "bf16", 2 }, { "fp8", 1 }, { "int8", 1 }, { "fp4", 0.5 } };

	for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
		if (str_eq(precision, str_of(sizes[i].word)))
			return sizes[i].bytes;
	return NAN;
}

static bool
read_attention(
    struct attention *t, const struct model_result *r, struct str name)
{
	static const char *const flash[] = { "FlashAttnFunc",
		"flash_attn::_flash_attn_forward",
		"flash_attn::_flash_attn_backward" };

	*t = (struct attention){ .batch = number(r, "B"),
		.heads = number(r, "H_Q"),
		.n_q = number(r, "N_Q"),
		.n_kv = number(r, "N_KV"),
		.dim = number(r, "d_h_qk"),
		.bytes = r->bytes,
		.elem = bytes_of_precision(r->precision) };
	for (size_t i = 0; i < sizeof flash / sizeof *flash; i++)
		t->is_flash |= str_eq(name, str_of(flash[i]));
	return t->batch > 0 && t->heads > 0 && t->n_q > 0 && t->n_kv > 0 &&
	    t->dim > 0 && !isnan(t->bytes) && !isnan(t->elem);
}

/* The softmax of a block, bound by the units or by the memory. */
static double
softmax_us(const struct attention *t, const struct arch *a, double gbps)
{
	double units = isnan(a->gemm_units_per_cu) ? 4 : a->gemm_units_per_cu;
	double n = t->rows * t->columns;
	double compute = 3 * n / (units * 256) / a->freq_mhz;
	double memory =
	    2 * n * t->elem / ((t->is_flash ? a->l1_bw_gbps : gbps) * 1000);

	if (isnan(compute) || isnan(memory))
		return NAN;
	return compute > memory ? compute : memory;
}

/* One compute unit with its share, of the L1's bandwidth if that holds it. */
static struct share
share_of(const struct attention *t, const struct arch *a, double gbps)
{
	double all = t->is_flash ? a->l1_bw_gbps : gbps;

	return (struct share){ 1, round(all / a->num_cus) };
}

/*
 * Forward: Q K^T, softmax and P V of a block of rows with all keys. Backward:
 * of a block of keys with all rows, Q K^T and its gradients, once more computed
 * if blocks are held, and atomics of 400 ns and 40 ns on memory and on what a
 * group shares, for 64 elements each.
 */
static double
attention_time(struct sim *s, struct attention *t, const struct arch *a,
    double gbps, bool is_backward, struct str precision)
{
	struct share share = share_of(t, a, gbps);
	double waves, qk, pv, moved, softmax, lines;

	t->rows = t->is_flash && !is_backward && t->n_q > BLOCK_ROWS
	    ? BLOCK_ROWS
	    : t->n_q;
	t->columns = t->is_flash && is_backward && t->n_kv > BLOCK_ROWS
	    ? BLOCK_ROWS
	    : t->n_kv;
	waves =
	    is_backward ? ceil(t->n_kv / t->columns) : ceil(t->n_q / t->rows);
	waves = ceil(waves * t->batch * t->heads / a->num_cus);
	softmax = softmax_us(t, a, gbps);
	moved = t->bytes / (t->n_q * t->n_kv) * t->rows * t->columns /
	    (gbps * 1000);
	if (isnan(waves) || isnan(softmax) || isnan(moved) || isnan(share.gbps))
		return NAN;
	qk = gemm_us(s, t->rows, t->columns, t->dim, 1, precision, share);
	pv = gemm_us(s, t->rows, t->dim, t->columns, 1, precision, share);
	if (!is_backward)
		return waves * (qk + softmax + pv + moved);
	qk *= waves;
	pv *= waves;
	lines = ceil(t->dim / 64);
	return (t->is_flash ? qk + pv : 0) + qk + 3 * pv + waves * softmax +
	    (400 * waves * lines + 40 * waves * t->columns * lines) / 1000 +
	    moved * waves;
}

/* ---- one op ---- */

double
sim_time(struct sim *s, const struct roof_state *g,
    const struct model_result *r, struct str name, bool is_backward)
{
	const struct arch *a = g->arch;
	struct attention t;

	if (s == NULL || r->status != MODEL_OK || r->precision.len == 0)
		return NAN;
	if (r->model->is_gemm)
		return is_backward ? NAN : gemm_time(s, r);
	if (!str_eq(r->model->sheet, STR("SDPA")) || a == NULL ||
	    !read_attention(&t, r, name))
		return NAN;
	return attention_time(s, &t, a, arch_gbps(a, g->set->roof),
	    is_backward || is_backward_op(r->model, name), r->precision);
}

void
sim_finish(struct sim *s)
{
	int status;

	if (s == NULL)
		return;
	(void)fclose(s->to);
	(void)fclose(s->from);
	while (waitpid(s->pid, &status, 0) < 0 && errno == EINTR)
		;
	child_ended(s->pid);
	map_free(&s->known);
	free(s);
}
