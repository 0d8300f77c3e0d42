#include "tests/gateway.h"

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
#include <sstream>
#include <thread>

#include "base/descriptor.h"

namespace weir {
namespace {

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "gateways for the tests: " << what << "\n";
  std::exit(1);
}

std::string ReadFile(const std::filesystem::path& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

sockaddr_in Loopback(int port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(port));
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

bool TakesConnections(int port) {
  const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const sockaddr_in address = Loopback(port);
  return connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0;
}

}  // namespace

std::string PageBlock(const std::string& page, const std::string& first) {
  const std::string text = ReadFile(std::string(WEIR_SOURCE_DIR) + "/" + page);
  const std::size_t line = text.find("\n" + first + "\n");
  const std::size_t end = text.find("\n```", line == std::string::npos ? line : line + 1);
  if (end == std::string::npos) Fail(page + " has no code block that begins with '" + first + "'");
  return text.substr(line + 1, end - line);
}

std::string Adapted(std::string text,
                    const std::vector<std::pair<std::string, std::string>>& changes) {
  for (const auto& [from, to] : changes) {
    std::size_t at = text.find(from);
    if (at == std::string::npos) Fail("the page's configuration has no '" + from + "'");
    for (; at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

std::string ProgramNamed(const std::string& name) {
  const std::filesystem::path usual = "/usr/sbin/" + name;
  return std::filesystem::exists(usual) ? usual.string() : name;
}

int FreePort() {
  const Descriptor probe(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof address;
  if (bind(probe.get(), reinterpret_cast<sockaddr*>(&address), size) != 0 ||
      getsockname(probe.get(), reinterpret_cast<sockaddr*>(&address), &size) != 0) {
    Fail("no free port on 127.0.0.1");
  }
  return ntohs(address.sin_port);
}

Gateway::Gateway(const std::vector<std::string>& command, int port, std::filesystem::path log)
    : port_(port), log_(std::move(log)) {
  // Made before the fork: between it and exec nothing may allocate, threads are running.
  std::vector<char*> words;
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  const pid_t parent = getpid();
  child_ = fork();
  if (child_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    const int output = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    dup2(output, STDOUT_FILENO);
    dup2(output, STDERR_FILENO);
    if (getppid() == parent) execvp(words[0], words.data());
    _exit(127);
  }
  if (!WaitUntilItListens()) child_ = -1;
}

Gateway::~Gateway() {
  if (child_ <= 0) return;
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
}

std::string Gateway::log() const { return ReadFile(log_); }

bool Gateway::WaitUntilItListens() {
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < give_up) {
    if (waitpid(child_, nullptr, WNOHANG) == child_) return false;
    if (TakesConnections(port_)) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  kill(child_, SIGKILL);
  waitpid(child_, nullptr, 0);
  return false;
}

}  // namespace weir
