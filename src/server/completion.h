// Scripts that let a shell complete commands and options: `weir completion bash`.
//
// They follow the words of the line down the tree of commands and offer what there is at that
// place; where a value or a file is due, the shell's own completion of files goes on.
#pragma once

#include <string>

#include "server/command_tree.h"

namespace weir {

std::string BashCompletion(const Command& root);
std::string ZshCompletion(const Command& root);
std::string FishCompletion(const Command& root);

}  // namespace weir
