// The CRC of zlib and PNG (IEEE 802.3, reflected), by which records and names are checked. Python's
// binascii.crc32 gives the same numbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace dlcheck {

// The CRC of `bytes`, going on from that of the bytes before them. Cost: about 1 ns a byte.
uint32_t Crc32(std::string_view bytes, uint32_t before = 0);

}  // namespace dlcheck
