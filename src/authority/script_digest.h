// By what Redis calls a script that it was told: its SHA-1 in hexadecimal digits.
#pragma once

#include <string>
#include <string_view>

namespace weir::authority {

std::string ScriptDigest(std::string_view script);

}  // namespace weir::authority
