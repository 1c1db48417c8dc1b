// Small pictures as PNG. Source: RFC 2083 (PNG), RFC 1950 and 1951 (zlib, deflate).
#pragma once

#include <cstdint>
#include <string>

namespace dlcheck::html {

// `pixels`: rows from the top, `channels` (1 gray, 3 red, green, blue) bytes a pixel, at most
// 65,535 bytes in all with one more a row: they are not compressed.
std::string PngOf(uint32_t width, uint32_t height, int channels, const std::string& pixels);

}  // namespace dlcheck::html
