// SPDX-License-Identifier: Apache-2.0
// This file compiles the functions of toml++, which toml_document.hpp only declares.
#define TOML_IMPLEMENTATION
#include "io/input/toml_document.hpp"
