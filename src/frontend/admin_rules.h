// The rules, over HTTP: whole namespaces and single rules, in YAML and JSON, as files have them.
//
// A namespace and a rule are documents with an ETag, which is their revision. A change names the
// one it was made from, and loses if that is not in force any more. A server that reads files shows
// what is in force and changes nothing.
#pragma once

#include "frontend/admin_call.h"

namespace weir {

AdminReply ListNamespaces(const AdminParts& parts, const AdminCall& call);

AdminReply GetNamespace(const AdminParts& parts, const AdminCall& call);
AdminReply PutNamespace(const AdminParts& parts, const AdminCall& call);
AdminReply DeleteNamespace(const AdminParts& parts, const AdminCall& call);

AdminReply GetOneRule(const AdminParts& parts, const AdminCall& call);
AdminReply PutOneRule(const AdminParts& parts, const AdminCall& call);
AdminReply DeleteOneRule(const AdminParts& parts, const AdminCall& call);

}  // namespace weir
