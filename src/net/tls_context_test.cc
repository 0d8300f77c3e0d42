#include "net/tls_context.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tls_files.h"

namespace weir::net {
namespace {

using std::chrono::days;
using testing::HasSubstr;
using testing::StartsWith;

class TlsContextTest : public testing::Test {
 protected:
  static std::string WhyNot(const TlsOptions& options) {
    const auto context = TlsContext::Open(options);
    return context.ok() ? "it was opened" : context.error().message;
  }
  TlsFilesOfTest files_;
};

TEST_F(TlsContextTest, SaysWhichFileIsWrongAndWhatWouldBeRight) {
  TlsOptions options = files_.options();
  options.certificate = files_.path("nowhere.crt");
  EXPECT_EQ(WhyNot(options), options.certificate + ": cannot be read: No such file or directory");
  options = files_.options();
  options.key = files_.path("");
  EXPECT_THAT(WhyNot(options), StartsWith(options.key + ": cannot be read: "));
  WriteFile(files_.path("empty"), "");
  options = files_.options();
  options.certificate = files_.path("empty");
  EXPECT_THAT(WhyNot(options), HasSubstr("it must hold -----BEGIN CERTIFICATE-----"));
  options = files_.options();
  options.key = files_.certificate();
  EXPECT_THAT(WhyNot(options), HasSubstr("it must hold -----BEGIN PRIVATE KEY-----"));
  options = files_.options();
  options.client_ca = files_.key();
  EXPECT_THAT(WhyNot(options), HasSubstr("server.key: there is no certificate in it"));
}

TEST_F(TlsContextTest, AKeyOfAnotherCertificateIsRefused) {
  WriteFile(files_.key(), files_.authority().IssueForServer().key);
  EXPECT_EQ(WhyNot(files_.options()), files_.key() + ": is not the key of " + files_.certificate() +
                                          "; the two must be made together");
}

TEST_F(TlsContextTest, HalfAFileIsDamaged) {
  const std::string whole = files_.authority().IssueForServer().certificate;
  WriteFile(files_.certificate(), whole.substr(0, whole.size() / 2));
  EXPECT_THAT(WhyNot(files_.options()), HasSubstr("server.crt: is damaged"));
}

TEST_F(TlsContextTest, ReloadTakesWhatHasChangedAndNothingElse) {
  const Result<std::unique_ptr<TlsContext>> context = TlsContext::Open(files_.options());
  ASSERT_TRUE(context.ok()) << context.error().message;
  const auto first = (*context)->settings();
  EXPECT_FALSE((*context)->Reload().has_value());
  EXPECT_EQ((*context)->settings(), first);
  EXPECT_EQ((*context)->status().exchanged, 0U);
  files_.Exchange("another");
  EXPECT_FALSE((*context)->Reload().has_value());
  EXPECT_NE((*context)->settings(), first);
  EXPECT_EQ((*context)->status().exchanged, 1U);
}

TEST_F(TlsContextTest, WhatCannotBeUsedLeavesTheOldInUseUntilItIsMended) {
  const Result<std::unique_ptr<TlsContext>> context = TlsContext::Open(files_.options());
  const auto first = (*context)->settings();
  const TestCertificate next = files_.authority().IssueForServer("next");
  // Between the two writes of whoever exchanges them, the files do not fit together.
  WriteFile(files_.certificate(), next.certificate);
  for (std::uint64_t look = 1; look <= 2; ++look) {
    const std::optional<Error> error = (*context)->Reload();
    ASSERT_TRUE(error.has_value());
    EXPECT_THAT(error->message, HasSubstr("is not the key of"));
    EXPECT_EQ((*context)->status().failures, look);
    EXPECT_EQ((*context)->status().error, error->message);
    EXPECT_EQ((*context)->settings(), first);
  }
  WriteFile(files_.key(), next.key);
  EXPECT_FALSE((*context)->Reload().has_value());
  EXPECT_NE((*context)->settings(), first);
  EXPECT_EQ((*context)->status().failures, 0U);
  EXPECT_EQ((*context)->status().error, "");
}

TEST_F(TlsContextTest, FilesThatAreGoneLeaveTheOldInUse) {
  const Result<std::unique_ptr<TlsContext>> context = TlsContext::Open(files_.options());
  std::filesystem::remove(files_.key());
  EXPECT_THAT((*context)->Reload()->message, HasSubstr("server.key: cannot be read"));
  EXPECT_NE((*context)->settings(), nullptr);
}

TEST_F(TlsContextTest, KnowsUntilWhenTheCertificateIsGoodAndDoubtsItInTime) {
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  const Result<std::unique_ptr<TlsContext>> context = TlsContext::Open(files_.options());
  const auto settings = (*context)->settings();
  const TlsSettings::Time end = settings->not_after();
  EXPECT_EQ((*context)->status().not_after, end);
  EXPECT_GT(end, now + days(29));
  EXPECT_LT(end, now + days(31));
  EXPECT_EQ(settings->Doubt(now), std::nullopt);
  EXPECT_EQ(settings->Doubt(end - days(7) - std::chrono::seconds(1)), std::nullopt);
  EXPECT_THAT(*settings->Doubt(end - days(7)), HasSubstr("expires soon"));
  EXPECT_THAT(*settings->Doubt(end), HasSubstr("has expired"));
  EXPECT_THAT(*settings->Doubt(settings->not_before() - std::chrono::seconds(1)),
              HasSubstr("is not good before"));
}

TEST_F(TlsContextTest, AnExpiredCertificateIsServedAllTheSame) {
  // Clients that check will say no; to have no server at all would help nobody.
  files_.Write(files_.authority().Issue({.days_from_now = -1}));
  const Result<std::unique_ptr<TlsContext>> context = TlsContext::Open(files_.options());
  ASSERT_TRUE(context.ok());
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  EXPECT_THAT(*(*context)->settings()->Doubt(now), HasSubstr("has expired"));
}

TEST_F(TlsContextTest, NamesThatMakeNoSenseAreRefused) {
  TlsOptions options = files_.options();
  options.client_ca = files_.ca();
  options.client_names = {"a.*"};
  EXPECT_THAT(WhyNot(options), HasSubstr("'a.*' is no name of a client"));
}

}  // namespace
}  // namespace weir::net
