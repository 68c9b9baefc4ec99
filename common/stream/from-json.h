/* SPDX-License-Identifier: MIT */
/* from-json: values as JSON writes them to values as the stream holds them. */
#ifndef TL_STREAM_FROM_JSON_H
#define TL_STREAM_FROM_JSON_H

#include "stream/shape.h"
#include "json/json.h"

struct value value_of_number(const struct json_num *num);
/* A text that is a number, exactly; any other is a VAL_NUM as it is. */
struct value value_of_digits(struct str s);

/*
 * The value whose first token was just read from a whole text, around which are
 * depth containers more. Text is inline (STRX, JSONX) and lies in j's text or
 * in *text, until that changes. False: j says what is wrong.
 */
bool value_of_json(struct json *j, enum json_token t, unsigned depth,
    struct buf *text, struct value *v) USE_RESULT;

/* The same where all of s is the value, with zeros or other JSON behind. */
bool value_of_text(struct json *j, struct str s, unsigned depth,
    struct buf *text, struct value *v) USE_RESULT;

#endif
