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
 * Nothing of it is run. An entry of the models gets all from the end of the
 * kernel before to the end of this one as a further argument,
 * "inductor_source", and looks for facts in it.
 */
#ifndef TL_ROOFLINE_INDUCTOR_H
#define TL_ROOFLINE_INDUCTOR_H

#include "base/base.h"

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
/* The source of a kernel; lives as long as in. False: it is unknown. */
bool inductor_source(
    const struct inductor *in, struct str kernel, struct str *source);

#endif
