// Reads the folders of rule files that the tests go through.
#pragma once

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace weir::rule {

struct CorpusFile {
  std::string name;
  std::string text;
};

// The *.yaml of a folder of tests/, ordered by name.
inline std::vector<CorpusFile> ReadCorpus(const std::string& folder) {
  std::vector<CorpusFile> files;
  const std::filesystem::path path = std::filesystem::path(WEIR_SOURCE_DIR) / "tests" / folder;
  for (const auto& entry : std::filesystem::directory_iterator(path)) {
    if (entry.path().extension() != ".yaml") continue;
    std::ostringstream text;
    text << std::ifstream(entry.path(), std::ios::binary).rdbuf();
    files.push_back({entry.path().filename().string(), text.str()});
  }
  std::sort(files.begin(), files.end(),
            [](const CorpusFile& a, const CorpusFile& b) { return a.name < b.name; });
  return files;
}

}  // namespace weir::rule
