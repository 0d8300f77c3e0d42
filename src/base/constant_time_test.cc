#include "base/constant_time.h"

#include <gtest/gtest.h>

namespace weir {
namespace {

TEST(ConstantTimeTest, OnlyTheWholeSecretIsTheSame) {
  EXPECT_TRUE(SameSecret("secret", "secret"));
  for (const char* said : {"", "s", "secre", "Secret", "secreT", "secretsecret", "secrets"}) {
    EXPECT_FALSE(SameSecret(said, "secret")) << said;
  }
}

}  // namespace
}  // namespace weir
