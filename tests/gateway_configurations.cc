#include "tests/gateway_configurations.h"

#include <fstream>

#include "tests/gateway.h"

namespace weir {
namespace {

using Patience = GatewaySetup::Patience;
using WithoutWeir = GatewaySetup::WithoutWeir;

// Around the server of the page: one process, which writes nowhere but into its folder.
constexpr const char* kNginx = R"(
daemon off;
master_process off;
error_log stderr;
pid nginx.pid;
events {}
http {
  access_log off;
  client_body_temp_path body;
  proxy_temp_path proxy;
  fastcgi_temp_path fastcgi;
  uwsgi_temp_path uwsgi;
  scgi_temp_path scgi;
  include shop.conf;
}
)";

}  // namespace

std::vector<std::string> NginxCommand(const GatewaySetup& setup) {
  std::string shop =
      Adapted(PageBlock("docs/gateways/nginx.md", "# /etc/nginx/conf.d/shop.conf"),
              {{"127.0.0.1:8080", setup.weir},
               {"127.0.0.1:3000", setup.app},
               {"listen 80;", "listen 127.0.0.1:" + std::to_string(setup.port) + ";"}});
  if (setup.without_weir == WithoutWeir::kAreRefused) {
    shop = Adapted(shop, {{"return 204;", "return 500;"}});
  }
  if (setup.patience == Patience::kAMinute)
    shop = Adapted(shop, {{"_timeout 100ms", "_timeout 1m"}});
  std::ofstream(setup.folder / "shop.conf") << shop;
  std::ofstream(setup.folder / "nginx.conf") << kNginx;
  return {ProgramNamed("nginx"), "-p", setup.folder, "-c", "nginx.conf", "-e", "stderr"};
}

std::vector<std::string> HaproxyCommand(const GatewaySetup& setup) {
  const bool is_socket = setup.weir.starts_with("unix:");
  const std::string weir = is_socket ? "unix@" + setup.weir.substr(5) : setup.weir;
  const std::string script = std::string(WEIR_SOURCE_DIR) + "/docs/gateways/weir.lua";
  const std::string patience = setup.patience == Patience::kAMinute ? " 60000" : " 100";
  std::string config = Adapted(PageBlock("docs/gateways/haproxy.md", "# /etc/haproxy/haproxy.cfg"),
                               {{"/etc/haproxy/weir.lua", script},
                                {"127.0.0.1:8080", weir},
                                {"lua.weir weir 100", "lua.weir weir" + patience},
                                {"127.0.0.1:3000", setup.app},
                                {"bind :80", "bind 127.0.0.1:" + std::to_string(setup.port)}});
  if (setup.patience == Patience::kAMinute) {
    config = Adapted(config, {{"option httpchk", "timeout check 1m\n  option httpchk"}});
  }
  if (setup.without_weir == WithoutWeir::kAreRefused) {
    config = Adapted(config, {{"# http-request return", "http-request return"}});
  }
  std::ofstream(setup.folder / "haproxy.cfg") << config;
  return {ProgramNamed("haproxy"), "-db", "-f", setup.folder / "haproxy.cfg"};
}

}  // namespace weir
