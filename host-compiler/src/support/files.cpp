#include "support/files.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

namespace intarsia {
namespace {

namespace fs = std::filesystem;

Diagnostics system_failure(const std::string& path, const std::string& what,
                           const std::string& why) {
  return Diagnostics(path, fmt::format("{}: {}", what, why), "check the path and its permissions");
}

// Whether a file may come to lie at folder/path: what is in the way is found before anything is moved.
Result<void> check_place(const fs::path& folder, const fs::path& path) {
  std::error_code error;
  if (fs::is_directory(folder / path, error))
    return system_failure((folder / path).string(), "cannot be written", "is a folder");
  for (fs::path parent = path.parent_path(); !parent.empty(); parent = parent.parent_path())
    if (fs::exists(folder / parent, error) && !fs::is_directory(folder / parent, error))
      return system_failure((folder / parent).string(), "cannot be made", "is a file");
  return {};
}

}  // namespace

Result<std::vector<uint8_t>> read_file(const std::string& path) {
  std::error_code error;
  if (fs::is_directory(path, error))
    return Diagnostics(path, "is a folder, not a file", "name a file");
  std::ifstream in(path, std::ios::binary);
  if (!in) return system_failure(path, "cannot be read", std::strerror(errno));
  // Room for a regular file at once; others (pipes) say nothing of their size.
  const uintmax_t size = fs::is_regular_file(path, error) ? fs::file_size(path, error) : 0;
  constexpr size_t kBlock = 1 << 16;
  std::vector<uint8_t> bytes;
  bytes.reserve((error ? 0 : static_cast<size_t>(size)) + kBlock);
  for (size_t read = kBlock; read == kBlock;) {
    const size_t end = bytes.size();
    bytes.resize(end + kBlock);
    in.read(reinterpret_cast<char*>(&bytes[end]), static_cast<std::streamsize>(kBlock));
    read = static_cast<size_t>(in.gcount());
    bytes.resize(end + read);
  }
  if (in.bad()) return system_failure(path, "cannot be read", std::strerror(errno));
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
  const std::string aside = path + ".part";
  const interrupt::RemovedPath removed(aside);
  std::ofstream out(aside, std::ios::binary | std::ios::trunc);
  write([&](std::string_view piece) {
    out.write(piece.data(), static_cast<std::streamsize>(piece.size()));
  });
  out.close();
  std::error_code error;
  if (!out) {
    const std::string why = std::strerror(errno);
    fs::remove(aside, error);
    return system_failure(path, "cannot be written", why);
  }
  fs::rename(aside, path, error);
  if (error) {
    const std::string why = error.message();
    fs::remove(aside, error);
    return system_failure(path, "cannot be written", why);
  }
  return {};
}

Result<void> write_folder(const std::string& folder, const std::vector<SourceFile>& files) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return system_failure(folder, "cannot be made", error.message());
  for (const SourceFile& file : files) INTARSIA_TRY_VOID(check_place(folder, file.path));
  const fs::path aside = fs::path(folder) / ".intarsia-part";
  const interrupt::RemovedPath removed(aside.string());
  fs::remove_all(aside, error);
  const auto give_up = [&](Diagnostics why) {
    std::error_code ignored;
    fs::remove_all(aside, ignored);
    return Result<void>(std::move(why));
  };
  for (const SourceFile& file : files) {
    const fs::path path = aside / file.path;
    fs::create_directories(path.parent_path(), error);
    if (error) return give_up(system_failure(folder, "cannot be written", error.message()));
    const auto write = [&](const TextSink& sink) { file.write_to(sink); };
    if (Result<void> written = write_file(path.string(), write); !written.ok())
      return give_up(written.error());
  }
  for (const SourceFile& file : files) {
    const fs::path path = fs::path(folder) / file.path;
    fs::create_directories(path.parent_path(), error);
    if (!error) fs::rename(aside / file.path, path, error);
    if (error) return give_up(system_failure(path.string(), "cannot be written", error.message()));
  }
  fs::remove_all(aside, error);
  return {};
}

Result<TemporaryFolder> TemporaryFolder::make() {
  std::error_code error;
  const fs::path base = fs::temp_directory_path(error);
  if (error) return system_failure("temporary folder", "cannot be found", error.message());
  const std::string pattern = (base / "intarsia-XXXXXX").string();
  interrupt::RemovedPath made = interrupt::RemovedPath::new_folder(pattern);
  if (made.path().empty()) return system_failure(pattern, "cannot be made", std::strerror(errno));
  return TemporaryFolder(std::move(made));
}

TemporaryFolder::~TemporaryFolder() {
  if (path().empty()) return;
  std::error_code ignored;
  fs::remove_all(path(), ignored);
}

}  // namespace intarsia
