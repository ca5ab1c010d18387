// Names that break careless writers: `hostile_names [SECONDS]`. A template operator<< and a C
// function whose symbol holds quotes, an ampersand and a tag (the build renames it: an assembler
// does not take such a name).
#include "puppet.h"

extern "C" PUPPET_FUNCTION void hostile_c_function(double until);

namespace hostile {

volatile unsigned long sink;

template <typename T>
struct Box {
  T value;
};
template <template <typename> class Outer, typename T>
struct Nest {
  Outer<T> inside;
};
struct Stream {
  double until;
};

template <typename T>
PUPPET_FUNCTION Stream& operator<<(Stream& out, const T& value) {
  while (puppet_clock(CLOCK_MONOTONIC) < out.until) {
    for (int i = 0; i < 2000000; ++i) sink = sink + 1 + static_cast<unsigned long>(value.inside.value.value);
  }
  return out;
}

}  // namespace hostile

void hostile_c_function(double until) {
  while (puppet_clock(CLOCK_MONOTONIC) < until) {
    for (int i = 0; i < 2000000; ++i) hostile::sink = hostile::sink + 1;
  }
}

int main(int argc, char** argv) {
  const double end = puppet_deadline(argc, argv, 1);
  puppet_ready();
  hostile::Nest<hostile::Box, hostile::Box<int>> nest = {};
  while (puppet_clock(CLOCK_MONOTONIC) < end) {
    const double now = puppet_clock(CLOCK_MONOTONIC);
    hostile::Stream stream{now + 0.05};
    stream << nest;
    hostile_c_function(now + 0.1);
  }
  return 0;
}
