#include "frontend/grpc_reflection.h"

#include <envoy/service/ratelimit/v3/rls.pb.h>
#include <google/protobuf/descriptor.h>
#include <google/protobuf/descriptor.pb.h>
#include <grpc/health/v1/health.pb.h>
#include <grpc/reflection/v1/reflection.pb.h>
#include <grpc/reflection/v1alpha/reflection.pb.h>

#include <array>
#include <set>
#include <vector>

namespace weir {
namespace {

using google::protobuf::Descriptor;
using google::protobuf::DescriptorPool;
using google::protobuf::FieldDescriptor;
using google::protobuf::FileDescriptor;
using grpc::reflection::v1::ServerReflectionRequest;
using grpc::reflection::v1::ServerReflectionResponse;

const DescriptorPool& Pool() { return *DescriptorPool::generated_pool(); }

// The files whose services are answered here.
std::array<const FileDescriptor*, 4> ServedFiles() {
  return {envoy::service::ratelimit::v3::RateLimitRequest::descriptor()->file(),
          grpc::health::v1::HealthCheckRequest::descriptor()->file(),
          ServerReflectionRequest::descriptor()->file(),
          grpc::reflection::v1alpha::ServerReflectionRequest::descriptor()->file()};
}

void ListServices(ServerReflectionResponse& response) {
  auto& list = *response.mutable_list_services_response();
  for (const FileDescriptor* file : ServedFiles()) {
    for (int i = 0; i < file->service_count(); ++i) {
      list.add_service()->set_name(file->service(i)->full_name());
    }
  }
}

void NotFound(const std::string& what, ServerReflectionResponse& response) {
  auto& error = *response.mutable_error_response();
  error.set_error_code(static_cast<int>(wire::GrpcCode::kNotFound));
  error.set_error_message("there is no " + what + " here");
}

// The file and those it needs, each once.
void AddFiles(const FileDescriptor* file, ServerReflectionResponse& response) {
  auto& answer = *response.mutable_file_descriptor_response();
  std::set<const FileDescriptor*> known = {file};
  std::vector<const FileDescriptor*> files = {file};
  for (std::size_t i = 0; i < files.size(); ++i) {
    google::protobuf::FileDescriptorProto proto;
    files[i]->CopyTo(&proto);
    answer.add_file_descriptor_proto(proto.SerializeAsString());
    for (int j = 0; j < files[i]->dependency_count(); ++j) {
      const FileDescriptor* needed = files[i]->dependency(j);
      if (known.insert(needed).second) files.push_back(needed);
    }
  }
}

void AddFiles(const FileDescriptor* file, const std::string& what,
              ServerReflectionResponse& response) {
  if (file == nullptr) return NotFound(what, response);
  AddFiles(file, response);
}

const FileDescriptor* FileOfExtension(const std::string& type, int number) {
  const Descriptor* extended = Pool().FindMessageTypeByName(type);
  if (extended == nullptr) return nullptr;
  const FieldDescriptor* extension = Pool().FindExtensionByNumber(extended, number);
  return extension == nullptr ? nullptr : extension->file();
}

void ListExtensions(const std::string& type, ServerReflectionResponse& response) {
  const Descriptor* extended = Pool().FindMessageTypeByName(type);
  if (extended == nullptr) return NotFound("type " + type, response);
  auto& answer = *response.mutable_all_extension_numbers_response();
  answer.set_base_type_name(type);
  std::vector<const FieldDescriptor*> extensions;
  Pool().FindAllExtensions(extended, &extensions);
  for (const FieldDescriptor* extension : extensions) {
    answer.add_extension_number(extension->number());
  }
}

}  // namespace

wire::GrpcStatus AnswerReflection(std::string_view message, std::string& response) {
  ServerReflectionRequest request;
  if (!request.ParseFromArray(message.data(), static_cast<int>(message.size()))) {
    return {wire::GrpcCode::kInternal, "the message is no ServerReflectionRequest"};
  }
  ServerReflectionResponse answer;
  answer.set_valid_host(request.host());
  switch (request.message_request_case()) {
    case ServerReflectionRequest::kListServices:
      ListServices(answer);
      break;
    case ServerReflectionRequest::kFileByFilename:
      AddFiles(Pool().FindFileByName(request.file_by_filename()),
               "file " + request.file_by_filename(), answer);
      break;
    case ServerReflectionRequest::kFileContainingSymbol:
      AddFiles(Pool().FindFileContainingSymbol(request.file_containing_symbol()),
               "symbol " + request.file_containing_symbol(), answer);
      break;
    case ServerReflectionRequest::kFileContainingExtension: {
      const auto& wanted = request.file_containing_extension();
      AddFiles(FileOfExtension(wanted.containing_type(), wanted.extension_number()),
               "extension of " + wanted.containing_type(), answer);
      break;
    }
    case ServerReflectionRequest::kAllExtensionNumbersOfType:
      ListExtensions(request.all_extension_numbers_of_type(), answer);
      break;
    case ServerReflectionRequest::MESSAGE_REQUEST_NOT_SET:
      return {wire::GrpcCode::kInvalidArgument, "the message asks for nothing"};
  }
  *answer.mutable_original_request() = std::move(request);
  answer.AppendToString(&response);
  return {};
}

}  // namespace weir
