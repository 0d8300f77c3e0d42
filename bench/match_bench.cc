// What it takes to find the rules that match a request, among 10, 1,000 and 10,000.
//
// The requests of a run are all different, and the sizes take turns in short runs. What counts is
// the ratio to 10 rules, of the fastest runs: whatever else the machine does only adds to the time.
#include <array>
#include <cstdlib>
#include <memory>
#include <random>

#include "bench/measure.h"
#include "rule/attribute.h"
#include "rule/match_index.h"

namespace weir::bench {
namespace {

using rule::Match;
using rule::PatternKind;

constexpr std::array<std::uint32_t, 3> kSizes = {10, 1000, 10'000};
constexpr std::uint32_t kIds = 20'000;  // even ones are of rules, odd ones of no rule
constexpr std::size_t kRequests = 4096;
constexpr double kMostTimes = 1.5;  // the time of the most rules, of that of the fewest

volatile std::uint64_t g_sink;  // so that no search is optimised away

// Texts of rules and of the values that match them: '#' is replaced by a number.
struct Shape {
  const char* pattern;
  const char* value;
};

enum class Target { kPromised, kNone };

// Rules with the shapes by turns.
struct Family {
  const char* name;
  const char* attribute;
  PatternKind kind;
  std::vector<Shape> shapes;
  Target target = Target::kPromised;
  bool with_method = false;  // besides, all ask for `method: POST`
};

const std::vector<Family>& Families() {
  static const std::vector<Shape> kGlobs = {
      {"/svc-#/**", "/svc-#/users/list"},         {"/api/*/item-#", "/api/users/item-#"},
      {"/a/**/item-#/x", "/a/b/c/item-#/x"},      {"/team-#/*/edit", "/team-#/page/edit"},
      {"*-suffix-#", "some-name-suffix-#"},       {"/b/*/item-#/*", "/b/users/item-#/edit"},
      {"**/last-#/?/**", "/any/where/last-#/x/y"}};
  using Kind = PatternKind;
  static const std::vector<Family> kFamilies = {
      {"exact", "path", Kind::kExact, {{"/svc-#/login", "/svc-#/login"}}},
      {"prefix", "path", Kind::kPrefix, {{"/svc-#/", "/svc-#/users/list"}}},
      {"prefix that ends in a digit", "path", Kind::kPrefix, {{"/v#x2", "/v#x2-users/list"}}},
      {"glob /svc-#/**", "path", Kind::kGlob, {kGlobs[0]}},
      {"glob /api/*/item-#", "path", Kind::kGlob, {kGlobs[1]}},
      {"glob /team-#/*/edit", "path", Kind::kGlob, {kGlobs[3]}},
      {"glob *.tenant-#.example.com",
       "host",
       Kind::kGlob,
       {{"*.tenant-#.example.com", "www.tenant-#.example.com"}}},
      {"glob of seven shapes", "path", Kind::kGlob, kGlobs},
      {"network", "ip", Kind::kCidr, {{"10.#.0/24", "10.#.7"}}, Target::kNone},
      {"regex with a beginning",
       "path",
       Kind::kRegex,
       {{"/svc-#/v[0-9]+/.*", "/svc-#/v2/users"}},
       Target::kNone},
      {"glob of seven shapes, and method", "path", Kind::kGlob, kGlobs, Target::kNone, true},
  };
  return kFamilies;
}

std::string Fill(const char* text, std::uint32_t id, PatternKind kind) {
  std::string filled = text;
  const bool dotted = kind == PatternKind::kCidr;
  const std::string number =
      dotted ? std::to_string(id / 256) + "." + std::to_string(id % 256) : std::to_string(id);
  return filled.replace(filled.find('#'), 1, number);
}

// Rules, their index, and requests that match one of them each, or none.
class Contest {
 public:
  Contest(const Family& family, std::uint32_t size, bool matching)
      : expected_(matching ? kRequests : 0) {
    std::mt19937 random(size);
    std::vector<std::uint32_t> ids;
    for (std::uint32_t id = 0; id < kIds; id += 2) ids.push_back(id);
    std::shuffle(ids.begin(), ids.end(), random);
    ids.resize(size);
    const auto shape = [&](std::size_t i) { return family.shapes[i % family.shapes.size()]; };
    for (std::size_t i = 0; i < size; ++i) {
      Match match;
      if (family.with_method) match.push_back({"method", {{PatternKind::kExact, "POST"}}, false});
      const std::string text = Fill(shape(i).pattern, ids[i], family.kind);
      match.push_back({family.attribute, {{family.kind, text}}, false});
      rules_.push_back(std::move(match));
    }
    std::vector<const Match*> pointers;
    for (const Match& rule : rules_) pointers.push_back(&rule);
    index_ = std::make_unique<rule::MatchIndex>(pointers, schema_);

    texts_.reserve(kRequests);  // the values look at them
    for (std::size_t i = 0; i < kRequests; ++i) {
      const std::size_t rule = random() % size;
      const std::uint32_t id = matching ? ids[rule] : ids[rule] + 1;
      texts_.push_back(Fill(shape(rule).value, id, family.kind));
      const std::array<rule::Attribute, 2> request = {
          {{family.attribute, texts_.back()}, {"method", "POST"}}};
      requests_.emplace_back(schema_, request);
    }
  }

  // Nanoseconds per request.
  double Run() {
    std::uint64_t count = 0;
    const auto start = std::chrono::steady_clock::now();
    for (const rule::Values& request : requests_) {
      found_.clear();
      index_->Find(request, found_);
      count += found_.size();
    }
    const double seconds = SecondsSince(start);
    g_sink = count;
    if (count != expected_) {
      std::fprintf(stderr, "found %lu rules instead of %lu\n", static_cast<unsigned long>(count),
                   static_cast<unsigned long>(expected_));
      std::abort();
    }
    return seconds * 1e9 / kRequests;
  }

 private:
  std::vector<Match> rules_;
  rule::Schema schema_;
  std::unique_ptr<rule::MatchIndex> index_;
  std::vector<std::string> texts_;
  std::vector<rule::Values> requests_;
  std::uint64_t expected_;
  std::vector<std::uint32_t> found_ = std::vector<std::uint32_t>(64);
};

// The worse ratio of requests that match and such that do not.
double Measure(const Family& family, int rounds) {
  double worst = 0;
  for (const bool matching : {true, false}) {
    std::vector<Contest> contests;
    contests.reserve(kSizes.size());
    for (const std::uint32_t size : kSizes) contests.emplace_back(family, size, matching);
    std::array<std::vector<double>, kSizes.size()> times;
    for (int round = -1; round < rounds; ++round) {
      for (std::size_t i = 0; i < contests.size(); ++i) {
        const double time = contests[i].Run();
        if (round >= 0) times[i].push_back(time);
      }
    }
    std::array<Spread, kSizes.size()> spreads;
    std::transform(times.begin(), times.end(), spreads.begin(), SpreadOf);
    std::printf("  %-34s %-5s", family.name, matching ? "one" : "none");
    for (const Spread& spread : spreads) std::printf(" %7.1f [%6.1f]", spread.median, spread.least);
    const double ratio = spreads.back().least / spreads.front().least;
    std::printf(" %7.2f [%5.2f]\n", spreads.back().median / spreads.front().median, ratio);
    worst = std::max(worst, ratio);
  }
  return worst;
}

int Main(int rounds) {
  std::printf(
      "Finding the rules that match a request, ns per request: median [least] of %d runs in turns, "
      "%zu requests each.\n\n  %-34s %-5s %16s %16s %16s %14s\n",
      rounds, kRequests, "rules", "match", "10", "1,000", "10,000", "10,000 / 10");
  std::vector<double> ratios;
  for (const Family& family : Families()) ratios.push_back(Measure(family, rounds));
  std::printf("\n  the time of 10,000 rules, of that of 10\n");
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    const Family& family = Families()[i];
    if (family.target == Target::kPromised) Report(family.name, ratios[i], kMostTimes, false);
  }
  return 0;
}

}  // namespace
}  // namespace weir::bench

// The number of runs may be given, for a quick look.
int main(int argc, char** argv) { return weir::bench::Main(argc > 1 ? std::atoi(argv[1]) : 201); }
