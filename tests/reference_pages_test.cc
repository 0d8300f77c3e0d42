// What the program says about itself: completion by the shells themselves, the manual page through
// man, and the page of the configuration as it is in docs/.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "server/log.h"
#include "server/program.h"
#include "tests/shell.h"
#include "tests/temporary_file.h"

namespace weir {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

class ReferencePagesTest : public ::testing::Test {
 protected:
  static std::string Say(const std::vector<std::string>& words) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream err;
    EXPECT_EQ(RunProgram(words, "1.2.3", {in, out, err}), 0) << err.str();
    return out.str();
  }
  // A file with what `weir` says to these words.
  std::string File(const std::string& name, const std::vector<std::string>& words) {
    const std::string path = (folder_.folder() / name).string();
    std::ofstream(path) << Say(words);
    return path;
  }
  // What bash offers when the line so far is `words`, the last of them begun.
  std::string Bash(const std::string& words) {
    const std::string script = File("weir.bash", {"completion", "bash"});
    return Shell("bash -c '. " + script + "; COMP_WORDS=(" + words +
                 "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _weir; echo ${COMPREPLY[*]}'");
  }
  std::string Fish(const std::string& line) {
    const std::string script = File("weir.fish", {"completion", "fish"});
    return Shell("cd " + folder_.folder().string() + " && HOME=. fish --no-config -c 'source " +
                 script + "; complete -C \"" + line + "\"'");
  }

  static std::string Doc(const std::string& name) {
    std::ifstream file(WEIR_SOURCE_DIR "/docs/" + name);
    std::stringstream page;
    page << file.rdbuf();
    return page.str();
  }

  TemporaryFile folder_;
};

TEST_F(ReferencePagesTest, BashCompletesCommandsAndOptionsWhereTheyAre) {
  EXPECT_EQ(Bash("weir ser"), "serve\n");
  EXPECT_EQ(Bash("weir rules exp"), "explain export\n");
  EXPECT_EQ(Bash("weir serve --max-k"), "--max-keys\n");
  EXPECT_EQ(Bash("weir rules --max-k"), "\n") << "an option of another command";
  EXPECT_EQ(Bash("weir serve --threads 2 --log-f"), "--log-format\n");
  EXPECT_EQ(Bash("weir serve --rules ser"), "\n") << "a file is due";
  EXPECT_EQ(Bash("weir trace rules --he"), "--help\n") << "a file may be called as a command is";
}

TEST_F(ReferencePagesTest, FishCompletesTheSameAndSaysWhatItMeans) {
  EXPECT_EQ(Fish("weir dem"), "demo\tShows a client that asks too often\n");
  EXPECT_THAT(Fish("weir serve --max-k"), "--max-keys\tKeys to have room for\n");
  EXPECT_THAT(Fish("weir rules exp"), AllOf(HasSubstr("explain\t"), HasSubstr("export\t")));
  EXPECT_EQ(Fish("weir rules --max-k"), "");
}

TEST_F(ReferencePagesTest, TheScriptsOfAllShellsAreOnes) {
  for (const std::string shell : {"bash", "zsh", "fish"}) {
    EXPECT_EQ(Shell(shell + " -n " + File("weir." + shell, {"completion", shell})), "");
  }
  std::istringstream in;
  std::ostringstream out;
  std::ostringstream err;
  EXPECT_EQ(RunProgram({"completion", "tcsh"}, "1", {in, out, err}), 2);
  EXPECT_EQ(err.str(), "weir completion: there is bash, zsh and fish, got 'tcsh'\n");
}

TEST_F(ReferencePagesTest, TheManualPageIsShownWithoutAWarning) {
  const std::string page = File("weir.1", {"man"});
  EXPECT_EQ(Shell("MANROFFOPT='' man --warnings --encoding=UTF-8 --local-file -Tutf8 " + page +
                  " >/dev/null"),
            "");
  const std::string shown = Shell("MANWIDTH=100 man --local-file -Tascii " + page + " | col -b");
  EXPECT_THAT(shown, HasSubstr("weir rules history NAMESPACE"));
  EXPECT_THAT(shown, HasSubstr("--max-keys UINT"));
  EXPECT_THAT(shown, HasSubstr("or 'memory'"));
  EXPECT_THAT(shown, HasSubstr("weir 1.2.3"));
}

TEST_F(ReferencePagesTest, ThePageOfTheConfigurationIsUpToDate) {
  const std::string page = Doc("configuration.md");
  EXPECT_TRUE(page == Say({"man", "--configuration"}))
      << "docs/configuration.md is not what the options say: run `make configuration-page`";
  EXPECT_THAT(page, AllOf(StartsWith("# Configuration\n"), HasSubstr("| `max-keys` | "),
                          Not(HasSubstr("`print-config` |"))));
}

TEST_F(ReferencePagesTest, EveryEventOfTheLogIsOnThePageOfOperating) {
  const std::string page = Doc("operating.md");
  for (std::size_t i = 0; i < kEvents; ++i) {
    EXPECT_THAT(page, HasSubstr("`" + std::string(NameOf(static_cast<Event>(i))) + "`"));
  }
}

}  // namespace
}  // namespace weir
