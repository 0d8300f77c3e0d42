#include "net/tls_names.h"

#include <openssl/asn1.h>
#include <openssl/x509v3.h>

#include <algorithm>

#include "base/ascii.h"
#include "net/openssl.h"

namespace weir::net {
namespace {

constexpr std::string_view kAnyLabel = "*.";

std::string_view BytesOf(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

// A name goes into headers, logs and labels. One with a zero byte in it is read as two different
// names by different programs: it is nobody's.
void Append(std::string_view name, std::vector<std::string>& names) {
  const bool is_printable =
      std::all_of(name.begin(), name.end(), [](char c) { return c > ' ' && c < '\x7f'; });
  if (!name.empty() && is_printable) names.emplace_back(name);
}

// Rather than a URI or a mail address, in which case counts and dots separate nothing.
bool IsDnsName(std::string_view name) {
  return name.find_first_of(":/@") == std::string_view::npos;
}

}  // namespace

std::vector<std::string> NamesOf(const X509& certificate) {
  std::vector<std::string> names;
  const openssl::Names alternatives(static_cast<GENERAL_NAMES*>(
      X509_get_ext_d2i(&certificate, NID_subject_alt_name, nullptr, nullptr)));
  if (alternatives) {
    for (int i = 0; i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
      const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives.get(), i);
      if (name->type == GEN_DNS) Append(BytesOf(name->d.dNSName), names);
      if (name->type == GEN_URI) Append(BytesOf(name->d.uniformResourceIdentifier), names);
      if (name->type == GEN_EMAIL) Append(BytesOf(name->d.rfc822Name), names);
    }
    return names;
  }
  const X509_NAME* subject = X509_get_subject_name(&certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at >= 0) {
    Append(BytesOf(X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at))), names);
  }
  return names;
}

bool CoversName(std::string_view pattern, std::string_view name) {
  if (!IsDnsName(pattern) || !IsDnsName(name)) return pattern == name;
  if (!pattern.starts_with(kAnyLabel)) return SameIgnoringCase(pattern, name);
  const std::size_t dot = name.find('.');
  if (dot == 0 || dot == std::string_view::npos) return false;
  return SameIgnoringCase(pattern.substr(1), name.substr(dot));
}

Result<AllowedNames> AllowedNames::Make(std::vector<std::string> patterns) {
  for (const std::string& pattern : patterns) {
    const std::string_view rest =
        std::string_view(pattern).substr(pattern.starts_with(kAnyLabel) ? kAnyLabel.size() : 0);
    if (rest.empty() || rest.find('*') != std::string_view::npos) {
      return Error{"'" + pattern +
                   "' is no name of a client: a star stands for one whole label, in front; write "
                   "gateway.example.com or *.example.com"};
    }
  }
  return AllowedNames(std::move(patterns));
}

std::optional<std::string> AllowedNames::FirstOf(const std::vector<std::string>& names) const {
  for (const std::string& name : names) {
    const auto covers = [&](const std::string& pattern) { return CoversName(pattern, name); };
    if (patterns_.empty() || std::any_of(patterns_.begin(), patterns_.end(), covers)) return name;
  }
  // Nobody has said what the name must be: a certificate without one is as good.
  if (patterns_.empty()) return std::string();
  return std::nullopt;
}

}  // namespace weir::net
