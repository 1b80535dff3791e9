/*
 * A PKCS#11 library (2.40) in front of SoftHSM that takes the time of a device and none of this machine's processors:
 * DEVICE_RATE signatures a second, one after the other, and DEVICE_TRANSIT microseconds on the way. It is asked for one
 * digest only, so SoftHSM signs once for each key, and the same signature is the answer from then on.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef unsigned long CK;
typedef CK (*Function)();
enum { GET_FUNCTION_LIST = 3, SIGN_INIT = 42, SIGN = 43, FUNCTIONS = 68, SESSIONS = 4096, KEYS = 16, LONGEST = 1024 };
typedef struct { unsigned char version[2]; Function functions[FUNCTIONS]; } List;
typedef struct { CK key, length; unsigned char bytes[LONGEST]; } Signature;

static List *real, mine;
static void *mechanisms[SESSIONS][3]; /* CK_MECHANISM of each session's C_SignInit */
static CK keys[SESSIONS];
static Signature made[KEYS];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long long next;

static long long setting(const char *name) { return atoll(getenv(name) ? getenv(name) : "0"); }

static long long now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static CK sign_init(CK session, void *mechanism, CK key) {
  memcpy(mechanisms[session % SESSIONS], mechanism, sizeof mechanisms[0]);
  keys[session % SESSIONS] = key;
  return 0;
}

static CK answer(CK session, void *data, CK size, void *signature, CK *length) {
  CK key = keys[session % SESSIONS];
  Signature *known = made;
  while (known->key != 0 && known->key != key) known++;
  if (known->key == 0) {
    CK failure = real->functions[SIGN_INIT](session, mechanisms[session % SESSIONS], key);
    known->length = LONGEST;
    if (failure == 0) failure = real->functions[SIGN](session, data, size, known->bytes, &known->length);
    if (failure != 0) return failure;
    known->key = key;
  }
  memcpy(signature, known->bytes, known->length);
  *length = known->length;
  return 0;
}

static CK sign(CK session, void *data, CK size, void *signature, CK *length) {
  pthread_mutex_lock(&lock);
  CK failure = answer(session, data, size, signature, length);
  long long started = now();
  next = (next > started ? next : started) + 1000000000LL / setting("DEVICE_RATE");
  long long ready = next + setting("DEVICE_TRANSIT") * 1000;
  pthread_mutex_unlock(&lock);
  struct timespec until = { ready / 1000000000LL, ready % 1000000000LL };
  clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
  return failure;
}

CK C_GetFunctionList(void **list) {
  void *library = dlopen(getenv("DEVICE_LIBRARY"), RTLD_NOW);
  if (library == NULL) return 5; /* CKR_GENERAL_ERROR */
  CK failure = ((Function)dlsym(library, "C_GetFunctionList"))((void **)&real);
  if (failure != 0) return failure;
  mine = *real;
  mine.functions[SIGN_INIT] = sign_init;
  mine.functions[SIGN] = sign;
  *list = &mine;
  return 0;
}
