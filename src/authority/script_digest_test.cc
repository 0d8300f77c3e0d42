#include "authority/script_digest.h"

#include <gtest/gtest.h>

namespace weir::authority {
namespace {

// As `printf 'return 1' | sha1sum` says, and `SCRIPT LOAD 'return 1'`.
TEST(ScriptDigestTest, IsWhatRedisCallsTheScript) {
  EXPECT_EQ(ScriptDigest("return 1"), "e0e1f9fabfc9d4800c877a703b823ac0578ff8db");
  EXPECT_EQ(ScriptDigest(""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
}

}  // namespace
}  // namespace weir::authority
