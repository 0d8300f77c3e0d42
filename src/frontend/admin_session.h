// What one client of the admin API says, and what it is told: HTTP/1.1 around admin_api.h.
//
// Bytes in, bytes out, like the session of decisions, but with less to do: every body is wanted and
// nobody is made to wait. Calls may touch the database and take their time, so these sessions run
// on a loop of their own, which decisions do not wait for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "frontend/admin_call.h"
#include "net/handler.h"
#include "wire/http_body.h"
#include "wire/http_date.h"
#include "wire/http_reader.h"
#include "wire/http_request.h"

namespace weir {

inline constexpr std::size_t kLargestAdminBody = std::size_t{4} << 20;

class AdminSession {
 public:
  struct Progress {
    std::size_t consumed = 0;
    bool close = false;  // when what was written has gone out
    bool more = false;   // enough was written for now: there is more to do in what is unread
  };

  explicit AdminSession(const AdminParts& parts) : parts_(parts), reader_(Limits()) {}

  // Answers the requests that are complete in `bytes`, in order, at one instant.
  Progress Serve(std::string_view bytes, Instant now, std::string& out);
  // Some of a request's body is still to come.
  [[nodiscard]] bool is_in_request() const { return in_body_; }

 private:
  static wire::HttpLimits Limits();
  // False if more is needed, or the head makes no sense.
  bool ReadHead(std::string_view bytes, Progress& progress, std::string& out);
  bool ReadBody(std::string_view bytes, Progress& progress, std::string& out);
  void Answer(Instant now, Progress& progress, std::string& out);
  void Refuse(std::uint16_t status, std::string_view detail, std::string& out);

  const AdminParts& parts_;
  wire::HttpReader reader_;
  wire::HttpRequest request_;
  wire::HttpDate date_;
  std::string_view date_field_;

  std::string head_;  // of the request under way, whose views look at this
  bool in_body_ = false;
  std::uint64_t body_left_ = 0;
  std::optional<wire::ChunkReader> chunks_;
  std::string body_;
};

// `parts` must outlive every connection.
net::HandlerFactory AdminHandlers(const AdminParts& parts);

}  // namespace weir
