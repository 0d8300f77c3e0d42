// A CL.THROTTLE or THROTTLE as it was said last: of the next one like it only the key is read.
//
// The limit comes with each of these commands, and is nearly always the same. What it means was
// worked out when it was said first.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "frontend/cell_command.h"
#include "wire/resp_template.h"

namespace weir {

// Both ask for the same, and are answered in an order and in words of their own.
enum class CellDialect : std::uint8_t { kRedisCell, kThrottlecrab };

class CellShape {
 public:
  // From now on those that differ from `arguments`, which say `command`, in the key only.
  void Learn(CellCommand::Arguments arguments, const CellCommand& command, CellDialect dialect) {
    constexpr std::uint64_t kKey = 1 << 1;
    template_.Learn(arguments, kKey);
    command_ = command;
    command_->key = {};
    dialect_ = dialect;
  }

  // The size of the command that `bytes` begin with, or 0 if it is not all there or another one.
  std::size_t Read(std::string_view bytes) {
    return template_.Read(bytes, [&](std::size_t, std::string_view key) {
      command_->key = key;
      return true;
    });
  }
  // Its key is that of the last one read. REQUIRES: one was
  [[nodiscard]] const CellCommand& command() const { return *command_; }
  [[nodiscard]] CellDialect dialect() const { return dialect_; }

 private:
  wire::RespTemplate template_;
  std::optional<CellCommand> command_;
  CellDialect dialect_ = CellDialect::kRedisCell;
};

}  // namespace weir
