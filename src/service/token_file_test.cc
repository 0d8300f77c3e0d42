#include "service/token_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "tests/temporary_file.h"

namespace weir {
namespace {

using std::chrono::seconds;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr std::chrono::sys_seconds kStart{seconds(1'769'860'800)};

class TokenFileTest : public testing::Test {
 protected:
  // Adds a token, as `weir token create` does, and returns it.
  std::string Add(const std::string& name, Role role,
                  std::optional<std::chrono::sys_seconds> expires = std::nullopt) {
    std::string token = MakeToken();
    const auto problem = EditTokens(path_, [&](std::vector<TokenEntry>& tokens) {
      tokens.push_back({DigestOfToken(token), role, name, kStart, expires});
      return std::nullopt;
    });
    EXPECT_FALSE(problem) << problem->message;
    return token;
  }
  void Remove(const std::string& name) {
    EditTokens(path_, [&](std::vector<TokenEntry>& tokens) {
      std::erase_if(tokens, [&](const TokenEntry& token) { return token.name == name; });
      return std::nullopt;
    });
  }
  void Open() {
    auto file =
        TokenFile::Open({.path = path_,
                         .now = [this] { return now_; },
                         .tell = [this](const std::string& what) { told_.push_back(what); }});
    ASSERT_TRUE(file) << file.error().message;
    file_ = std::move(*file);
  }
  [[nodiscard]] Role RoleOf(const std::string& token) const { return file_->Identify(token).role; }

  TemporaryFile folder_;
  std::string path_ = folder_.path();
  std::chrono::sys_seconds now_ = kStart;
  std::vector<std::string> told_;
  std::unique_ptr<TokenFile> file_;
};

TEST_F(TokenFileTest, KnowsTheTokensOfTheFileAndNoOthers) {
  const std::string ann = Add("ann", Role::kAdmin);
  const std::string bob = Add("bob", Role::kViewer);
  Open();
  EXPECT_EQ(file_->Identify(ann).name, "ann");
  EXPECT_EQ(RoleOf(ann), Role::kAdmin);
  EXPECT_EQ(file_->Identify(bob).name, "bob");
  EXPECT_EQ(RoleOf(bob), Role::kViewer);
  for (const std::string& other :
       {std::string(), ann + "x", ann.substr(0, ann.size() - 1), bob.substr(5), MakeToken(),
        DigestOfToken(ann), std::string(1'000'000, 'x')}) {
    EXPECT_EQ(RoleOf(other), Role::kNone) << other.substr(0, 100);
  }
}

TEST_F(TokenFileTest, KeepsNoTokenAndIsReadByItsOwnerOnly) {
  const std::string token = Add("ann", Role::kAdmin);
  std::ifstream file(path_);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_THAT(text, testing::Not(HasSubstr(token.substr(5))));
  struct stat facts {};
  ASSERT_EQ(stat(path_.c_str(), &facts), 0);
  EXPECT_EQ(facts.st_mode & 0777, 0600);
}

TEST_F(TokenFileTest, WithoutAFileNobodyIsKnown) {
  Open();
  EXPECT_EQ(RoleOf(MakeToken()), Role::kNone);
}

TEST_F(TokenFileTest, ATokenIsWorthNothingFromItsExpiryOn) {
  const std::string token = Add("ann", Role::kEditor, kStart + seconds(60));
  Open();
  now_ = kStart + seconds(59);
  EXPECT_EQ(RoleOf(token), Role::kEditor);
  now_ = kStart + seconds(60);
  EXPECT_EQ(RoleOf(token), Role::kNone);
}

TEST_F(TokenFileTest, ANewTokenIsGoodAtOnceAndARevokedOneIsRefusedWithinASecond) {
  Open();
  const std::string token = Add("ann", Role::kEditor);
  EXPECT_EQ(RoleOf(token), Role::kEditor);
  Remove("ann");
  EXPECT_EQ(RoleOf(token), Role::kEditor);
  now_ += seconds(1);
  EXPECT_EQ(RoleOf(token), Role::kNone);
}

TEST_F(TokenFileTest, AClockThatWasSetBackDoesNotKeepARevokedTokenAlive) {
  const std::string token = Add("ann", Role::kEditor);
  Open();
  Remove("ann");
  now_ -= std::chrono::hours(24);
  EXPECT_EQ(RoleOf(token), Role::kNone);
}

TEST_F(TokenFileTest, ABrokenFileKeepsTheLastGoodOneAndIsToldOnce) {
  const std::string token = Add("ann", Role::kEditor);
  Open();
  std::ofstream(path_) << "nonsense\n";
  for (int i = 0; i < 3; ++i) {
    now_ += seconds(1);
    EXPECT_EQ(RoleOf(token), Role::kEditor);
  }
  EXPECT_THAT(told_, ElementsAre(HasSubstr(path_ + ":1: expected digest, role")));
  std::ofstream(path_) << "# mended: nobody\n";
  now_ += seconds(1);
  EXPECT_EQ(RoleOf(token), Role::kNone);
  EXPECT_EQ(told_.size(), 1);
}

TEST_F(TokenFileTest, AFileThatIsGoneHasNoTokens) {
  const std::string token = Add("ann", Role::kEditor);
  Open();
  std::filesystem::remove(path_);
  now_ += seconds(1);
  EXPECT_EQ(RoleOf(token), Role::kNone);
  EXPECT_THAT(told_, IsEmpty());
}

TEST_F(TokenFileTest, IsNotOpenedIfItMakesNoSenseOrOthersMayWriteIt) {
  std::ofstream(path_) << "nonsense\n";
  EXPECT_THAT(TokenFile::Open({.path = path_}).error().message, HasSubstr(":1: expected"));
  std::ofstream(path_) << "# nobody\n";
  chmod(path_.c_str(), 0620);
  EXPECT_THAT(TokenFile::Open({.path = path_}).error().message, HasSubstr("chmod 600 " + path_));
  chmod(path_.c_str(), 0644);
  EXPECT_TRUE(TokenFile::Open({.path = path_}));
  EXPECT_THAT(TokenFile::Open({.path = folder_.folder().string()}).error().message,
              HasSubstr("cannot read"));
}

TEST_F(TokenFileTest, AnEditThatIsRefusedChangesNothing) {
  Add("ann", Role::kEditor);
  const auto refused = EditTokens(path_, [](std::vector<TokenEntry>& tokens) {
    tokens.clear();
    return Error{"no"};
  });
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->message, "no");
  EXPECT_EQ(LoadTokens(path_)->size(), 1);
}

TEST_F(TokenFileTest, ALinkStaysALink) {
  const std::string link = path_ + ".link";
  Add("ann", Role::kEditor);
  std::filesystem::create_symlink(path_, link);
  EditTokens(link, [](std::vector<TokenEntry>& tokens) {
    tokens.clear();
    return std::nullopt;
  });
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(LoadTokens(path_)->size(), 0);
}

using TokenFileConcurrentTest = TokenFileTest;

TEST_F(TokenFileConcurrentTest, NobodysEditIsLostAndReadersSeeWholeFiles) {
  const std::string first = Add("first", Role::kAdmin);
  Open();
  std::vector<std::thread> editors;
  for (int i = 0; i < 4; ++i) {
    editors.emplace_back([this, i] {
      for (int j = 0; j < 5; ++j) {
        Add(std::to_string(i) + "." + std::to_string(j), Role::kViewer);
      }
    });
  }
  for (int i = 0; i < 200; ++i) {
    const auto tokens = LoadTokens(path_);
    ASSERT_TRUE(tokens) << tokens.error().message;
    EXPECT_EQ(RoleOf(first), Role::kAdmin);
  }
  for (std::thread& editor : editors) editor.join();
  EXPECT_EQ(LoadTokens(path_)->size(), 21);
}

}  // namespace
}  // namespace weir
