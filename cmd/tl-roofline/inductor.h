/* SPDX-License-Identifier: MIT */
/*
 * inductor: what torch.compile's wrapper files say of its Triton kernels.
 *
 * A wrapper is Python that defines each kernel as a text:
 *
 *	# Original ATen: [aten.mul, aten.silu]
 *	triton_poi_fused_mul_silu_2 = async_compile.triton('...', '''
 *	    size_hints={'x': 32768, 'r0_': 2048},
 *	    triton_meta={'signature': {'in_out_ptr0': '*bf16', 'xnumel': 'i32'},
 *	''', device_str='cuda')
 *
 * Nothing of it is run: the texts are looked for. What an entry of the models
 * gets are further arguments, as texts:
 *
 *	inductor_ops		aten.mul, aten.silu
 *	inductor_sizes		x=32768 r0_=2048
 *	inductor_pointers	in_out_ptr0=*bf16
 */
#ifndef TL_ROOFLINE_INDUCTOR_H
#define TL_ROOFLINE_INDUCTOR_H

#include "base/base.h"

#define INDUCTOR_PREFIX "inductor_"

struct inductor;

struct inductor *inductor_create(void);
void inductor_free(struct inductor *in);
/*
 * All *.py below a folder, in the order of their paths; of two definitions of a
 * kernel the first counts. A folder that can't be read ends the program. The
 * number of kernels.
 */
size_t inductor_read(struct inductor *in, const char *dir);
/* The kernels of one file's text. */
void inductor_parse(struct inductor *in, struct str text);
/* A fact of a kernel by its key; lives as long as in. False: it is unknown. */
bool inductor_fact(const struct inductor *in, struct str kernel, struct str key,
    struct str *fact);

#endif
