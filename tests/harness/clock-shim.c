/*
 * Moves clocks of one process by the microseconds in the file SHIFT_FILE, which may change at any time: first the
 * wall clock, then the time since boot, each as eight bytes. The monotonic clock is left alone. Preloaded by
 * clock-shim.ts.
 *
 * The clock is read by system calls: looking up the real functions would allocate, which the server's own
 * allocator does not survive that early.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

struct shifts {
  int64_t wall_us;
  int64_t boot_us;
};

static volatile struct shifts none = {0, 0};
static volatile struct shifts *shifted = &none;

__attribute__((constructor)) static void map_shifts(void) {
  const char *path = getenv("SHIFT_FILE");
  int fd = path == NULL ? -1 : (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY, 0);
  if (fd < 0) return;
  void *mapped = mmap(NULL, sizeof(struct shifts), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shifted = mapped;
  close(fd);
}

static int64_t shifted_ns(clockid_t clock, int64_t by_us) {
  struct timespec now;
  syscall(SYS_clock_gettime, clock, &now);
  return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec + by_us * 1000;
}

static int64_t wall_ns(void) { return shifted_ns(CLOCK_REALTIME, shifted->wall_us); }

static int64_t boot_ns(void) { return shifted_ns(CLOCK_BOOTTIME, shifted->boot_us); }

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
  int64_t ns;
  if (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE) {
    ns = wall_ns();
  } else if (clock == CLOCK_BOOTTIME) {
    ns = boot_ns();
  } else {
    return (int)syscall(SYS_clock_gettime, clock, when);
  }
  when->tv_sec = ns / 1000000000;
  when->tv_nsec = ns % 1000000000;
  return 0;
}

/* Node reads the time since boot from a file: it gets another one. */
static int open_uptime(void) {
  int fd = (int)syscall(SYS_memfd_create, "uptime", 0);
  if (fd < 0) return fd;
  char text[64];
  int64_t ns = boot_ns();
  int length = snprintf(text, sizeof(text), "%lld.%02lld 0.00\n", (long long)(ns / 1000000000),
                        (long long)(ns / 10000000 % 100));
  if (write(fd, text, (size_t)length) != length || lseek(fd, 0, SEEK_SET) != 0) {
    close(fd);
    return -1;
  }
  return fd;
}

static int takes_mode(int flags) { return (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE; }

static int open_any(const char *path, int flags, mode_t mode) {
  if (shifted->boot_us != 0 && strcmp(path, "/proc/uptime") == 0) return open_uptime();
  return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_any(path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = takes_mode(flags) ? va_arg(rest, mode_t) : 0;
  va_end(rest);
  return open_any(path, flags | O_LARGEFILE, mode);
}
