#include "tests/redis_cluster.h"

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <sstream>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "authority/redis_slots.h"

namespace weir {
namespace {

// A short timeout: a master that is gone is missed after a second.
const std::vector<std::string> kNode = {"--cluster-enabled",          "yes",
                                        "--cluster-node-timeout",     "1000",
                                        "--repl-diskless-sync-delay", "0"};

[[noreturn]] void Fail(const std::string& what) {
  std::cerr << "Redis Cluster for the tests: " << what << "\n";
  std::exit(1);
}

void Await(const std::string& what, const std::function<bool()>& holds) {
  for (int tries = 0; tries < 1500; ++tries) {
    if (holds()) return;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  Fail("waited in vain for " + what);
}

// "name:value" of INFO.
std::string Field(const std::string& info, const std::string& name) {
  const std::size_t at = info.find(name);
  if (at == std::string::npos) return "";
  const std::size_t begin = at + name.size();
  return info.substr(begin, info.find_first_of(",\r\n", begin) - begin);
}

// A line of CLUSTER NODES: "id host:port@bus flags master ping pong epoch state slots".
struct NodeLine {
  std::string id;
  std::string flags;
  std::string epoch;
  std::vector<std::string> slots;  // without those on their way
};

std::vector<NodeLine> NodesAsSeenBy(RedisServer& node) {
  std::vector<NodeLine> nodes;
  std::istringstream lines(node.Ask({"CLUSTER", "NODES"}));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    NodeLine said;
    std::string skipped;
    words >> said.id >> skipped >> said.flags >> skipped >> skipped >> skipped >> said.epoch >>
        skipped;
    for (std::string word; words >> word;) {
      if (word.front() != '[') said.slots.push_back(word);
    }
    nodes.push_back(std::move(said));
  }
  return nodes;
}

// Whether a node says that it is the master of a slot.
bool HasSlot(RedisServer& node, std::uint16_t slot) {
  for (const NodeLine& said : NodesAsSeenBy(node)) {
    if (said.flags.find("myself,master") == std::string::npos) continue;
    for (const std::string& range : said.slots) {
      const std::size_t dash = range.find('-');
      const int first = std::stoi(range);
      const int last = dash == std::string::npos ? first : std::stoi(range.substr(dash + 1));
      if (first <= slot && slot <= last) return true;
    }
  }
  return false;
}

// What a node believes of who has what, by the epoch of the claim. Two masters with one epoch are
// about to settle which of them gets a new one, and until then nothing is sure.
std::optional<std::map<std::string, std::string>> Belief(RedisServer& node) {
  std::map<std::string, std::string> claims;
  for (const NodeLine& said : NodesAsSeenBy(node)) {
    if (said.flags.find("master") == std::string::npos) continue;
    std::string claim = said.id;
    for (const std::string& range : said.slots) claim += " " + range;
    if (!claims.emplace(said.epoch, std::move(claim)).second) return std::nullopt;
  }
  return claims;
}

}  // namespace

RedisCluster::RedisCluster()
    : nodes_{RedisServer(kNode), RedisServer(kNode), RedisServer(kNode),
             RedisServer(kNode), RedisServer(kNode), RedisServer(kNode)} {
  std::string create = "redis-cli --cluster create";
  for (const net::Endpoint& endpoint : endpoints()) create += " " + endpoint.ToString();
  create += " --cluster-replicas 1 --cluster-yes > /dev/null 2>&1";
  if (std::system(create.c_str()) != 0) Fail("redis-cli --cluster create has failed");
  Await("all nodes to agree", [this] {
    return std::all_of(nodes_.begin(), nodes_.end(), [](RedisServer& node) {
      return node.Ask({"CLUSTER", "INFO"}).find("cluster_state:ok") != std::string::npos;
    });
  });
  Await("all nodes to believe the same", [this] { return Agree(); });
  AwaitReplicas();
}

std::vector<net::Endpoint> RedisCluster::endpoints() const {
  std::vector<net::Endpoint> all;
  for (const RedisServer& node : nodes_) all.push_back(node.endpoint());
  return all;
}

RedisServer& RedisCluster::At(const net::Endpoint& endpoint) {
  for (RedisServer& node : nodes_) {
    if (node.endpoint() == endpoint) return node;
  }
  Fail("no node at " + endpoint.ToString());
}

RedisServer& RedisCluster::MasterOf(std::uint16_t slot) {
  RedisServer* found = nullptr;
  Await("a master of slot " + std::to_string(slot), [&] {
    for (RedisServer& node : nodes_) {
      if (node.is_running() && HasSlot(node, slot)) found = &node;
    }
    return found != nullptr;
  });
  return *found;
}

RedisServer& RedisCluster::OtherThan(const RedisServer& master) {
  for (const int slot : {0, 8000, 16'000}) {
    RedisServer& other = MasterOf(static_cast<std::uint16_t>(slot));
    if (&other != &master) return other;
  }
  Fail("it has one master only");
}

bool RedisCluster::Agree() {
  const auto first = Belief(nodes_.front());
  return first && std::all_of(nodes_.begin() + 1, nodes_.end(),
                              [&](RedisServer& node) { return Belief(node) == first; });
}

void RedisCluster::EndMove(std::uint16_t slot, RedisServer& from, RedisServer& to) {
  const std::string from_id = from.Ask({"CLUSTER", "MYID"});
  const std::string to_id = to.Ask({"CLUSTER", "MYID"});
  const std::string number = std::to_string(slot);
  Await("the end of a move", [&] {
    if (!HasSlot(to, slot) || HasSlot(from, slot)) {
      // Only who imports a slot claims it with a new epoch, which outweighs what was said before.
      to.Ask({"CLUSTER", "SETSLOT", number, "IMPORTING", from_id});
      to.Ask({"CLUSTER", "SETSLOT", number, "NODE", to_id});
      from.Ask({"CLUSTER", "SETSLOT", number, "NODE", to_id});
      return false;
    }
    return Agree();
  });
}

void RedisCluster::AwaitReplicas() {
  Await("the replicas", [this] {
    return std::all_of(nodes_.begin(), nodes_.end(), [](RedisServer& node) {
      if (!node.is_running()) return true;
      const std::string info = node.Ask({"INFO", "replication"});
      if (Field(info, "role:") != "master") return Field(info, "master_link_status:") == "up";
      const std::string replica = Field(info, "slave0:");
      const std::size_t at = info.find("slave0:");
      if (replica.empty()) return false;
      return Field(info.substr(at), "offset=") == Field(info, "master_repl_offset:");
    });
  });
}

std::string RedisCluster::Ask(const std::string& key, const std::vector<std::string>& words) {
  return MasterOf(authority::SlotOf(key)).Ask(words);
}

}  // namespace weir
