/*
 * Moves the wall clock of one process by the microseconds in the file SHIFT_FILE, which may change at any
 * time. The monotonic clock is left alone. Preloaded into a server by clock-shift.ts.
 *
 * The clock is read by system calls: looking up the real functions would allocate, which the server's own
 * allocator does not survive that early.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t none = 0;
static volatile int64_t *shift_us = &none;

__attribute__((constructor)) static void map_shift(void) {
  const char *path = getenv("SHIFT_FILE");
  int fd = path == NULL ? -1 : open(path, O_RDONLY);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shift_us = mapped;
  close(fd);
}

static int64_t wall_ns(void) {
  struct timespec now;
  syscall(SYS_clock_gettime, CLOCK_REALTIME, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + *shift_us * 1000;
}

int gettimeofday(struct timeval *restrict when, void *restrict zone) {
  (void)zone;
  int64_t ns = wall_ns();
  when->tv_sec = ns / 1000000000;
  when->tv_usec = ns / 1000 % 1000000;
  return 0;
}

time_t time(time_t *when) {
  time_t now = wall_ns() / 1000000000;
  if (when != NULL) *when = now;
  return now;
}

int clock_gettime(clockid_t clock, struct timespec *when) {
  if (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE) {
    return (int)syscall(SYS_clock_gettime, clock, when);
  }
  int64_t ns = wall_ns();
  when->tv_sec = ns / 1000000000;
  when->tv_nsec = ns % 1000000000;
  return 0;
}
