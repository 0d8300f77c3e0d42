#include "server/local_user.h"

#include <pwd.h>
#include <unistd.h>

#include <cstdlib>

namespace weir {

std::string LocalUser() {
  if (const char* user = std::getenv("USER"); user != nullptr && *user != '\0') return user;
  const passwd* entry = getpwuid(geteuid());
  return entry != nullptr ? entry->pw_name : std::to_string(geteuid());
}

}  // namespace weir
