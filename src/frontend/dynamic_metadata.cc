#include "frontend/dynamic_metadata.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>

namespace weir {
namespace {

using google::protobuf::Struct;

// As Go prints such a message.
std::string TextOf(const LimitOverride& limit) {
  std::string text;
  if (limit.requests > 0) text = "requests_per_unit:" + std::to_string(limit.requests) + " ";
  return text + "unit:" + std::string(NameOf(limit.unit));
}

void Describe(const DescriptorAsk& ask, Struct& descriptor) {
  auto& fields = *descriptor.mutable_fields();
  auto& entries = *fields["entries"].mutable_list_value();
  for (const rule::RequestEntry& entry : ask.entries) {
    entries.add_values()->set_string_value(std::string(entry.key) + "=" + std::string(entry.value));
  }
  if (ask.limit) fields["limit"].set_string_value(TextOf(*ask.limit));
  if (ask.hits) fields["hitsAddend"].set_number_value(static_cast<double>(*ask.hits));
}

// What is there already stays; maps are merged all the way down. (They come from rules, whose
// reader has bounded how deep they are.)
void Merge(const Struct& from, Struct& into) {  // NOLINT(misc-no-recursion)
  for (const auto& [name, value] : from.fields()) {
    const auto known = into.mutable_fields()->find(name);
    if (known == into.mutable_fields()->end()) {
      (*into.mutable_fields())[name] = value;
    } else if (known->second.has_struct_value() && value.has_struct_value()) {
      Merge(value.struct_value(), *known->second.mutable_struct_value());
    }
  }
}

}  // namespace

std::string DynamicMetadata(const DescriptorRequest& request, const DescriptorReply& reply) {
  Struct all;
  auto& fields = *all.mutable_fields();
  fields["domain"].set_string_value(std::string(request.domain));
  auto& descriptors = *fields["descriptors"].mutable_list_value();
  for (const DescriptorAsk& ask : request.descriptors) {
    Describe(ask, *descriptors.add_values()->mutable_struct_value());
  }
  if (request.hits != 0) fields["hitsAddend"].set_number_value(request.hits);

  Struct passed;
  for (const DescriptorStatus& status : reply.statuses()) {
    if (status.over || !status.limit || status.rule == nullptr) continue;
    const std::string& text = status.rule->rule->descriptor->metadata;
    Struct metadata;
    if (text.empty() || !google::protobuf::util::JsonStringToMessage(text, &metadata).ok())
      continue;
    Merge(metadata, passed);
  }
  if (!passed.fields().empty()) *fields["metadata"].mutable_struct_value() = std::move(passed);
  return all.SerializeAsString();
}

}  // namespace weir
