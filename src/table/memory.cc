#include "table/memory.h"

#define XXH_INLINE_ALL
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>
#include <xxhash.h>

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include "table/table.h"

namespace weir::table {
namespace {

constexpr std::size_t kPage = 4096;
constexpr std::size_t kHugePage = std::size_t{2} << 20;

constexpr std::size_t RoundUp(std::size_t n, std::size_t unit) {
  return (n + unit - 1) / unit * unit;
}
constexpr std::size_t kHeaderBytes = RoundUp(sizeof(Header), kPage);

std::uint64_t LinesInAll(const Geometry& geometry) { return geometry.lines + Table::kProbe - 1; }

std::size_t RecordsAt(const Geometry& geometry) {
  return RoundUp(kHeaderBytes + LinesInAll(geometry) * sizeof(Line), kPage);
}
std::size_t BytesFor(const Geometry& geometry) {
  return RoundUp(RecordsAt(geometry) + LinesInAll(geometry) * Line::kSlots * geometry.record_words *
                                           sizeof(std::uint64_t),
                 kPage);
}

template <typename Checked>
std::uint64_t ChecksumOf(const Checked& checked) {
  return XXH3_64bits(&checked, offsetof(Checked, checksum));
}

std::uint64_t RandomSeed() {
  std::uint64_t seed = 0;
  if (getrandom(&seed, sizeof seed, 0) != sizeof seed) {
    seed = reinterpret_cast<std::uintptr_t>(&seed) ^ static_cast<std::uint64_t>(getpid());
  }
  return seed;
}

Identity NewIdentity(const Geometry& geometry) {
  Identity identity;
  identity.geometry = geometry;
  identity.hash_seed = RandomSeed();
  identity.checksum = ChecksumOf(identity);
  return identity;
}

Error Failed(const std::string& path, const std::string& what) {
  return Error{path + ": " + what + ": " +
               std::error_code(errno, std::generic_category()).message()};
}

// A descriptor that closes itself unless it is handed on.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() { Reset(-1); }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  void Reset(int fd) {
    if (fd_ >= 0) close(fd_);
    fd_ = fd;
  }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

// Makes a whole table under another name and links it into place, so that nobody ever sees half of
// one. Losing the race to another process is fine.
Result<bool> CreateFile(const std::string& path, const Geometry& geometry) {
  const std::string draft = path + ".new." + std::to_string(RandomSeed());
  const Descriptor file(open(draft.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (file.get() < 0) return Failed(path, "cannot be made");
  const auto give_up = [&](const std::string& what) {
    Error error = Failed(path, what);
    unlink(draft.c_str());
    return error;
  };
  // The space is taken now: a disk that is full is an error here and not a signal later.
  // It is asked for first, so that what cannot be had does not fill the disk for others meanwhile.
  const auto bytes = static_cast<off_t>(BytesFor(geometry));
  struct statvfs disk {};
  const bool too_small =
      fstatvfs(file.get(), &disk) == 0 && BytesFor(geometry) / disk.f_frsize >= disk.f_bavail;
  const int problem = too_small ? ENOSPC : posix_fallocate(file.get(), 0, bytes);
  if (problem != 0) {
    errno = problem;
    return give_up("cannot reserve " + std::to_string(bytes) + " bytes");
  }
  const Identity identity = NewIdentity(geometry);
  if (pwrite(file.get(), &identity, sizeof identity, 0) != sizeof identity ||
      fsync(file.get()) != 0) {
    return give_up("cannot be written");
  }
  if (link(draft.c_str(), path.c_str()) != 0 && errno != EEXIST) return give_up("cannot be made");
  unlink(draft.c_str());
  return true;
}

// What is wrong with a file that should be a table of `geometry`; empty if nothing.
std::string WhatIsWrongWith(int file, const Geometry& geometry) {
  struct stat status {};
  if (fstat(file, &status) != 0) return std::error_code(errno, std::generic_category()).message();
  if (!S_ISREG(status.st_mode)) return "is not a regular file";
  Identity found;
  if (pread(file, &found, sizeof found, 0) != sizeof found || found.magic != Identity::kMagic) {
    return "is not a table of Weir's";
  }
  if (found.version != Identity::kVersion) {
    return "is a table of version " + std::to_string(found.version) + ", this is version " +
           std::to_string(Identity::kVersion);
  }
  if (found.checksum != ChecksumOf(found)) return "is damaged: its header does not add up";
  if (static_cast<std::size_t>(status.st_size) != BytesFor(found.geometry)) {
    return "is damaged: it should have " + std::to_string(BytesFor(found.geometry)) +
           " bytes and has " + std::to_string(status.st_size);
  }
  // Records may be larger than needed: the limit may have been changed to a smaller one.
  if (found.geometry.lines != geometry.lines ||
      found.geometry.record_words < geometry.record_words) {
    return "was made for " + std::to_string(found.geometry.lines * Line::kSlots) + " slots with " +
           std::to_string(found.geometry.record_words) + " words beside each, and now " +
           std::to_string(geometry.lines * Line::kSlots) + " with " +
           std::to_string(geometry.record_words) +
           " are asked for: open it with the options it was made with, or use another file";
  }
  return {};
}

}  // namespace

Result<Memory> Memory::Anonymous(Geometry geometry) {
  // Aligned to huge pages; what is not needed of the mapping is given back.
  const std::size_t bytes = RoundUp(BytesFor(geometry), kHugePage);
  const std::size_t reserved = bytes + kHugePage;
  void* raw = mmap(nullptr, reserved, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (raw == MAP_FAILED)
    return Failed("table", "no memory for " + std::to_string(bytes) + " bytes");
  const auto start = reinterpret_cast<std::uintptr_t>(raw);
  const std::size_t before = RoundUp(start, kHugePage) - start;
  auto* base = static_cast<std::byte*>(raw) + before;
  if (before > 0) munmap(raw, before);
  munmap(base + bytes, kHugePage - before);
  madvise(base, bytes, MADV_HUGEPAGE);
  Memory memory(base, bytes, -1, Owner(Owner::kOnly, -1));
  memory.header().identity = NewIdentity(geometry);
  return memory;
}

Result<Memory> Memory::File(const std::string& path, Geometry geometry) {
  Descriptor file(open(path.c_str(), O_RDWR | O_CLOEXEC));
  if (file.get() < 0 && errno == ENOENT) {
    if (const Result<bool> made = CreateFile(path, geometry); !made) return made.error();
    file.Reset(open(path.c_str(), O_RDWR | O_CLOEXEC));
  }
  if (file.get() < 0) return Failed(path, "cannot be opened");
  if (const std::string wrong = WhatIsWrongWith(file.get(), geometry); !wrong.empty()) {
    return Error{path + ": " + wrong + ". It is left as it is."};
  }
  struct stat status {};
  fstat(file.get(), &status);
  const auto bytes = static_cast<std::size_t>(status.st_size);
  void* raw = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0);
  if (raw == MAP_FAILED) return Failed(path, "cannot be mapped");
  madvise(raw, bytes, MADV_HUGEPAGE);
  auto* base = static_cast<std::byte*>(raw);
  const std::uint32_t number =
      Owner::Enlist(file.get(), reinterpret_cast<Header*>(base)->last_owner);
  if (number == 0) {
    munmap(base, bytes);
    return Error{path + ": is in use by too many processes"};
  }
  // Numbers come round after 65535 processes; what the last owner of this one left is free.
  for (std::atomic<std::uint32_t>& lock : reinterpret_cast<Header*>(base)->locks) {
    std::uint32_t mine = number;
    lock.compare_exchange_strong(mine, 0, std::memory_order_acq_rel);
  }
  const int fd = file.Release();
  return Memory(base, bytes, fd, Owner(number, fd));
}

Memory::Memory(Memory&& other) noexcept
    : base_(std::exchange(other.base_, nullptr)),
      bytes_(other.bytes_),
      file_(std::exchange(other.file_, -1)),
      owner_(other.owner_) {}

Memory::~Memory() {
  if (base_ != nullptr) munmap(base_, bytes_);
  if (file_ >= 0) close(file_);
}

Line* Memory::lines() const noexcept { return reinterpret_cast<Line*>(base_ + kHeaderBytes); }

std::uint64_t* Memory::records() const noexcept {
  return reinterpret_cast<std::uint64_t*>(base_ + RecordsAt(header().identity.geometry));
}

namespace {

bool IsWhole(const Note& note) { return note.sequence != 0 && note.checksum == ChecksumOf(note); }

}  // namespace

Note Memory::CurrentNote() const {
  Note youngest;
  for (const Note& note : header().notes) {
    if (IsWhole(note) && note.sequence > youngest.sequence) youngest = note;
  }
  return youngest;
}

Note Memory::PreviousNote() const {
  const Note current = CurrentNote();
  Note previous;
  for (const Note& note : header().notes) {
    const bool other = IsWhole(note) && note.kind != current.kind;
    if (other && note.sequence > previous.sequence) previous = note;
  }
  return previous;
}

void Memory::WriteNote(Note note) {
  note.sequence = CurrentNote().sequence + 1;
  note.checksum = ChecksumOf(note);
  Note* oldest = nullptr;
  for (Note& held : header().notes) {
    if (!IsWhole(held)) held.sequence = 0;
    if (oldest == nullptr || held.sequence < oldest->sequence) oldest = &held;
  }
  *oldest = note;
}

void Memory::ForgetOlderNotes() {
  const std::uint64_t current = CurrentNote().sequence;
  for (Note& note : header().notes) {
    if (note.sequence != current) note.sequence = 0;
  }
}

Memory::Administration::Administration(const Memory& memory) : file_(memory.file_) {
  if (file_ >= 0) Owner::LockAdministration(file_);
}

Memory::Administration::~Administration() {
  if (file_ >= 0) Owner::UnlockAdministration(file_);
}

}  // namespace weir::table
