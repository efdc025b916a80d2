/* Builds short texts in a caller's buffer. Always zero-terminated; what does not fit is cut off. */
#ifndef INTARSIA_BOARD_TEXT_H
#define INTARSIA_BOARD_TEXT_H

#include <stdint.h>

struct intarsia_text {
  char* start;
  int32_t length;
  int32_t capacity; /* including the terminating zero */
};

void intarsia_text_start(struct intarsia_text* text, char* buffer, int32_t capacity);
void intarsia_text_add(struct intarsia_text* text, const char* string);
void intarsia_text_add_number(struct intarsia_text* text, int32_t number);
void intarsia_text_add_hex(struct intarsia_text* text, uint32_t number);

#endif
