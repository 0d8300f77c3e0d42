#include "server/rule_file_commands.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <optional>
#include <ostream>

#include "catalog/file_sets.h"
#include "rule/rule_file.h"
#include "rule/rule_writer.h"
#include "rule/rulebook.h"
#include "server/explain_output.h"
#include "server/request_text.h"
#include "server/rule_input.h"

namespace weir {
namespace {

using catalog::FileSet;
using catalog::RuleFile;

// Tells the problems of files that stand for themselves together, and what is doubtful. Empty
// unless all is well.
std::optional<std::vector<FileSet>> ReadSets(const std::vector<RuleFile>& files,
                                             std::ostream& err) {
  rule::Problems problems;
  rule::Problems doubts;
  std::vector<FileSet> sets = ReadFileSets(files, problems, &doubts);
  if (problems.empty()) {
    std::vector<rule::RuleSet> copies;
    copies.reserve(sets.size());
    for (const FileSet& file : sets) copies.push_back(file.set);
    rule::Rulebook::Compile(std::move(copies), problems);
  }
  for (const rule::Problem& problem : problems) err << problem.ToString() << "\n";
  for (const rule::Problem& doubt : doubts) err << "note: " << doubt.ToString() << "\n";
  if (!problems.empty()) return std::nullopt;
  return sets;
}

std::string CountOf(std::size_t rules) {
  return std::to_string(rules) + (rules == 1 ? " rule" : " rules");
}

ExitCode CheckPath(const std::string& path, Streams io) {
  std::vector<RuleFile> files;
  const bool readable = ReadInput(path, io.in, io.err, files);
  const std::optional<std::vector<FileSet>> sets = ReadSets(files, io.err);
  if (sets) {
    for (const FileSet& file : *sets) {
      io.out << file.file << ": " << CountOf(file.set.rules.size()) << " in namespace "
             << file.set.space << "\n";
    }
  }
  return !readable ? kUnreadable : sets ? kDone : kWrong;
}

}  // namespace

int CheckRuleFiles(const RuleFileOptions& options, Streams io) {
  // Each path stands for itself, as it would when the limiter is given it.
  ExitCode worst = kDone;
  for (const std::string& path : options.files) worst = std::max(worst, CheckPath(path, io));
  return worst;
}

int ExplainRuleFile(const RuleFileOptions& options, Streams io) {
  std::vector<RequestAttributes> requests;
  for (const std::string& text : options.requests) {
    Result<RequestAttributes> request = ParseRequest(text);
    if (!request) {
      io.err << "--request: " << request.error().message << "\n";
      return kUnreadable;
    }
    requests.push_back(std::move(*request));
  }
  std::vector<RuleFile> files;
  if (!ReadInput(options.files.front(), io.in, io.err, files)) return kUnreadable;
  const std::optional<std::vector<FileSet>> sets = ReadSets(files, io.err);
  if (!sets) return kWrong;
  const auto now = std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now());
  std::vector<ExplainedRequest> explained;
  for (const RequestAttributes& request : requests) {
    for (const FileSet& file : *sets) explained.push_back(ExplainRequest(file.set, request, now));
  }
  options.json ? PrintJson(explained, io.out) : PrintText(explained, io.out);
  return kDone;
}

int ConvertRuleFile(const RuleFileOptions& options, Streams io) {
  std::vector<RuleFile> files;
  if (!ReadInput(options.files.front(), io.in, io.err, files)) return kUnreadable;
  if (files.size() != 1) {
    io.err << options.files.front() << " is a directory; convert one file at a time\n";
    return kUnreadable;
  }
  const std::optional<std::vector<FileSet>> sets = ReadSets(files, io.err);
  if (!sets) return kWrong;
  const FileSet& file = sets->front();
  if (const auto wrong = rule::WhatIsWrongWithSpace(file.set.space, file.file)) {
    io.err << wrong->ToString() << "\n";
    return kWrong;
  }
  const std::string text = rule::WriteRules(file.set);
  if (options.to.empty()) {
    io.out << text;
    return kDone;
  }
  std::ofstream to(options.to, std::ios::binary);
  to << text;
  to.close();
  if (!to) {
    io.err << options.to << " cannot be written: " << std::strerror(errno) << "\n";
    return kUnreadable;
  }
  io.out << options.to << ": " << CountOf(file.set.rules.size()) << " in namespace "
         << file.set.space << "\n";
  return kDone;
}

}  // namespace weir
