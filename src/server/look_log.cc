#include "server/look_log.h"

#include <string>

namespace weir {
namespace {

// More of them are counted, not told: a line is to be read.
constexpr std::size_t kProblemsTold = 20;

std::string List(const rule::Problems& problems) {
  std::string text;
  for (std::size_t i = 0; i < problems.size() && i < kProblemsTold; ++i) {
    text += (i == 0 ? "" : " | ") + problems[i].ToString();
  }
  if (problems.size() > kProblemsTold) {
    text += " | and " + std::to_string(problems.size() - kProblemsTold) + " more";
  }
  return text;
}

}  // namespace

void LogLook(Log& log, const catalog::RetrieverStatus& before,
             const catalog::RetrieverStatus& after, Log::Time now) {
  if (after.looks <= 1) return;  // the start of the server says it
  const std::string& source = after.source;
  if (after.is_away && !before.is_away) {
    log.Write(Event::kSourceLost, "the last good rules stay in force: " + after.away,
              {{"source", source}, {"version", after.version}}, now);
  } else if (before.is_away && !after.is_away) {
    log.Write(Event::kSourceFound, "it can be read again",
              {{"source", source}, {"failed_looks", std::to_string(before.failures)}}, now);
  }
  if (after.published > before.published) {
    log.Write(Event::kRulesReplaced, "newer rules are in force",
              {{"source", source}, {"version", after.version}, {"before", before.version}}, now);
  }
  const bool is_news = !before.is_bad || before.bad_version != after.bad_version ||
                       before.problems != after.problems;
  if (after.is_bad && is_news) {
    log.Write(Event::kRulesRefused, "the last good rules stay in force: " + List(after.problems),
              {{"source", source},
               {"version", after.version},
               {"refused", after.bad_version},
               {"problems", std::to_string(after.problems.size())}},
              now);
  }
}

void LogLook(Log& log, const net::TlsStatus& before, const net::TlsStatus& after, Log::Time now) {
  if (after.exchanged > before.exchanged) {
    const auto left = std::chrono::floor<std::chrono::days>(after.not_after - now);
    log.Write(Event::kCertificateReplaced, "another certificate is in use",
              {{"days_left", std::to_string(left.count())}}, now);
  }
  if (!after.error.empty() && after.error != before.error) {
    log.Write(Event::kCertificateRefused, "the one before stays in use: " + after.error, {}, now);
  }
}

}  // namespace weir
