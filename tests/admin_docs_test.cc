// docs/admin.md says what is so: its table is that of the routes, and its examples run.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>
#include <string>

#include "frontend/admin_routes.h"
#include "tests/admin_harness.h"
#include "tests/shell.h"

namespace weir {
namespace {

std::string Page() {
  std::ostringstream page;
  page << std::ifstream(WEIR_SOURCE_DIR "/docs/admin.md").rdbuf();
  return page.str();
}

std::string_view NameOf(Role role) {
  static constexpr std::array<std::string_view, 4> kNames = {"none", "viewer", "editor", "admin"};
  return kNames[static_cast<std::size_t>(role)];
}

TEST(AdminPageTest, ListsEveryCallWithItsRoleAndNoOther) {
  const std::string page = Page();
  std::size_t at = page.find("| `GET /healthz`");
  for (const AdminRoute& route : AdminRoutes()) {
    const std::string row = "| `" + std::string(route.method) + " " + std::string(route.path) +
                            "` | " + std::string(NameOf(route.least)) + " | " +
                            std::string(route.summary) + " |\n";
    EXPECT_EQ(page.substr(at, row.size()), row);
    at += row.size();
  }
  EXPECT_EQ(page[at], '\n') << "there are more rows than calls";
}

TEST(AdminPageConcurrentTest, TheExamplesRunOneAfterTheOther) {
  AdminHarness server(AdminHarness::Kept::kDatabase,
                      "- {name: login, match: {path: /login}, by: [user], limit: 3/h}\n");
  std::string script = "set -e\nWEIR=http://" + server.address() + "\nTOKEN=editor\n";
  const std::string page = Page();
  constexpr std::string_view kOpen = "```sh\n";
  for (std::size_t at = page.find(kOpen); at != std::string::npos; at = page.find(kOpen, at)) {
    at += kOpen.size();
    script += page.substr(at, page.find("```", at) - at);
  }
  const TemporaryFile file;
  std::ofstream(file.path()) << script << "echo all of it\n";
  const std::string said = Shell("sh " + file.path() + " 2>&1");
  EXPECT_THAT(said, testing::EndsWith("all of it\n"));
  EXPECT_THAT(said, testing::HasSubstr("\"by\":\"rule\""));
  EXPECT_THAT(said, testing::HasSubstr("more for all"));
}

}  // namespace
}  // namespace weir
