#!/usr/bin/env python3
"""A gRPC client that knows nothing but what the server tells it by reflection.

    grpc_client.py ADDRESS list                        the names of the services, one per line
    grpc_client.py ADDRESS call METHOD [JSON]...       "package.Service/Method"; each answer as JSON
    grpc_client.py ADDRESS watch METHOD JSON COUNT     so many messages of a stream, as they come

ADDRESS is HOST:PORT or unix:PATH. A call that fails prints its status, as {"code": ..., "details": ...}.
With TLS if CA in the environment is a file of who vouches for the server; CERTIFICATE and KEY are
files of the client's own.
REFLECTION in the environment is the version of reflection to ask by: v1 (the default) or v1alpha.
"""

import json
import os
import sys

import grpc
from google.protobuf import descriptor_pb2, descriptor_pool, json_format, message_factory

SECONDS = 20  # for a call, on a machine that has much else to do
STRING, BYTES, INT32, MESSAGE = 9, 12, 5, 11


def reflection_messages(package):
    """The messages by which a server is asked about its messages: they cannot be asked for."""
    file = descriptor_pb2.FileDescriptorProto(name="reflection.proto", package=package)
    file.syntax = "proto3"

    def message(name, *fields):
        result = file.message_type.add(name=name)
        for field_name, number, kind, repeated, type_name in fields:
            field = result.field.add(name=field_name, number=number, type=kind)
            field.label = 3 if repeated else 1
            if type_name:
                field.type_name = f".{package}.{type_name}"

    message("ServerReflectionRequest", ("file_containing_symbol", 4, STRING, False, None),
            ("list_services", 7, STRING, False, None))
    message("ServerReflectionResponse",
            ("file_descriptor_response", 4, MESSAGE, False, "FileDescriptorResponse"),
            ("list_services_response", 6, MESSAGE, False, "ListServiceResponse"),
            ("error_response", 7, MESSAGE, False, "ErrorResponse"))
    message("FileDescriptorResponse", ("file_descriptor_proto", 1, BYTES, True, None))
    message("ListServiceResponse", ("service", 1, MESSAGE, True, "ServiceResponse"))
    message("ServiceResponse", ("name", 1, STRING, False, None))
    message("ErrorResponse", ("error_code", 1, INT32, False, None),
            ("error_message", 2, STRING, False, None))
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    factory = message_factory.MessageFactory(pool)
    return [factory.GetPrototype(pool.FindMessageTypeByName(f"{package}.{name}"))
            for name in ("ServerReflectionRequest", "ServerReflectionResponse")]


def connect(address):
    def file(name):
        return open(os.environ[name], "rb").read() if name in os.environ else None

    if "CA" not in os.environ:
        return grpc.insecure_channel(address)
    return grpc.secure_channel(address, grpc.ssl_channel_credentials(
        file("CA"), private_key=file("KEY"), certificate_chain=file("CERTIFICATE")))


class Server:
    def __init__(self, address):
        self.channel = connect(address)
        package = "grpc.reflection." + os.environ.get("REFLECTION", "v1")
        self.request, response = reflection_messages(package)
        self.reflect = self.channel.stream_stream(
            f"/{package}.ServerReflection/ServerReflectionInfo",
            request_serializer=self.request.SerializeToString,
            response_deserializer=response.FromString)
        self.pool = descriptor_pool.DescriptorPool()

    def ask(self, **question):
        (answer,) = self.reflect(iter([self.request(**question)]), timeout=SECONDS)
        if answer.HasField("error_response"):
            sys.exit(f"reflection: {answer.error_response.error_code} "
                     f"{answer.error_response.error_message}")
        return answer

    def services(self):
        return [service.name for service in
                self.ask(list_services="*").list_services_response.service]

    def add(self, files):
        """Each file behind those that it needs."""
        waiting = {file.name: file for file in files}

        def add_one(name):
            file = waiting.pop(name, None)
            if file:
                for needed in file.dependency:
                    add_one(needed)
                self.pool.Add(file)

        for file in files:
            add_one(file.name)

    def method(self, name):
        """The callable for "package.Service/Method", and the type of its request."""
        service, _, method = name.partition("/")
        files = self.ask(file_containing_symbol=service).file_descriptor_response
        self.add([descriptor_pb2.FileDescriptorProto.FromString(file)
                  for file in files.file_descriptor_proto])
        found = self.pool.FindServiceByName(service).FindMethodByName(method)
        factory = message_factory.MessageFactory(self.pool)
        request = factory.GetPrototype(found.input_type)
        proto = descriptor_pb2.MethodDescriptorProto()
        found.CopyToProto(proto)
        make = self.channel.unary_stream if proto.server_streaming else self.channel.unary_unary
        return request, make(f"/{name}", request_serializer=request.SerializeToString,
                             response_deserializer=factory.GetPrototype(found.output_type).FromString)


def show(message):
    print(json.dumps(json_format.MessageToDict(message)), flush=True)


def main():
    server = Server(sys.argv[1])
    verb, arguments = sys.argv[2], sys.argv[3:]
    try:
        if verb == "list":
            print("\n".join(server.services()))
            return
        request, call = server.method(arguments[0])
        if verb == "watch":
            stream = call(json_format.Parse(arguments[1], request()), timeout=SECONDS)
            for _ in range(int(arguments[2])):
                show(next(stream))
            stream.cancel()
            return
        for text in arguments[1:] or ["{}"]:
            show(call(json_format.Parse(text, request()), timeout=SECONDS))
    except grpc.RpcError as error:
        print(json.dumps({"code": error.code().name, "details": error.details()}))


if __name__ == "__main__":
    main()
