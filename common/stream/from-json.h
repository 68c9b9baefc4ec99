/* SPDX-License-Identifier: MIT */
/* from-json: converts JSON values to the stream's. */
#ifndef TL_STREAM_FROM_JSON_H
#define TL_STREAM_FROM_JSON_H

#include "stream/shape.h"
#include "json/json.h"

struct value value_of_number(const struct json_num *num);
/* A text that is a number, exactly; others become a VAL_NUM unchanged. */
struct value value_of_digits(struct str s);

/*
 * The value whose first token was just read from a whole text; depth containers
 * are around it. Text is inline (STRX, JSONX), in j's text or *text, until that
 * changes. False: j has the error.
 */
bool value_of_json(struct json *j, enum json_token t, unsigned depth,
    struct buf *text, struct value *v) USE_RESULT;

/* The same if all of s is the value, followed by zeros or other JSON. */
bool value_of_text(struct json *j, struct str s, unsigned depth,
    struct buf *text, struct value *v) USE_RESULT;

#endif
