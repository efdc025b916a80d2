#include "recording.h"

#include <string.h>

#include "fixed_log2.h"
#include "semihosting.h"

static struct {
  int32_t noisy_file;
  int32_t voice_file;
  int32_t frames;
  int16_t last[NOISE_FILTER_HOP];
  int16_t before[NOISE_FILTER_HOP];
  uint64_t voice; /* energies: of the voice alone, and of what differs from it */
  uint64_t difference_before;
  uint64_t difference_after;
} recording;

static int32_t open(const char* folder, const char* name) {
  char path[60] = "";
  strcat(strcat(path, folder), name);
  const int32_t file = host_open(path);
  if (file < 0) stop(path, file);
  return file;
}

/* A whole frame, or 0 at the end. */
static int read_frame(int32_t file, int16_t frame[NOISE_FILTER_HOP]) {
  const int32_t bytes = host_read(file, frame, NOISE_FILTER_HOP * (int32_t)sizeof *frame);
  if (bytes < 0) stop("reading", bytes);
  return bytes == NOISE_FILTER_HOP * (int32_t)sizeof *frame;
}

void recording_open(const char* folder) {
  memset(&recording, 0, sizeof recording);
  recording.noisy_file = open(folder, "noisy.pcm");
  recording.voice_file = open(folder, "voice.pcm");
}

int recording_next(int16_t noisy[NOISE_FILTER_HOP]) {
  memcpy(recording.before, recording.last, sizeof recording.before);
  if (!read_frame(recording.noisy_file, noisy)) return 0;
  memcpy(recording.last, noisy, sizeof recording.last);
  ++recording.frames;
  return 1;
}

void recording_compare(const int16_t cleaned[NOISE_FILTER_HOP]) {
  int16_t voice[NOISE_FILTER_HOP];
  if (recording.frames < 2) return;
  if (!read_frame(recording.voice_file, voice)) stop("voice.pcm ended early", 0);
  for (int32_t i = 0; i < NOISE_FILTER_HOP; ++i) {
    const int32_t noise = recording.before[i] - voice[i];
    const int32_t left = cleaned[i] - voice[i];
    recording.voice += (uint64_t)((int64_t)voice[i] * voice[i]);
    recording.difference_before += (uint64_t)((int64_t)noise * noise);
    recording.difference_after += (uint64_t)((int64_t)left * left);
  }
}

int32_t recording_frames(void) {
  return recording.frames;
}

static void print_decibel(const char* before, int32_t hundredths) {
  print(before);
  print_hundredths(hundredths);
  print(" dB");
}

void recording_report(void) {
  const int32_t first = fixed_centibel(recording.voice, recording.difference_before);
  const int32_t last = fixed_centibel(recording.voice, recording.difference_after);
  print_decibel("signal to noise ", first);
  print_decibel(" before, ", last);
  print_decibel(" after: ", last - first);
  print(" less noise\n");
}
