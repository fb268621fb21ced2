// SPDX-License-Identifier: Apache-2.0
#include "plot/font.hpp"

#include <string_view>

namespace spsolve {
namespace {

constexpr int first = ' ', last = '~', per_row = 16;

/// Holds the characters from the space to the tilde, 16 side by side. A character takes glyph_height lines
/// and glyph_width columns, and one empty column follows.
// clang-format off
constexpr std::string_view sheet =
    "        #    # #   # #    #   ##  #  ##     #      #   #                                      # "
    "        #    # #   # #   #### ##  # #  #    #     #     #     #     #                         # "
    "        #    # #  ##### # #      #  # #     #    #       #  # # #   #                        #  "
    "        #          # #   ###    #    #           #       #   ###  #####       #####         #   "
    "        #         #####   # #  #    # # #        #       #  # # #   #                      #    "
    "                   # #  ####  #  ## #  #          #     #     #     #     #          ##   #     "
    "        #          # #    #   #  ##  ## #          #   #                  #          ##   #     "
    "                                                                         #                      "
    "                                                                                                "
    " ###    #    ###   ###     #  #####   ##  #####  ###   ###                 #        #      ###  "
    "#   #  ##   #   # #   #   ##  #      #        # #   # #   #  ##    ##     #          #    #   # "
    "#  ##   #       #     #  # #  ####  #        #  #   # #   #  ##    ##    #    #####   #       # "
    "# # #   #     ##    ##  #  #      # ####     #   ###   ####             #              #     #  "
    "##  #   #    #        # #####     # #   #   #   #   #     #  ##    ##    #    #####   #     #   "
    "#   #   #   #     #   #    #  #   # #   #   #   #   #    #   ##     #     #          #          "
    " ###   ###  #####  ###     #   ###   ###    #    ###   ##          #       #        #       #   "
    "                                                                                                "
    "                                                                                                "
    " ###    #   ####   ###  ###   ##### #####  ###  #   #  ###    ### #   # #     #   # #   #  ###  "
    "#   #  # #  #   # #   # #  #  #     #     #   # #   #   #      #  #  #  #     ## ## ##  # #   # "
    "# ### #   # #   # #     #   # #     #     #     #   #   #      #  # #   #     # # # ##  # #   # "
    "# # # #   # ####  #     #   # ####  ####  # ### #####   #      #  ##    #     # # # # # # #   # "
    "# ### ##### #   # #     #   # #     #     #   # #   #   #      #  # #   #     #   # #  ## #   # "
    "#     #   # #   # #   # #  #  #     #     #   # #   #   #   #  #  #  #  #     #   # #  ## #   # "
    " #### #   # ####   ###  ###   ##### #      #### #   #  ###   ##   #   # ##### #   # #   #  ###  "
    "                                                                                                "
    "                                                                                                "
    "####   ###  ####   #### ##### #   # #   # #   # #   # #   # #####  ###  #      ###    #         "
    "#   # #   # #   # #       #   #   # #   # #   # #   # #   #     #  #    #        #   # #        "
    "#   # #   # #   # #       #   #   # #   # #   #  # #   # #     #   #     #       #  #   #       "
    "####  #   # ####   ###    #   #   # #   # # # #   #     #     #    #      #      #              "
    "#     # # # # #       #   #   #   #  # #  # # #  # #    #    #     #       #     #              "
    "#     #  #  #  #      #   #   #   #  # #  ## ## #   #   #   #      #        #    #              "
    "#      ## # #   # ####    #    ###    #   #   # #   #   #   #####  ###      #  ###        ##### "
    "                                                                                                "
    "                                                                                                "
    " #          #               #         ##        #       #      #  #      ##                     "
    "  #         #               #        #          #                 #       #                     "
    "   #   ###  ####   ####  ####  ###   #     #### ####   ##     ##  #  #    #   ## #  ####   ###  "
    "          # #   # #     #   # #   # ####  #   # #   #   #      #  # #     #   # # # #   # #   # "
    "       #### #   # #     #   # #####  #    #   # #   #   #      #  ##      #   # # # #   # #   # "
    "      #   # #   # #     #   # #      #    #   # #   #   #      #  # #     #   # # # #   # #   # "
    "       #### ####   ####  ####  ###   #     #### #   #  ###     #  #  #     ## # # # #   #  ###  "
    "                                              #             #  #                                "
    "                                           ###               ##                                 "
    "                         #                                           ##   #   ##                "
    "                         #                                          #     #     #               "
    "####   #### # ##   #### ####  #   # #   # #   # #   # #   # #####   #     #     #    #          "
    "#   # #   # ##    #      #    #   # #   # #   #  # #  #   #    #   #      #      #  # # #       "
    "#   # #   # #      ###   #    #   # #   # # # #   #   #   #   #     #     #     #      #        "
    "#   # #   # #         #  #    #   #  # #  # # #  # #  #   #  #      #     #     #               "
    "####   #### #     ####    ##   ####   #    # #  #   #  #### #####    ##   #   ##                "
    "#         #                                               #                                     "
    "#         #                                            ###                                      ";
// clang-format on
constexpr int line_length = per_row * (glyph_width + 1);
static_assert(sheet.size() == (last - first + per_row) / per_row * glyph_height * line_length);

}  // namespace

bool has_ink(char character, int x, int y) {
  const int code = character >= first && character <= last ? character - first : '?' - first;
  const int line = code / per_row * glyph_height + y, column = code % per_row * (glyph_width + 1) + x;
  return sheet[static_cast<std::size_t>(line * line_length + column)] == '#';
}

}  // namespace spsolve
