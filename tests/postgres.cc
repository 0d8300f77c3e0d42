#include "tests/postgres.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <thread>
#include <vector>

namespace weir {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void Fail(const std::string& what, const fs::path& log = {}) {
  std::cerr << "PostgreSQL for the tests: " << what << "\n";
  if (std::ifstream file(log); file) std::cerr << file.rdbuf();
  std::exit(1);
}

// The folder of initdb and postgres: Debian keeps one for each version, others use PATH.
fs::path Programs() {
  std::vector<fs::path> folders;
  std::error_code none;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", none)) {
    folders.push_back(version.path() / "bin");
  }
  std::istringstream path(std::getenv("PATH") == nullptr ? "" : std::getenv("PATH"));
  for (std::string folder; std::getline(path, folder, ':');) folders.emplace_back(folder);
  for (const fs::path& folder : folders) {
    if (fs::exists(folder / "initdb") && fs::exists(folder / "postgres")) return folder;
  }
  Fail(
      "initdb and postgres are neither in /usr/lib/postgresql/*/bin nor in PATH; install the "
      "package postgresql");
}

// PostgreSQL refuses to run as root: then it runs as this user.
const passwd* Unprivileged() {
  if (geteuid() != 0) return nullptr;
  const passwd* user = getpwnam("postgres");
  if (user == nullptr) user = getpwnam("nobody");
  if (user == nullptr) Fail("there is neither a user postgres nor nobody to run it as");
  return user;
}

// Starts a program of PostgreSQL in `folder`, its output in `folder`/log. It ends with this thread.
pid_t Launch(const fs::path& folder, const std::vector<std::string>& words) {
  const std::string log = folder / "log";
  const passwd* user = Unprivileged();
  std::vector<char*> arguments;
  for (const std::string& word : words) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  // A session of its own, so that a signal reaches the server with all its processes.
  setsid();
  if (user != nullptr &&
      (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0)) {
    _exit(126);
  }
  prctl(PR_SET_PDEATHSIG, SIGQUIT);  // the server ends at once
  if (getppid() != parent || chdir(folder.c_str()) != 0) _exit(126);
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execv(arguments[0], arguments.data());
  _exit(127);
}

int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  const bool found = bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
                     getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0;
  close(probe);
  if (!found) Fail("no free port on 127.0.0.1");
  return ntohs(address.sin_port);
}

// A process that does nothing until `alive` is closed by the last one that has it, and then removes
// the folder.
pid_t Guard(const fs::path& folder, int alive[2]) {
  const pid_t guardian = fork();
  if (guardian != 0) return guardian;
  setsid();  // an interrupt from the keyboard is not for it
  close(alive[1]);
  char byte = 0;
  while (read(alive[0], &byte, 1) > 0) {
  }
  // A server that is just ending may still write.
  std::error_code problem;
  for (int tries = 0; tries < 100 && fs::exists(folder, problem); ++tries) {
    fs::remove_all(folder, problem);
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  _exit(0);
}

}  // namespace

Postgres::Postgres(Sync sync) : sync_(sync) {
  std::string name = (fs::temp_directory_path() / "weir-postgres-XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) Fail("cannot make a folder like " + name);
  folder_ = name;
  int alive[2];
  if (pipe2(alive, O_CLOEXEC) != 0) Fail("cannot make a pipe");
  guardian_ = Guard(folder_, alive);
  close(alive[0]);
  alive_ = alive[1];

  std::ofstream(folder_ / "password") << password() << "\n";
  if (const passwd* user = Unprivileged()) {
    if (chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) Fail("cannot give away " + name);
  }
  int status = 0;
  waitpid(Launch(folder_,
                 {Programs() / "initdb", "--pgdata=data", "--username=weir", "--pwfile=password",
                  "--auth=scram-sha-256", "--encoding=UTF8", "--locale=C", "--no-sync"}),
          &status, 0);
  if (status != 0) Fail("initdb failed", folder_ / "log");
  Start();
}

Postgres::~Postgres() {
  Stop();
  close(alive_);
  waitpid(guardian_, nullptr, 0);
}

Postgres& Postgres::Shared() {
  static Postgres shared(Sync::kOff);
  return shared;
}

std::string Postgres::Url(const std::string& database) const {
  std::ostringstream url;
  url << "postgresql://weir:" << password() << "@127.0.0.1:" << port_ << "/" << database;
  return url.str();
}

std::string Postgres::NewDatabase() {
  const std::string name = "rules" + std::to_string(++databases_);
  const std::unique_ptr<PGconn, decltype(&PQfinish)> connection(
      PQconnectdb(Url("postgres").c_str()), PQfinish);
  const std::unique_ptr<PGresult, decltype(&PQclear)> result(
      PQexec(connection.get(), ("CREATE DATABASE " + name).c_str()), PQclear);
  if (PQresultStatus(result.get()) != PGRES_COMMAND_OK) {
    Fail(std::string("cannot make a database: ") + PQerrorMessage(connection.get()));
  }
  return Url(name);
}

void Postgres::Start() {
  // Another process may take the port before the server does; once it has had one, it keeps it.
  const bool first = port_ == 0;
  for (int tries = 0; tries < 5; ++tries) {
    if (first) port_ = FreePort();
    if (TryStart()) return;
  }
  Fail("the server does not start", folder_ / "log");
}

bool Postgres::TryStart() {
  const std::string sync = sync_ == Sync::kOn ? "on" : "off";
  server_ =
      Launch(folder_,
             {Programs() / "postgres", "-D", "data", "-c", "listen_addresses=127.0.0.1", "-c",
              "port=" + std::to_string(port_), "-c", "unix_socket_directories=" + folder_.string(),
              "-c", "fsync=" + sync, "-c", "shared_buffers=16MB", "-c", "max_connections=40"});
  const std::string url = Url("postgres");
  const auto give_up = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  while (std::chrono::steady_clock::now() < give_up) {
    if (waitpid(server_, nullptr, WNOHANG) == server_) break;
    if (PQping(url.c_str()) == PQPING_OK) return true;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  if (waitpid(server_, nullptr, WNOHANG) == 0) Kill();
  server_ = -1;
  return false;
}

void Postgres::Stop() {
  if (server_ < 0) return;
  kill(server_, SIGINT);  // "fast": connections are ended, what is committed is written
  waitpid(server_, nullptr, 0);
  server_ = -1;
}

void Postgres::Kill() {
  // Each process of the server is a session and group of its own, but a child of it.
  kill(server_, SIGSTOP);  // it starts no more
  std::ifstream children("/proc/" + std::to_string(server_) + "/task/" + std::to_string(server_) +
                         "/children");
  for (pid_t child = 0; children >> child;) kill(child, SIGKILL);
  kill(server_, SIGKILL);
  waitpid(server_, nullptr, 0);
  server_ = -1;
}

}  // namespace weir
