/* Preloaded into a process, shifts its wall clock by the seconds in the file that SHIFTED_CLOCK names (a 64-bit integer).
   Monotonic clocks stay as they are. Built by the tests where there is a C compiler. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *shift_secs;

__attribute__((constructor)) static void find_shift(void) {
  const char *file = getenv("SHIFTED_CLOCK");
  int fd = file ? open(file, O_RDONLY) : -1;
  if (fd < 0) return;
  void *mapped = mmap(0, sizeof(int64_t), PROT_READ, MAP_SHARED, fd, 0);
  if (mapped != MAP_FAILED) shift_secs = mapped;
  close(fd);
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int failed = syscall(SYS_clock_gettime, clock, time);
  if (!failed && shift_secs && (clock == CLOCK_REALTIME || clock == CLOCK_REALTIME_COARSE)) time->tv_sec += *shift_secs;
  return failed;
}

int gettimeofday(struct timeval *time, void *zone) {
  struct timespec precise;
  (void)zone;
  if (clock_gettime(CLOCK_REALTIME, &precise)) return -1;
  time->tv_sec = precise.tv_sec;
  time->tv_usec = precise.tv_nsec / 1000;
  return 0;
}
