#include "frontend/openapi.h"

#include <map>
#include <string_view>
#include <vector>

#include "base/ascii.h"
#include "frontend/admin_reply.h"
#include "frontend/admin_routes.h"
#include "frontend/openapi_schemas.h"
#include "service/token.h"
#include "wire/http_reply.h"

namespace weir {
namespace {

constexpr std::string_view kProblemType = "application/problem+json";

std::string_view NameOf(AdminParameter::Type type) {
  switch (type) {
    case AdminParameter::Type::kCount:
      return "integer";
    case AdminParameter::Type::kFlag:
      return "boolean";
    case AdminParameter::Type::kText:
      break;
  }
  return "string";
}

void WriteReference(std::string_view schema, JsonText& json) {
  json.Object([&] {
    json.Key("schema").Object(
        [&] { json.Key("$ref").Text("#/components/schemas/" + std::string(schema)); });
  });
}

void WriteContent(AdminAnswer answer, std::string_view schema, JsonText& json) {
  json.Key("content").Object([&] {
    if (answer == AdminAnswer::kText) {
      json.Key("text/plain").Raw(R"({"schema":{"type":"string"}})");
      return;
    }
    json.Key("application/json");
    WriteReference(schema, json);
    if (answer == AdminAnswer::kRules) {
      json.Key("application/yaml").Raw(R"({"schema":{"type":"string"}})");
    }
  });
}

void WriteParameter(std::string_view in, std::string_view name, std::string_view type,
                    std::string_view description, JsonText& json) {
  json.Object([&] {
    json.Key("in").Text(in);
    json.Key("name").Text(name);
    if (in == "path") json.Key("required").Flag(true);
    if (!description.empty()) json.Key("description").Text(description);
    json.Key("schema").Object([&] { json.Key("type").Text(type); });
  });
}

void WriteParameters(const AdminRoute& route, JsonText& json) {
  json.Key("parameters").List([&] {
    std::string_view path = route.path;
    for (std::size_t open = path.find('{'); open != std::string_view::npos; open = path.find('{')) {
      path.remove_prefix(open + 1);
      WriteParameter("path", path.substr(0, path.find('}')), "string", "Percent-encoded, '/' too",
                     json);
    }
    for (const AdminParameter& parameter : route.query) {
      WriteParameter("query", parameter.name, NameOf(parameter.type), parameter.description, json);
    }
    if (route.nature != AdminNature::kEdits) return;
    WriteParameter("header", "If-Match", "string", "The ETag that the change was made from", json);
    WriteParameter("header", "If-None-Match", "string", "* for what is new", json);
  });
}

void WriteResponse(const AdminRoute& route, std::uint16_t status, JsonText& json) {
  json.Key(std::to_string(status)).Object([&] {
    json.Key("description").Text(wire::HttpPhrase(status));
    if (status == 200) {
      WriteContent(route.answer, route.answer_schema, json);
      return;
    }
    json.Key("content").Object([&] {
      json.Key(kProblemType);
      WriteReference("Problem", json);
    });
  });
}

void WriteOperation(const AdminRoute& route, JsonText& json) {
  std::string method(route.method);
  for (char& c : method) c = ToLower(c);
  json.Key(method).Object([&] {
    json.Key("summary").Text(route.summary);
    json.Key("x-role").Text(NameOf(route.least));
    json.Key("security").List([&] {
      if (route.least > Role::kNone) json.Raw(R"({"token":[]})");
    });
    WriteParameters(route, json);
    if (route.body != AdminBody::kNone) {
      json.Key("requestBody").Object([&] {
        json.Key("required").Flag(true);
        const bool rules = route.body == AdminBody::kRules;
        WriteContent(rules ? AdminAnswer::kRules : AdminAnswer::kJson, route.body_schema, json);
      });
    }
    json.Key("responses").Object([&] {
      for (const std::uint16_t status : StatusesOf(route)) WriteResponse(route, status, json);
    });
  });
}

}  // namespace

std::string OpenApiText(std::string_view version) {
  std::map<std::string_view, std::vector<const AdminRoute*>> paths;
  for (const AdminRoute& route : AdminRoutes()) paths[route.path].push_back(&route);
  JsonText json;
  json.Object([&] {
    json.Key("openapi").Text("3.1.0");
    json.Key("info").Object([&] {
      json.Key("title").Text("Weir, admin API");
      json.Key("version").Text(version.empty() ? "0" : version);
    });
    json.Key("paths").Object([&] {
      for (const auto& entry : paths) {
        json.Key(entry.first).Object([&] {
          for (const AdminRoute* route : entry.second) WriteOperation(*route, json);
        });
      }
    });
    json.Key("components").Object([&] {
      json.Key("securitySchemes").Raw(R"({"token":{"type":"http","scheme":"bearer"}})");
      json.Key("schemas").Raw(kOpenApiSchemas);
    });
  });
  return json.Take();
}

AdminReply GetOpenApi(const AdminParts& parts, const AdminCall& /*call*/) {
  return {.body = OpenApiText(parts.status.version)};
}

}  // namespace weir
