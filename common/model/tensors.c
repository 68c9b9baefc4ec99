/* SPDX-License-Identifier: MIT */
/* The tensors among an op's arguments, whichever its model reads. */
#include "model/priv.h"

#define BYTES_MAX 8796093022208.0 /* 8 TiB: more than any GPU has */

static void
add_tensors(const struct op_view *v, size_t i, const struct dtype *t,
    model_tensor_vec *tensors)
{
	const struct shapes *dims = &v->shapes[VIEW_DIMS];
	const struct shapes *strides = &v->shapes[VIEW_STRIDES];
	const struct view_arg *a = &dims->args.v[i], *steps = NULL;

	if (i < strides->args.n && strides->args.v[i].n == a->n)
		steps = &strides->args.v[i];
	for (uint32_t k = 0; k < a->n; k++) {
		const struct view_leaf *leaf = &dims->leaves.v[a->first + k];
		double bytes;

		if (leaf->n == 0 && t == NULL)
			continue; /* not a tensor, or None */
		bytes = view_addresses(v, leaf,
			    steps != NULL ? &strides->leaves.v[steps->first + k]
					  : NULL) *
		    (t != NULL ? t->bytes : (double)NAN);
		if (!(bytes < BYTES_MAX) && t != NULL)
			bytes = (double)INFINITY;
		vec_push(tensors,
		    ((struct model_tensor){
			bytes >= 0 ? bytes : (double)NAN, (uint32_t)i }));
	}
}

bool
model_tensors(
    struct models *ms, const struct model_op *op, model_tensor_vec *tensors)
{
	struct op_view v = { 0 };
	const struct texts *types = &v.texts[0];
	bool good;

	view_set(&v, op);
	good = view_need(&v, VIEW_DIMS) == NULL &&
	    view_need(&v, VIEW_TYPES) == NULL && v.absent == 0;
	if (good && view_need(&v, VIEW_STRIDES) != NULL)
		v.shapes[VIEW_STRIDES].args.n = 0;
	for (size_t i = 0; good && i < v.shapes[VIEW_DIMS].args.n; i++) {
		struct str type = { "", 0 };

		if (i < types->list.n && types->list.v[i].len > 0)
			type = (struct str){ types->bytes.p +
				    types->list.v[i].start,
				types->list.v[i].len };
		if (!str_eq(type, STR("Scalar")) &&
		    !str_eq(type, STR("ScalarList")))
			add_tensors(&v, i, dtype_find(ms, type), tensors);
	}
	view_free(&v);
	return good;
}
