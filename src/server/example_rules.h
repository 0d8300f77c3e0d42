// The rules of a server that has none yet.
#pragma once

#include <string_view>

namespace weir {

inline constexpr std::string_view kExampleRules = R"(namespace: default
rules:
  - name: hello
    match: {path: /hello}
    by: [ip]
    limit: 3/10s
  - name: login-failures
    match: {path: /login, method: POST}
    by: [ip]
    limit: sliding_window 5/min
    count: failures
    exceed: ban 10m
  - name: api-per-user
    match: {path: "/api/**"}
    by: [user]
    limits: [10/s burst 20, 5000/h]
)";

}  // namespace weir
