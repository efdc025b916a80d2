/* From a frame of a camera to the network's input, in one pass and in integers: the square in the middle, its
 * brightness, scaled from 120x120 to 48x48, quantised. */
#ifndef CAMERA_H
#define CAMERA_H

#include <stdint.h>

enum { CAMERA_WIDTH = 160, CAMERA_HEIGHT = 120, CAMERA_CROP = 120, CAMERA_SIDE = 48 };

/* `frame`: RGB565, row by row. `input`: CAMERA_SIDE * CAMERA_SIDE bytes, where scale * (q - zero_point) is a brightness
 * from 0 to 1. */
void camera_to_input(const uint16_t* frame, int8_t* input, float scale, int32_t zero_point);

#endif
