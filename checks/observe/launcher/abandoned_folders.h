// The private folders of runs whose dlcheck was killed before it could remove them.
#pragma once

#include <array>
#include <ctime>
#include <string>

namespace dlcheck {

// Where private folders may be, none of which may lie below the layer that it serves.
inline constexpr std::array<const char*, 3> kPrivatePlaces{"/tmp", "/var/tmp", "/dev/shm"};

// Removes private folders of this user that no process has locked. Folders younger than ten seconds
// stay: their owner may not have locked them yet.
void RemoveAbandonedFolders();
// The same in one place, with another number of seconds.
void RemoveAbandonedFoldersIn(const std::string& place, time_t youth);

}  // namespace dlcheck
