// The program's `operator new`, from mimalloc: a compilation asks for millions of small objects that live for a moment, which mimalloc
// finds memory for in less time than glibc's malloc. Its own `operator new` is C in most distributions and ends the program where
// memory is short; this one throws, so that main() says what is wrong.
#include <cstddef>
#include <new>

#include <mimalloc.h>

void* operator new(size_t bytes) {
  if (void* const object = mi_malloc(bytes)) return object;
  throw std::bad_alloc();
}

void* operator new[](size_t bytes) {
  return operator new(bytes);
}

void operator delete(void* object) noexcept {
  mi_free(object);
}

void operator delete(void* object, size_t) noexcept {
  mi_free(object);
}

void operator delete[](void* object) noexcept {
  mi_free(object);
}

void operator delete[](void* object, size_t) noexcept {
  mi_free(object);
}
