#include "net/handler.h"

namespace weir::net {

Next Handler::OnResume(Connection& /*connection*/, std::string& /*out*/) { return Next::kRead; }

void Handler::OnNews(std::string& /*out*/) {}

void Handler::OnEnding(std::string& /*out*/) {}

void Handler::OnGone(Connection& /*connection*/) {}

}  // namespace weir::net
