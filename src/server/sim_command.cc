#include "server/sim_command.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <iomanip>
#include <ostream>
#include <sstream>
#include <string_view>

#include "server/json_output.h"
#include "server/text_table.h"
#include "sim/score_card.h"

namespace weir {
namespace {

using sim::Contestant;
using sim::Load;
using sim::Score;
using sim::Setting;

// One method in one setting, under each load that was asked for.
struct Line {
  std::string_view method;
  std::vector<Score> scores;

  template <typename Field>
  [[nodiscard]] double Most(Field Score::*field) const {
    double most = 0;
    for (const Score& score : scores) most = std::max(most, score.*field);
    return most;
  }
  [[nodiscard]] double LeastFair() const {
    double least = 1;
    for (const Score& score : scores) least = std::min(least, score.fairness);
    return least;
  }
};

std::string Fixed(double value, int digits) {
  std::ostringstream text;
  // Without the sign of a zero that was rounded.
  text << std::fixed << std::setprecision(digits) << (std::abs(value) < 1e-9 ? 0 : value);
  return text.str();
}

bool Has(const std::vector<std::string>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// Those of `names` that were chosen, in their order; all if none was.
std::vector<std::string> Chosen(const std::vector<std::string>& chosen,
                                std::vector<std::string> names) {
  std::erase_if(names,
                [&](const std::string& name) { return !chosen.empty() && !Has(chosen, name); });
  return names;
}

std::vector<std::string> SettingNames() {
  std::vector<std::string> names;
  for (const Setting& setting : sim::Settings()) names.emplace_back(setting.name);
  return names;
}
std::vector<std::string> LoadNames() {
  std::vector<std::string> names;
  for (const Load load : sim::Loads()) names.emplace_back(sim::NameOf(load));
  return names;
}
std::vector<std::string> MethodNames() {
  std::vector<std::string> names;
  for (const Contestant& contestant : sim::Contestants()) names.emplace_back(contestant.name);
  return names;
}
void PrintCard(const Setting& setting, const std::vector<std::string>& loads,
               const std::vector<Line>& lines, std::ostream& out) {
  out << setting.name << " (" << setting.hosts << " hosts, burst " << setting.quota.burst().count
      << ", " << std::chrono::floor<std::chrono::seconds>(setting.duration).count() << " s)\n";
  std::vector<TextRow> rows(1, TextRow{"WL1 % / E/B"});
  rows.front().insert(rows.front().end(), loads.begin(), loads.end());
  for (const char* column : {"records/s", "mean us", "p99 us", "Jain"}) {
    rows.front().emplace_back(column);
  }
  for (const Line& line : lines) {
    TextRow row{std::string(line.method)};
    for (const Score& score : line.scores) {
      row.push_back(Fixed(100 * score.error, 1) + " / " + Fixed(score.over_burst, 2));
    }
    row.push_back(Fixed(line.Most(&Score::records), 0));
    row.push_back(Fixed(line.Most(&Score::mean_delay), 1));
    row.push_back(Fixed(line.Most(&Score::p99_delay), 0));
    row.push_back(Fixed(line.LeastFair(), 2));
    rows.push_back(std::move(row));
  }
  PrintTable(rows, out);
  out << "\n" << std::flush;  // the next one takes its time
}

void WriteScore(const Setting& setting, std::string_view load, std::string_view method,
                const Score& score, JsonOutput& json) {
  json.Object([&] {
    json.Key("setting").Text(setting.name);
    json.Key("load").Text(load);
    json.Key("method").Text(method);
    json.Key("admitted").Decimal(score.admitted);
    json.Key("windowed_error").Decimal(score.error);
    json.Key("over_burst").Decimal(score.over_burst);
    json.Key("fairness").Decimal(score.fairness);
    json.Key("records_per_second").Decimal(score.records);
    json.Key("mean_delay_us").Decimal(score.mean_delay);
    json.Key("p99_delay_us").Decimal(score.p99_delay);
  });
}

}  // namespace

SimCommand::SimCommand(CLI::App& app)
    : command_(app.add_subcommand(
          "sim", "Scores the ways to enforce one limit on many hosts; docs/cluster.md")) {
  command_->add_option("--setting", settings_, "Hosts and limit; all by default")
      ->check(CLI::IsMember(SettingNames()));
  command_->add_option("--load", loads_, "What they are asked for; all by default")
      ->check(CLI::IsMember(LoadNames()));
  command_->add_option("--method", methods_, "Who competes; all by default")
      ->check(CLI::IsMember(MethodNames()));
  command_->add_option("--seed", seed_, "The same seed gives the same scores")
      ->capture_default_str();
  command_->add_flag("--json", json_, "One object for each setting, load and method");
}

bool SimCommand::is_asked() const { return command_->parsed(); }

int SimCommand::Run(Streams io) const {
  const std::vector<std::string> settings = Chosen(settings_, SettingNames());
  const std::vector<std::string> loads = Chosen(loads_, LoadNames());
  const std::vector<std::string> methods = Chosen(methods_, MethodNames());

  struct Run {
    const Setting* setting;
    std::vector<Line> lines;
  };
  std::vector<Run> runs;
  for (const Setting& setting : sim::Settings()) {
    if (!Has(settings, setting.name)) continue;
    Run run{&setting, {}};
    for (const Contestant& contestant : sim::Contestants()) {
      if (Has(methods, contestant.name)) run.lines.push_back({contestant.name, {}});
    }
    for (const Load load : sim::Loads()) {
      if (!Has(loads, sim::NameOf(load))) continue;
      const std::vector<sim::Arrival> arrivals = sim::ArrivalsOf(setting, load, seed_);
      for (Line& line : run.lines) {
        line.scores.push_back(sim::Compete(line.method, setting, arrivals, seed_));
      }
    }
    if (!json_) PrintCard(setting, loads, run.lines, io.out);
    runs.push_back(std::move(run));
  }
  if (!json_) return kDone;

  JsonOutput json(io.out);
  json.List(runs, [&](const Run& run) {
    for (const Line& line : run.lines) {
      for (std::size_t i = 0; i < line.scores.size(); ++i) {
        WriteScore(*run.setting, loads[i], line.method, line.scores[i], json);
      }
    }
  });
  return kDone;
}

}  // namespace weir
