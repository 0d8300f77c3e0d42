#include "tests/redis_server.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <thread>
#include <utility>

#include "wire/resp_reply.h"
#include "wire/resp_value.h"

namespace weir {
namespace {

// Below 55536: a node of a cluster listens 10000 above its port, too.
std::uint16_t FreePort() {
  for (int tries = 0; tries < 100; ++tries) {
    const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    if (bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      break;
    }
    if (const std::uint16_t port = ntohs(address.sin_port); port < 55536) return port;
  }
  std::cerr << "Redis for the tests: no free port on 127.0.0.1\n";
  std::exit(1);
}

pid_t Launch(const std::vector<std::string>& words, const std::string& log) {
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(126);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execvp(arguments[0], arguments.data());
  _exit(127);
}

void Show(wire::RespValue value, std::string& out) {
  const auto add = [&out](std::string_view text) { (out += out.empty() ? "" : " ") += text; };
  if (value.is_list()) {
    for (const wire::RespValue part : value) Show(part, out);
  } else if (value.is(wire::RespKind::kInteger)) {
    add(std::to_string(value.integer()));
  } else if (value.is(wire::RespKind::kNull)) {
    add("(null)");
  } else {
    add(value.text());
  }
}

}  // namespace

std::string AskRedis(const net::Endpoint& endpoint, const std::vector<std::string>& words) {
  const net::SocketAddress to = *net::ToSocketAddress(endpoint);
  const Descriptor socket(::socket(to.storage.ss_family, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (connect(socket.get(), to.get(), to.size) != 0) return "";
  std::string command;
  {
    wire::RespWriter writer(command, wire::RespVersion::k2);
    writer.Array(words.size());
    for (const std::string& word : words) writer.Bulk(word);
  }
  if (send(socket.get(), command.data(), command.size(), MSG_NOSIGNAL) < 0) return "";
  wire::RespValueReader reader;
  std::string unread;
  for (;;) {
    char block[4096];
    const ssize_t got = recv(socket.get(), block, sizeof block, 0);
    if (got <= 0) return "";
    unread.append(block, static_cast<std::size_t>(got));
    const wire::RespAnswer answer = reader.Read(unread);
    if (answer.status == wire::RespValueStatus::kNeedMore) continue;
    std::string text;
    Show(answer.value, text);
    return text;
  }
}

RedisServer::RedisServer(std::vector<std::string> options) : options_(std::move(options)) {
  for (int tries = 0; tries < 5; ++tries) {  // somebody may take the port meanwhile
    port_ = FreePort();
    if (TryStart()) return;
  }
  std::cerr << "Redis for the tests: redis-server does not start; install the package "
               "redis-server. It said:\n"
            << std::ifstream(files_.folder() / "log").rdbuf() << "\n";
  std::exit(1);
}

RedisServer::~RedisServer() { Kill(); }

void RedisServer::Start() {
  if (is_running() || TryStart()) return;
  std::cerr << "Redis for the tests: it does not start again\n";
  std::exit(1);
}

bool RedisServer::TryStart() {
  const std::string configuration = (files_.folder() / "redis.conf").string();
  std::ofstream(configuration, std::ios::app).flush();  // a Sentinel writes down what it learns
  std::vector<std::string> words = {"redis-server", configuration,
                                    "--port",       std::to_string(port_),
                                    "--bind",       "127.0.0.1",
                                    "--dir",        files_.folder().string(),
                                    "--save",       "",
                                    "--appendonly", "no"};
  words.insert(words.end(), options_.begin(), options_.end());
  process_ = Launch(words, (files_.folder() / "log").string());
  for (int tries = 0; tries < 1000; ++tries) {
    if (!Ask({"PING"}).empty()) return true;
    if (waitpid(process_, nullptr, WNOHANG) == process_) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  process_ = -1;
  return false;
}

void RedisServer::Kill() {
  if (!is_running()) return;
  kill(process_, SIGKILL);
  waitpid(std::exchange(process_, -1), nullptr, 0);
}

void RedisServer::Pause() {
  kill(process_, SIGSTOP);
  waitpid(process_, nullptr, WUNTRACED);  // a signal takes its time
}

void RedisServer::Continue() { kill(process_, SIGCONT); }

std::string RedisServer::Ask(const std::vector<std::string>& words) {
  return AskRedis(endpoint(), words);
}

}  // namespace weir
