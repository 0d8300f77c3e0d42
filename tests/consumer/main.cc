// A program of somebody else that limits something.
#include <weir/weir.h>

int main() {
  weir::Limiter limiter(weir::Quota::PerSecond(100).Burst(20));
  return limiter.Take() ? 0 : 1;
}
