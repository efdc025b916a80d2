#include "support/files.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "support/bounded_read.h"
#include "support/write_place.h"

namespace intarsia {
namespace {

namespace fs = std::filesystem;

Diagnostics is_in_the_way(const fs::path& path, const std::string& what, const std::string& why) {
  return Diagnostics(path.string(), fmt::format("{}: {}", what, why),
                     "move it away, or name another place");
}

std::error_code last_failure() {
  return {errno, std::generic_category()};
}

// Whether a file may come to lie at folder/path: what is in the way is found before anything is moved.
Result<void> check_place(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(folder / path, error))
    return is_in_the_way(folder / path, "cannot be written", "is a folder");
  for (fs::path parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
    if (fs::exists(folder / parent, error) && !fs::is_directory(folder / parent, error))
      return is_in_the_way(folder / parent, "cannot be made", "is a file");
  return {};
}

// The bytes through what is open already: behind what else was written to it, as to a pipe.
Result<void> write_to_descriptor(const std::string& path, int descriptor,
                                 const std::function<void(const TextSink&)>& write) {
  if (descriptor == STDOUT_FILENO) std::fflush(stdout);
  std::error_code why;
  write([&](std::string_view piece) {
    while (!why && !piece.empty()) {
      const ssize_t written = ::write(descriptor, piece.data(), piece.size());
      if (written >= 0)
        piece.remove_prefix(static_cast<size_t>(written));
      else if (errno != EINTR)
        why = last_failure();
    }
  });
  if (why) return file_failure(path, "cannot be written", why);
  return {};
}

Result<void> write_into(const std::string& path,
                        const std::function<void(const TextSink&)>& write) {
  errno = 0;
  std::ofstream out(path, std::ios::binary);
  write([&](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  out.close();
  if (!out) return file_failure(path, "cannot be written", last_failure());
  return {};
}

}  // namespace

Diagnostics file_failure(const std::string& path, const std::string& what, std::error_code why) {
  const bool is_full = why == std::errc::no_space_on_device ||
                       why == std::error_code(EDQUOT, std::generic_category());
  return Diagnostics(
      path, fmt::format("{}: {}", what, why.message()),
      is_full ? "make room there, or name another place" : "check the path and its permissions");
}

std::optional<uint64_t> known_size(const std::string& path) {
  std::error_code error;
  if (!fs::is_regular_file(path, error)) return std::nullopt;
  const uintmax_t size = fs::file_size(path, error);
  // Files of the kernel are empty until they are read.
  if (error || size == 0) return std::nullopt;
  return size;
}

Result<std::vector<uint8_t>> read_beginning(const std::string& path, size_t most) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return Diagnostics(path, "is a folder, not a file", "name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return file_failure(path, "cannot be read", last_failure());
  // Room for a file of a known size at once.
  const size_t wanted = most == SIZE_MAX ? most : most + 1;
  const auto expected = static_cast<size_t>(std::min<uint64_t>(known_size(path).value_or(0), most));
  constexpr size_t kMostBlock = 1 << 16;
  // Of a small file, as most are, no more room is made, and cleared, than it takes to see its end.
  const size_t block =
      std::min(wanted, expected == 0 ? kMostBlock : std::min(expected + 1, kMostBlock));
  std::vector<uint8_t> bytes;
  bytes.reserve(expected + block);
  while (bytes.size() < wanted) {
    const size_t end = bytes.size(), asked = std::min(block, wanted - end);
    bytes.resize(end + asked);
    in.read(reinterpret_cast<char*>(&bytes[end]), static_cast<std::streamsize>(asked));
    const auto read = static_cast<size_t>(in.gcount());
    bytes.resize(end + read);
    if (read < asked) break;
  }
  if (in.bad()) return file_failure(path, "cannot be read", last_failure());
  return bytes;
}

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  if (known_size(path)) return read_beginning(path, SIZE_MAX);
  INTARSIA_TRY(std::vector<uint8_t> bytes, read_beginning(path, kMostOfUnknownSize));
  if (bytes.size() > kMostOfUnknownSize)
    return Diagnostics(path,
                       fmt::format("is longer than the {} GiB that are read of what has no known "
                                   "size",
                                   kMostOfUnknownSize >> 30),
                       "name a file");
  return bytes;
}

Result<std::string> read_text_file(const std::string& path) {
  INTARSIA_TRY(const std::vector<uint8_t> bytes, read_file(path));
  return std::string(bytes.begin(), bytes.end());
}

Result<void> write_file(const std::string& path, std::string_view bytes) {
  return write_file(path, [&](const TextSink& sink) { sink(bytes); });
}

Result<void> write_file(const std::string& path, std::span<const uint8_t> bytes) {
  return write_file(path,
                    std::string_view(reinterpret_cast<const char*>(bytes.data()), bytes.size()));
}

Result<void> write_file(const std::string& path,
                        const std::function<void(const TextSink&)>& write) {
  const WritePlace place = place_to_write(path);
  if (place.descriptor) return write_to_descriptor(path, *place.descriptor, write);
  if (place.is_stream) return write_into(path, write);
  // Another program may be writing the same file: each has its own aside, and the last one stays.
  const interrupt::RemovedPath removed = interrupt::RemovedPath::new_file(
      (fs::path(place.path).parent_path() / ".intarsia-").string(), ".part");
  const std::string& aside = removed.path();
  if (aside.empty()) return file_failure(path, "cannot be written", last_failure());
  std::ofstream out(aside, std::ios::binary | std::ios::trunc);
  write([&](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  out.close();
  std::error_code error;
  if (!out) {
    const std::error_code why = last_failure();
    fs::remove(aside, error);
    return file_failure(path, "cannot be written", why);
  }
  fs::rename(aside, place.path, error);
  if (error) {
    const std::error_code why = error;
    fs::remove(aside, error);
    return file_failure(path, "cannot be written", why);
  }
  return {};
}

Result<void> write_folder(const std::string& folder, const std::vector<SourceFile>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return file_failure(folder, "cannot be made", error);
  for (const SourceFile& file : files) INTARSIA_TRY_VOID(check_place(folder, file.path));
  const interrupt::RemovedPath removed =
      interrupt::RemovedPath::new_folder((fs::path(folder) / ".intarsia-XXXXXX").string());
  if (removed.path().empty()) return file_failure(folder, "cannot be written", last_failure());
  const fs::path aside = removed.path();
  const auto give_up = [&](Diagnostics why) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
    return Result<void>(std::move(why));
  };
  for (const SourceFile& file : files) {
    const fs::path path = aside / file.path;
    fs::create_directories(path.parent_path(), error);
    if (error) return give_up(file_failure(folder, "cannot be written", error));
    const auto write = [&](const TextSink& sink) { file.write_to(sink); };
    if (Result<void> written = write_file(path.string(), write); !written.ok())
      return give_up(written.error());
  }
  for (const SourceFile& file : files) {
    const fs::path path = fs::path(folder) / file.path;
    fs::create_directories(path.parent_path(), error);
    if (!error) fs::rename(aside / file.path, path, error);
    if (error) return give_up(file_failure(path.string(), "cannot be written", error));
  }
  fs::remove_all(aside, error);
  return {};
}

namespace {

// Absolute, since compilers are started in other folders. An empty TMPDIR is as good as none.
Result<fs::path> temporary_folders() {
  const char* named = std::getenv("TMPDIR");
  if (named == nullptr || *named == '\0') return fs::path(P_tmpdir);
  std::error_code error;
  if (!fs::is_directory(named, error))
    return Diagnostics("TMPDIR", fmt::format("'{}' is not a folder", named),
                       "name a folder that is there, or leave TMPDIR unset");
  return fs::absolute(named);
}

}  // namespace

Result<TemporaryFolder> TemporaryFolder::make() {
  INTARSIA_TRY(const fs::path base, temporary_folders());
  const std::string pattern = (base / "intarsia-XXXXXX").string();
  interrupt::RemovedPath made = interrupt::RemovedPath::new_folder(pattern);
  if (made.path().empty()) return file_failure(pattern, "cannot be made", last_failure());
  return TemporaryFolder(std::move(made));
}

TemporaryFolder::~TemporaryFolder() {
  if (path().empty()) return;
  std::error_code ignored;
  fs::remove_all(path(), ignored);
}

}  // namespace intarsia
