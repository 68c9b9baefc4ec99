/* SPDX-License-Identifier: MIT */
/*
 * pseudo: rules, in files of op models, that put ops into a tree, where one op
 * hides several steps that have models of their own. The tree is its owner's;
 * a rule looks at it and says what is to be done.
 *
 *	pseudo_start(ms, &forest);
 *	... pseudo_run(ms, pseudo_rules(ms, KIND_OP, name), event, act, arg) ...
 */
#ifndef TL_MODEL_PSEUDO_H
#define TL_MODEL_PSEUDO_H

#include "model/model.h"
#include "trace/forest.h"

struct tree_arg {
	struct str key;
	struct model_value val; /* a text, whole number or truth value */
};

/* What a rule wants; texts live until act() returns. */
enum tree_what {
	TREE_WRAP,          /* an op between the event and what is above */
	TREE_WRAP_CHILDREN, /* ... the event and what is below */
	TREE_WRAP_LAUNCH,   /* above the launch of a GPU event, of it alone */
	TREE_RENAME,
	TREE_SET, /* an argument of the event */
};
struct tree_action {
	enum tree_what what;
	uint32_t event;
	uint32_t from;          /* whose arguments the new op has ... */
	struct str name;        /* ... and its name */
	struct str dims, types; /* instead of those arguments, if set */
	const struct tree_arg *args;
	size_t nargs;
};
/* False: it can't be done here. */
typedef bool tree_act_fn(void *arg, const struct tree_action *a);

/* The rules for events of this kind and name, as bits; 0: none. */
uint64_t pseudo_rules(const struct models *ms, unsigned kind, struct str name);
/* Another tree. It is looked at until the next one. */
void pseudo_start(struct models *ms, struct forest *tree);
/* Runs rules on an event; what those that end well want goes to act(). */
void pseudo_run(struct models *ms, uint64_t rules, uint32_t event,
    tree_act_fn *act, void *arg);

struct pseudo_stats {
	uint64_t nfailed, nown_failed; /* own: of the user's rules */
	struct str reason;             /* of the first one */
};
struct pseudo_stats pseudo_stats(const struct models *ms);

#endif
