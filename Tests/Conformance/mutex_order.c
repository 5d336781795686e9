// Tells ThreadSanitizer about contended locks of Swift's Mutex. scripts/sanitize loads it before Swift's own library.
//
// The fast path of a Mutex is compiled into the program, with the sanitizer. The slow path is in libswiftSynchronization,
// and the kernel hands over the lock (FUTEX_LOCK_PI), which ThreadSanitizer does not see: without this file it takes the
// values of contended mutexes for races.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>

#define SWIFT __attribute__((swiftcall))
#define SELF __attribute__((swift_context))

// The functions of the sanitizer's runtime. Programs without it load this file, too.
__attribute__((weak)) void __tsan_acquire(void *);
__attribute__((weak)) void __tsan_release(void *);

typedef SWIFT void Lock(uint32_t, SELF void *);
typedef SWIFT bool TryLock(SELF void *);
typedef SWIFT void Unlock(SELF void *);

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF");
SWIFT bool tryLockSlow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF");
SWIFT void unlockSlow(SELF void *mutex) __asm__("$s15Synchronization12_MutexHandleV11_unlockSlowyyF");

SWIFT void lockSlow(uint32_t thread, SELF void *mutex) {
    ((Lock *)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"))(thread, mutex);
    if (__tsan_acquire) __tsan_acquire(mutex);
}

SWIFT bool tryLockSlow(SELF void *mutex) {
    bool locked = ((TryLock *)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"))(mutex);
    if (locked && __tsan_acquire) __tsan_acquire(mutex);
    return locked;
}

SWIFT void unlockSlow(SELF void *mutex) {
    if (__tsan_release) __tsan_release(mutex);
    ((Unlock *)dlsym(RTLD_NEXT, "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"))(mutex);
}
