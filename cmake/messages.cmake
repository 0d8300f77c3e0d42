# The messages of proto/, compiled by protoc into a library of their own.
find_package(Protobuf REQUIRED)

file(GLOB_RECURSE protos CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/proto proto/*.proto)
set(messages_dir ${PROJECT_BINARY_DIR}/messages)
file(MAKE_DIRECTORY ${messages_dir})
set(messages)
foreach(proto ${protos})
  string(REGEX REPLACE "\\.proto$" ".pb" output ${messages_dir}/${proto})
  add_custom_command(
    OUTPUT ${output}.cc ${output}.h
    COMMAND protobuf::protoc --proto_path=${PROJECT_SOURCE_DIR}/proto --cpp_out=${messages_dir} ${proto}
    DEPENDS proto/${proto}
    COMMENT "protoc ${proto}"
    VERBATIM)
  list(APPEND messages ${output}.cc ${output}.h)
endforeach()

add_library(weir_messages STATIC ${messages})
target_compile_features(weir_messages PUBLIC cxx_std_20)
target_include_directories(weir_messages SYSTEM PUBLIC ${messages_dir})
target_link_libraries(weir_messages PUBLIC protobuf::libprotobuf)
