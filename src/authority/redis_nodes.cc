#include "authority/redis_nodes.h"

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace weir::authority {

RedisNodes::RedisNodes(net::Loop& loop, const std::vector<net::Endpoint>& named,
                       const RedisConnectionOptions& options, RedisConnection::Client& client)
    : loop_(loop), named_(named), options_(options), client_(client) {
  for (const net::Endpoint& endpoint : named) At(endpoint);
  of_slot_.assign(kRedisSlots, nodes_.empty() ? nullptr : nodes_.front().get());
}

RedisConnection& RedisNodes::At(const net::Endpoint& endpoint) {
  for (const auto& node : nodes_) {
    if (node->endpoint() == endpoint) return *node;
  }
  ++options_.seed;  // or all would come back at the same moment
  nodes_.push_back(std::make_unique<RedisConnection>(loop_, endpoint, options_, client_));
  return *nodes_.back();
}

RedisConnection& RedisNodes::Next() {
  WEIR_CHECK(!nodes_.empty());
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    RedisConnection& node = *nodes_[++next_ % nodes_.size()];
    if (node.is_up()) return node;
  }
  return *nodes_[++next_ % nodes_.size()];
}

bool RedisNodes::IsNamed(const RedisConnection& node) const {
  return std::find(named_.begin(), named_.end(), node.endpoint()) != named_.end();
}

void RedisNodes::Assign(std::span<const SlotRange> ranges) {
  for (const SlotRange& range : ranges) {
    RedisConnection& master = At(range.master);
    std::fill(of_slot_.begin() + range.first, of_slot_.begin() + range.last + 1, &master);
  }
  std::vector<const RedisConnection*> owners(of_slot_.begin(), of_slot_.end());
  std::sort(owners.begin(), owners.end());
  owners.erase(std::unique(owners.begin(), owners.end()), owners.end());
  std::erase_if(nodes_, [&](std::unique_ptr<RedisConnection>& node) {
    const bool is_needed = IsNamed(*node) || node->under_way() > 0 ||
                           std::binary_search(owners.begin(), owners.end(), node.get());
    if (!is_needed) loop_.Retire(std::move(node));  // the kernel may have told of it in this turn
    return !is_needed;
  });
}

}  // namespace weir::authority
