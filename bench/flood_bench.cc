// A flood of keys that were never seen before, over the Redis protocol, against a server with room
// for a hundredth of them. Does its memory stay what it was given, and are those who are over their
// limit still refused? Fails if not; says how fast it was on the way.
//
//   build/bench/flood_bench build/weir [KEYS]
#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include "base/descriptor.h"
#include "bench/measure.h"
#include "net/endpoint.h"

namespace weir::bench {
namespace {

constexpr std::uint64_t kRoom = 1'000'000;
constexpr int kHonest = 100;
constexpr std::uint64_t kPipeline = 1000;
constexpr const char* kRules =
    "namespace: default\nrules: [{name: user, by: [user], limit: token_bucket 10/8760h}]\n";

[[noreturn]] void Fail(const std::string& why) {
  std::fprintf(stderr, "flood_bench: %s\n", why.c_str());
  std::exit(1);
}

// `weir serve` in a process of its own, with rules from a file that is gone afterwards.
class ServerProgram {
 public:
  explicit ServerProgram(const char* program) {
    std::string rules = "/tmp/weir-flood-XXXXXX.yaml";
    const Descriptor file(mkstemps(rules.data(), 5));
    if (write(file.get(), kRules, std::string_view(kRules).size()) < 0) Fail("cannot write rules");
    int ends[2];
    if (pipe(ends) != 0) Fail("no pipe");
    process_ = fork();
    if (process_ == 0) {
      dup2(ends[1], STDOUT_FILENO);
      const std::string room = std::to_string(kRoom);
      execl(program, program, "serve", "--http", "", "--grpc", "", "--admin", "", "--resp",
            "127.0.0.1:0", "--state", "memory", "--threads", "1", "--max-keys", room.c_str(),
            "--rules", rules.c_str(), nullptr);
      Fail("cannot start " + std::string(program));
    }
    close(ends[1]);
    said_ = Descriptor(ends[0]);
    const std::string banner = ReadLine();
    constexpr std::string_view kRedis = "Redis  on ";
    if (!banner.starts_with(kRedis)) Fail("the server did not start: " + banner);
    address_ = banner.substr(kRedis.size());
    unlink(rules.c_str());
  }
  ~ServerProgram() {
    kill(process_, SIGTERM);
    waitpid(process_, nullptr, 0);
  }
  ServerProgram(const ServerProgram&) = delete;
  ServerProgram& operator=(const ServerProgram&) = delete;

  [[nodiscard]] const std::string& address() const { return address_; }
  [[nodiscard]] std::uint64_t ResidentBytes() const {
    std::ifstream statm("/proc/" + std::to_string(process_) + "/statm");
    std::uint64_t size = 0;
    std::uint64_t resident = 0;
    statm >> size >> resident;
    return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  }

 private:
  std::string ReadLine() {
    std::string line;
    for (char c = 0; read(said_.get(), &c, 1) == 1 && c != '\n';) line += c;
    return line;
  }

