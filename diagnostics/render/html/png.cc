#include "diagnostics/render/html/png.h"

#include <string_view>

#include "checks/records/crc32.h"

namespace dlcheck::html {
namespace {

std::string BigEndian(uint32_t value) {
  std::string bytes;
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(value >> shift & 0xFF);
  return bytes;
}

std::string Chunk(const std::string& type, const std::string& data) {
  return BigEndian(static_cast<uint32_t>(data.size())) + type + data +
         BigEndian(Crc32(type + data));
}

uint32_t Adler32(std::string_view bytes) {
  uint32_t low = 1, high = 0;
  for (const char byte : bytes) {
    low = (low + static_cast<uint8_t>(byte)) % 65521;
    high = (high + low) % 65521;
  }
  return high << 16 | low;
}

// One block that is stored as it is.
std::string Zlib(const std::string& bytes) {
  const auto size = static_cast<uint16_t>(bytes.size());
  std::string stream("\x78\x01\x01", 3);
  for (const uint16_t number : {size, static_cast<uint16_t>(~size)}) {
    stream += static_cast<char>(number & 0xFF);
    stream += static_cast<char>(number >> 8);
  }
  return stream + bytes + BigEndian(Adler32(bytes));
}

}  // namespace

std::string PngOf(uint32_t width, uint32_t height, int channels, const std::string& pixels) {
  const size_t line = size_t{width} * static_cast<size_t>(channels);
  std::string filtered;
  for (uint32_t y = 0; y < height; ++y) filtered += '\0' + pixels.substr(y * line, line);
  const std::string head = BigEndian(width) + BigEndian(height) +
                           std::string({8, static_cast<char>(channels == 3 ? 2 : 0), 0, 0, 0});
  return std::string("\x89PNG\r\n\x1a\n", 8) + Chunk("IHDR", head) + Chunk("IDAT", Zlib(filtered)) +
         Chunk("IEND", "");
}

}  // namespace dlcheck::html
