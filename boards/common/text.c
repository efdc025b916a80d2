#include "text.h"

static void add_char(struct intarsia_text* text, char c) {
  if (text->length + 1 >= text->capacity) return;
  text->start[text->length++] = c;
  text->start[text->length] = '\0';
}

void intarsia_text_start(struct intarsia_text* text, char* buffer, int32_t capacity) {
  text->start = buffer;
  text->length = 0;
  text->capacity = capacity;
  buffer[0] = '\0';
}

void intarsia_text_add(struct intarsia_text* text, const char* string) {
  while (*string != '\0') add_char(text, *string++);
}

void intarsia_text_add_number(struct intarsia_text* text, int32_t number) {
  char digits[10];
  int32_t count = 0;
  uint32_t rest = number < 0 ? 0u - (uint32_t)number : (uint32_t)number;
  if (number < 0) add_char(text, '-');
  do {
    digits[count++] = (char)('0' + rest % 10u);
    rest /= 10u;
  } while (rest != 0u);
  while (count > 0) add_char(text, digits[--count]);
}

void intarsia_text_add_hex(struct intarsia_text* text, uint32_t number) {
  int32_t shift;
  intarsia_text_add(text, "0x");
  for (shift = 28; shift >= 0; shift -= 4) {
    add_char(text, "0123456789abcdef"[(number >> shift) & 0xFu]);
  }
}