  pid_t process_ = 0;
  Descriptor said_;
  std::string address_;
};

class Connection {
 public:
  explicit Connection(const std::string& address) {
    const net::SocketAddress to = *net::ToSocketAddress(net::Endpoint::Parse(address).value());
    socket_ = Descriptor(socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
    if (connect(socket_.get(), to.get(), to.size) != 0) Fail("cannot connect to " + address);
  }
  void Send(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t sent = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) Fail("the server has gone");
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  // Answers of so many lines in all.
  std::string_view Receive(std::uint64_t lines) {
    received_.clear();
    while (lines > 0) {
      const ssize_t got = recv(socket_.get(), block_.data(), block_.size(), 0);
      if (got <= 0) Fail("the server has gone");
      const std::string_view fresh(block_.data(), static_cast<std::size_t>(got));
      lines -= static_cast<std::uint64_t>(std::count(fresh.begin(), fresh.end(), '\n'));
      received_ += fresh;
    }
    return received_;
  }

 private:
  Descriptor socket_;
  std::string received_;
  std::array<char, 65536> block_;
};

constexpr std::uint64_t kAnswerLines = 9;  // of a check: *7, six numbers, a name with its length
constexpr std::string_view kAllowed = "*7\r\n:1\r\n";

void AppendCheck(std::string_view name, std::string_view user, std::string_view cost,
                 std::string& out) {
  const std::array<std::string_view, 6> words = {name, "default", "COST", cost, "user", user};
  out += "*6\r\n";
  for (const std::string_view word : words) {
    out += '$';
    out += std::to_string(word.size());
    out += "\r\n";
    out += word;
    out += "\r\n";
  }
}

bool Allows(Connection& connection, std::string_view name, const std::string& user,
            std::string_view cost) {
  std::string request;
  AppendCheck(name, user, cost, request);
  connection.Send(request);
  return connection.Receive(kAnswerLines).starts_with(kAllowed);
}

std::uint64_t CountAllowed(std::string_view answers) {
  std::uint64_t allowed = 0;
  for (std::size_t at = 0; (at = answers.find(kAllowed, at)) != std::string_view::npos; ++allowed) {
    at += kAllowed.size();
  }
  return allowed;
}

// The even ones have used up their limit, the odd ones all but one permit.
std::string NameOf(int honest) { return "honest-" + std::to_string(honest); }

// How many of the honest ones are treated as if they had used less than they have.
std::uint64_t CountForgotten(Connection& connection) {
  std::uint64_t forgotten = 0;
  for (int i = 0; i < kHonest; ++i) {
    if (Allows(connection, "WEIR.PEEK", NameOf(i), i % 2 == 0 ? "1" : "2")) ++forgotten;
  }
  return forgotten;
}

std::uint64_t TableBytes(Connection& connection) {
  connection.Send("INFO\r\n");
  const std::string info(connection.Receive(10));
  constexpr std::string_view kName = "used_memory:";
  const std::size_t at = info.find(kName);
  std::uint64_t bytes = 0;
  if (at != std::string::npos) {
    std::from_chars(info.data() + at + kName.size(), info.data() + info.size(), bytes);
  }
  return bytes;
}

int Main(const char* program, std::uint64_t keys) {
  const ServerProgram server(program);
  Connection honest(server.address());
  for (int i = 0; i < kHonest; ++i) {
    if (!Allows(honest, "WEIR.CHECK", NameOf(i), i % 2 == 0 ? "10" : "9")) Fail("not admitted");
  }
  const double mib = 1 << 20;
  const std::uint64_t most =
      server.ResidentBytes() + TableBytes(honest) + (std::uint64_t{16} << 20);
  std::printf("%lu keys into a server with room for %lu, which may take %.0f MiB\n",
              static_cast<unsigned long>(keys), static_cast<unsigned long>(kRoom),
              static_cast<double>(most) / mib);

  // While the server answers one of them, the next request is made for the other.
  Connection first(server.address());
  Connection second(server.address());
  Connection* now = &first;
  Connection* next = &second;
  std::uint64_t allowed = 0;
  std::uint64_t forgotten = 0;
  std::uint64_t highest = 0;
  std::uint64_t awaited = 0;
  std::string request;
  const auto start = std::chrono::steady_clock::now();
  for (std::uint64_t i = 0; i < keys; i += kPipeline) {
    request.clear();
    const std::uint64_t count = std::min(kPipeline, keys - i);
    for (std::uint64_t k = 0; k < count; ++k) {
      AppendCheck("WEIR.CHECK", "stranger-" + std::to_string(i + k), "1", request);
    }
    now->Send(request);
    if (awaited > 0) allowed += CountAllowed(next->Receive(awaited * kAnswerLines));
    awaited = count;
    std::swap(now, next);
    if (i / kPipeline % 500 == 0) {
      forgotten += CountForgotten(honest);
      highest = std::max(highest, server.ResidentBytes());
    }
  }
  allowed += CountAllowed(next->Receive(awaited * kAnswerLines));
  const double seconds = SecondsSince(start);
  forgotten += CountForgotten(honest);
  highest = std::max(highest, server.ResidentBytes());
  std::uint64_t over = 0;
  std::uint64_t denied = 0;
  for (int i = 1; i < kHonest; i += 2) {
    if (!Allows(honest, "WEIR.CHECK", NameOf(i), "1")) ++denied;
    if (Allows(honest, "WEIR.CHECK", NameOf(i), "1")) ++over;
  }
  std::printf("  %.0f s, %.2f M decisions/s, %lu allowed\n", seconds,
              static_cast<double>(keys) / seconds / 1e6, static_cast<unsigned long>(allowed));
  std::printf("  %.0f MiB resident at most\n", static_cast<double>(highest) / mib);
  std::printf("  honest clients: %lu times forgotten, %lu over their limit, %lu denied too early\n",
              static_cast<unsigned long>(forgotten), static_cast<unsigned long>(over),
              static_cast<unsigned long>(denied));
  return allowed == keys && highest <= most && forgotten + over + denied == 0 ? 0 : 1;
}

}  // namespace
}  // namespace weir::bench

int main(int argc, char** argv) {
  if (argc < 2) weir::bench::Fail("say where the program is: flood_bench build/weir [KEYS]");
  return weir::bench::Main(argv[1], argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 100'000'000);
}
