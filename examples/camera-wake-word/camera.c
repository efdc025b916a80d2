#include "camera.h"

/* Five pixels become two: in fifths, the first takes 2 2 1 0 0 of them and the second 0 0 1 2 2. */
enum { BLOCK = 5, WEIGHT_SUM = 25 };
static const uint8_t first_weight[BLOCK] = {2, 2, 1, 0, 0};

_Static_assert(CAMERA_CROP * 2 == CAMERA_SIDE * BLOCK, "the scale is two fifths");
_Static_assert(CAMERA_CROP <= CAMERA_HEIGHT && CAMERA_CROP <= CAMERA_WIDTH,
               "the square lies in the frame");

/* 256 times the brightness from 0 to 255, with the weights of ITU-R BT.601. The highest bits of a colour follow its
 * lowest, so that the greatest value is 255. */
static int32_t luma(uint16_t pixel) {
  const int32_t red = pixel >> 11;
  const int32_t green = pixel >> 5 & 63;
  const int32_t blue = pixel & 31;
  return 77 * (red << 3 | red >> 2) + 150 * (green << 2 | green >> 4) +
         29 * (blue << 3 | blue >> 2);
}

static int8_t quantise(int32_t sum, int32_t multiplier, int32_t zero_point) {
  int32_t q = (int32_t)(((int64_t)sum * multiplier + (1 << 23)) >> 24) + zero_point;
  if (q < -128) q = -128;
  if (q > 127) q = 127;
  return (int8_t)q;
}

void camera_to_input(const uint16_t* frame, int8_t* input, float scale, int32_t zero_point) {
  const int32_t multiplier = (int32_t)(16777216.0f / (255.0f * 256.0f * WEIGHT_SUM * scale) + 0.5f);
  const uint16_t* corner =
      frame + (CAMERA_HEIGHT - CAMERA_CROP) / 2 * CAMERA_WIDTH + (CAMERA_WIDTH - CAMERA_CROP) / 2;
  for (int32_t y = 0; y < CAMERA_SIDE; y += 2) {
    for (int32_t x = 0; x < CAMERA_SIDE; x += 2) {
      const uint16_t* block = corner + y / 2 * BLOCK * CAMERA_WIDTH + x / 2 * BLOCK;
      int32_t sum[2][2] = {{0, 0}, {0, 0}};
      for (int32_t row = 0; row < BLOCK; ++row) {
        int32_t pair[2] = {0, 0};
        for (int32_t column = 0; column < BLOCK; ++column) {
          const int32_t brightness = luma(block[row * CAMERA_WIDTH + column]);
          pair[0] += first_weight[column] * brightness;
          pair[1] += first_weight[BLOCK - 1 - column] * brightness;
        }
        for (int32_t i = 0; i < 2; ++i) {
          sum[0][i] += first_weight[row] * pair[i];
          sum[1][i] += first_weight[BLOCK - 1 - row] * pair[i];
        }
      }
      for (int32_t i = 0; i < 4; ++i) {
        input[(y + i / 2) * CAMERA_SIDE + x + i % 2] =
            quantise(sum[i / 2][i % 2], multiplier, zero_point);
      }
    }
  }
}
