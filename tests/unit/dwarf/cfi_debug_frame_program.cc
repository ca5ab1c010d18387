// Built without .eh_frame entries of its own and with -g: its call frame information is in
// .debug_frame alone.
#include <cstdlib>

namespace {

volatile int sink;

__attribute__((noinline)) int leaf(int x) { return x * 3 + sink; }
__attribute__((noinline)) int middle(int x) {
  int parts[16];
  for (int i = 0; i < 16; ++i) {
    parts[i] = leaf(x + i);
  }
  return parts[x & 15] + leaf(parts[0]);
}
__attribute__((noinline)) int compare(const void* a, const void* b) {
  return leaf(*static_cast<const int*>(a)) - leaf(*static_cast<const int*>(b));
}
__attribute__((noinline)) int with_alloca(int count) {
  auto* room = static_cast<int*>(__builtin_alloca(static_cast<unsigned>(count) * sizeof(int)));
  for (int i = 0; i < count; ++i) {
    room[i] = middle(i);
  }
  std::qsort(room, static_cast<std::size_t>(count), sizeof(int), compare);
  return room[0];
}
__attribute__((noinline)) int recurse(int depth) {
  return depth == 0 ? with_alloca(4) : recurse(depth - 1) + middle(depth);
}

}  // namespace

int main(int count, char**) {
  sink = recurse(count);
  return 0;
}
