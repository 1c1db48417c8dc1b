// Digest of raw bytes: the sum modulo 2^64 of word_i * w_i, with 8-byte little-endian words (the
// tail padded with zeros) and w_i = splitmix64(i) | 1. Any one changed word always shows, because
// its weight is odd; a permutation is missed once in 2^63. Additive, so that parts can be digested
// apart.
#pragma once

#include <cstddef>
#include <cstdint>

namespace dlcheck {

// The splitmix64 finaliser. Source: Steele, Lea, Flood 2014, and Vigna's public-domain constants.
uint64_t SplitMix64(uint64_t index);

// Digest of `bytes` whose first word has the index `first_word`.
uint64_t Digest(const void* bytes, size_t size, uint64_t first_word = 0);

}  // namespace dlcheck
