# The Debian package, by `make package`: the program, its manual page and completions, its unit and
# its configuration. What is only in the package is not part of `make install`.
include(GNUInstallDirs)

# --- pages that the program makes itself ---------------------------------------------------------

configure_file(packaging/debian/changelog.in changelog.Debian @ONLY)
set(pages_dir ${PROJECT_BINARY_DIR}/pages)
set(program $<TARGET_FILE:weir-cli>)
add_custom_command(
  OUTPUT ${pages_dir}/weir.1.gz ${pages_dir}/weir.bash ${pages_dir}/weir.zsh ${pages_dir}/weir.fish
    ${pages_dir}/changelog.gz ${pages_dir}/changelog.Debian.gz
  COMMAND ${CMAKE_COMMAND} -E make_directory ${pages_dir}
  # The default of --author is who asks.
  COMMAND ${CMAKE_COMMAND} -E env USER=you ${program} man > ${pages_dir}/weir.1
  COMMAND gzip -9nf ${pages_dir}/weir.1
  COMMAND ${program} completion bash > ${pages_dir}/weir.bash
  COMMAND ${program} completion zsh > ${pages_dir}/weir.zsh
  COMMAND ${program} completion fish > ${pages_dir}/weir.fish
  COMMAND gzip -9nc ${PROJECT_SOURCE_DIR}/CHANGELOG.md > ${pages_dir}/changelog.gz
  COMMAND gzip -9nc ${PROJECT_BINARY_DIR}/changelog.Debian > ${pages_dir}/changelog.Debian.gz
  DEPENDS weir-cli CHANGELOG.md ${PROJECT_BINARY_DIR}/changelog.Debian
  COMMENT "Manual page and completions"
  VERBATIM)
add_custom_target(weir_pages DEPENDS ${pages_dir}/weir.1.gz)

# --- what goes where -----------------------------------------------------------------------------

function(weir_packaged file destination)
  cmake_path(GET file FILENAME name)
  if(ARGC GREATER 2)
    set(name ${ARGV2})
  endif()
  install(FILES ${file} DESTINATION ${destination} RENAME ${name}
    COMPONENT package EXCLUDE_FROM_ALL)
endfunction()

weir_packaged(packaging/weir.yaml /etc/weir)
weir_packaged(packaging/rules.yaml /etc/weir)
weir_packaged(packaging/weir.service /lib/systemd/system)
weir_packaged(packaging/debian/copyright share/doc/weir)
weir_packaged(packaging/debian/lintian-overrides share/lintian/overrides weir)
weir_packaged(${pages_dir}/changelog.gz share/doc/weir)
weir_packaged(${pages_dir}/changelog.Debian.gz share/doc/weir)
weir_packaged(${pages_dir}/weir.1.gz share/man/man1)
weir_packaged(${pages_dir}/weir.bash share/bash-completion/completions weir)
weir_packaged(${pages_dir}/weir.zsh share/zsh/vendor-completions _weir)
weir_packaged(${pages_dir}/weir.fish share/fish/vendor_completions.d weir.fish)

# --- the package ---------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME weir)
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGE_CONTACT "Weir maintainers <weir@weir.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "exact rate limiter at memory speed")
set(CPACK_PACKAGE_DESCRIPTION
  "Weir decides, for each request, whether its client is within its limits.
 Gateways ask it in the protocol they speak: HTTP, the gRPC of Envoy or that
 of Redis. What was counted lies in mapped memory and survives a restart.")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program package)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_STRIP_FILES ON)

set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_PACKAGE_SECTION net)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "adduser, tzdata")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_EXTRA
  ${PROJECT_SOURCE_DIR}/packaging/debian/conffiles
  ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/prerm
  ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_VERBATIM_VARIABLES ON)
include(CPack)
