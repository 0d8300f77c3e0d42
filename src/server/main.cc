// The program `weir`.
#include <iostream>

#include "server/program.h"

int main(int argc, char** argv) {
  return weir::RunProgram({argv + 1, argv + argc}, WEIR_VERSION, {std::cin, std::cout, std::cerr});
}
