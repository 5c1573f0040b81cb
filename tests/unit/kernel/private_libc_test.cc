// SPDX-License-Identifier: GPL-2.0-only
#include "kernel/private_libc.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <set>
#include <thread>

#include "base/files.h"
#include "pctctl/points.h"
#include "support/temporary.h"

namespace pctctl {
namespace {

using testing::HasSubstr;

constexpr const char* kNames[] = {
#define X(symbol, traits) #symbol,
    PCT_LIBC_POINTS(X)
#undef X
};

unsigned index_of(const std::string& name) {
    for (unsigned i = 0; i < std::size(kNames); i++)
        if (name == kNames[i])
            return i;
    return ~0U;
}

// A copy of this machine's C library, which tests may change.
class Library : public testing::Test {
protected:
    void SetUp() override {
        auto path = libc_path();
        ASSERT_TRUE(path) << path.error().message;
        original_ = *read_text(*path);
        copy_ = directory_.file("libc.so.6", original_, 0755);
        fd_.reset(::open(copy_.c_str(), O_RDWR | O_CLOEXEC));
    }
    test::TemporaryDirectory directory_;
    std::string original_, copy_;
    Fd fd_;
};

TEST_F(Library, PathIsReal) {
    auto path = libc_path();
    ASSERT_TRUE(path);
    EXPECT_EQ(std::filesystem::canonical(*path), *path);
}

TEST_F(Library, Points) {
    auto points = prepare_libc_points(fd_.get());
    ASSERT_TRUE(points) << points.error().message;
    std::set<std::uint64_t> offsets;
    std::set<unsigned> indices;
    std::string changed = *read_text(copy_);
    ASSERT_EQ(changed.size(), original_.size());
    for (const LibcPoint& point : *points) {
        EXPECT_TRUE(offsets.insert(point.offset).second) << kNames[point.index];
        EXPECT_TRUE(indices.insert(point.index).second) << kNames[point.index];
        ASSERT_LT(point.offset, changed.size());
        EXPECT_NE(changed[point.offset], '\xf0') << kNames[point.index] << " begins with LOCK";
    }
    for (const char* name :
         {"pthread_mutex_lock", "pthread_mutex_unlock", "pthread_cond_wait", "pthread_create",
          "pthread_spin_lock", "sem_post", "pthread_join", "mtx_lock", "thrd_create"})
        EXPECT_TRUE(indices.contains(index_of(name))) << name;
}

TEST_F(Library, PreparedTwiceIsTheSame) {
    auto first = prepare_libc_points(fd_.get());
    std::string changed = *read_text(copy_);
    auto second = prepare_libc_points(fd_.get());
    ASSERT_TRUE(first);
    ASSERT_TRUE(second);
    EXPECT_EQ(*first, *second);
    EXPECT_EQ(*read_text(copy_), changed);
}

// The code at a point's offset in the file is that of the function in memory.
TEST_F(Library, OffsetsAreThoseOfTheFunctions) {
    auto points = prepare_libc_points(fd_.get());
    ASSERT_TRUE(points);
    unsigned compared = 0;
    for (const LibcPoint& point : *points) {
        if (kNames[point.index] == std::string("pthread_spin_lock"))
            continue; // its point is not at its beginning
        void* function = ::dlsym(RTLD_NEXT, kNames[point.index]);
        if (!function)
            function = ::dlsym(RTLD_DEFAULT, kNames[point.index]);
        ASSERT_NE(function, nullptr) << kNames[point.index];
        Dl_info info;
        ASSERT_NE(::dladdr(function, &info), 0);
        if (std::filesystem::canonical(info.dli_fname) != *libc_path())
            continue; // a sanitizer has replaced it
        EXPECT_EQ(std::memcmp(function, original_.data() + point.offset, 16), 0)
            << kNames[point.index];
        compared++;
    }
    EXPECT_GE(compared, 20u);
}

TEST(SpinLock, ExcludesThreads) {
    pthread_spinlock_t lock;
    pthread_spin_init(&lock, PTHREAD_PROCESS_PRIVATE);
    long count = 0;
    auto work = [&] {
        for (int i = 0; i < 100000; i++) {
            pthread_spin_lock(&lock);
            count++;
            pthread_spin_unlock(&lock);
        }
    };
    std::thread other(work);
    work();
    other.join();
    EXPECT_EQ(count, 200000);
    if (const char* report = std::getenv("PCTCTL_TEST_MAPS"))
        std::ofstream(report) << *read_text("/proc/self/maps"); // for WorksWhenChanged
}

// Executes the test above again, in a process that uses the changed library.
TEST_F(Library, WorksWhenChanged) {
    ASSERT_TRUE(prepare_libc_points(fd_.get()));
    // The only function that may begin with a LOCK prefix. In some C libraries it does not.
    if (*static_cast<const unsigned char*>(::dlsym(RTLD_DEFAULT, "pthread_spin_lock")) != 0xf0)
        GTEST_SKIP() << "this C library needs no change";
    ASSERT_NE(*read_text(copy_), original_) << "nothing was changed: what is tested here?";
    fd_.reset(); // open for writing, it could not be mapped for execution on some file systems
    std::string report = directory_.path() + "/maps";
    pid_t pid = ::fork();
    ASSERT_GE(pid, 0);
    if (pid == 0) {
        ::setenv("LD_LIBRARY_PATH", directory_.path().c_str(), 1);
        ::setenv("PCTCTL_TEST_MAPS", report.c_str(), 1);
        int null = ::open("/dev/null", O_WRONLY);
        ::dup2(null, 1);
        ::execl("/proc/self/exe", "unit", "--gtest_filter=SpinLock.*", nullptr);
        ::_exit(127);
    }
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
    EXPECT_THAT(read_text(report).value_or(""), HasSubstr(copy_));
}

TEST_F(Library, NotALibrary) {
    Fd file(::open(directory_.file("text", "hello").c_str(), O_RDWR));
    auto points = prepare_libc_points(file.get());
    ASSERT_FALSE(points);
    EXPECT_EQ(points.error().status, ExitStatus::environment);
}

TEST(PrivateFile, IsACopyOnAnotherInode) {
    test::TemporaryDirectory directory;
    std::string text(3 << 20, 'x');
    std::string path = directory.file("file", text, 0755);
    auto file = PrivateFile::copy(path);
    if (!file && ::geteuid() != 0)
        GTEST_SKIP() << "needs root";
    ASSERT_TRUE(file) << file.error().message;
    EXPECT_EQ(file->original(), std::filesystem::canonical(path));
    EXPECT_EQ(read_text(file->probe_path()), text);
    struct stat original, copy;
    ASSERT_EQ(::stat(path.c_str(), &original), 0);
    ASSERT_EQ(::stat(file->probe_path().c_str(), &copy), 0);
    EXPECT_NE(original.st_dev, copy.st_dev);
    EXPECT_EQ(copy.st_mode & 0777, 0755u);
    // It is not mounted anywhere.
    std::string device =
        " " + std::to_string(major(copy.st_dev)) + ":" + std::to_string(minor(copy.st_dev)) + " ";
    EXPECT_EQ(read_text("/proc/self/mountinfo")->find(device), std::string::npos);
}

TEST(PrivateFile, CanBeExecutedWhenClosedForWriting) {
    auto file = PrivateFile::copy("/bin/true");
    if (!file && ::geteuid() != 0)
        GTEST_SKIP() << "needs root";
    ASSERT_TRUE(file) << file.error().message;
    auto closed = file->close_for_writing();
    ASSERT_TRUE(closed) << closed.error().message;
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
        char name[] = "true";
        char* arguments[] = {name, nullptr};
        ::fexecve(file->fd(), arguments, environ);
        ::_exit(errno == ETXTBSY ? 26 : 127);
    }
    int status = -1;
    ASSERT_EQ(::waitpid(child, &status, 0), child);
    EXPECT_EQ(status, 0);
}

// Otherwise a set-user-id program of an ordinary user would run as root.
TEST(PrivateFile, OwnerAndModeAreTheOriginals) {
    if (::geteuid() != 0)
        GTEST_SKIP() << "needs root";
    test::TemporaryDirectory directory;
    const std::string path = directory.file("file", "text");
    for (const mode_t mode : {06755u, 04711u, 02755u, 01600u, 0755u}) {
        ASSERT_EQ(::chown(path.c_str(), 54321, 54322), 0);
        ASSERT_EQ(::chmod(path.c_str(), mode), 0);
        auto file = PrivateFile::copy(path);
        ASSERT_TRUE(file) << file.error().message;
        struct stat copy;
        ASSERT_EQ(::fstat(file->fd(), &copy), 0);
        EXPECT_EQ(copy.st_uid, 54321u);
        EXPECT_EQ(copy.st_gid, 54322u);
        struct statvfs place{};
        ASSERT_EQ(::statvfs(path.c_str(), &place), 0);
        EXPECT_EQ(copy.st_mode & 07777, place.f_flag & ST_NOSUID ? mode & 01777 : mode);
    }
}

TEST(PrivateFile, Absent) {
    auto file = PrivateFile::copy("/nonexistent");
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr("No such file"));
}

class Program : public testing::Test {
protected:
    void expect_error(const std::string& name, int error) {
        auto info = inspect_program(name);
        ASSERT_FALSE(info) << name;
        EXPECT_EQ(info.error().status, ExitStatus::usage);
        EXPECT_THAT(info.error().message,
                    testing::StartsWith("cannot run '" + name + "': " + errno_text(error)));
    }
    test::TemporaryDirectory directory_;
};

TEST_F(Program, ThroughThePath) {
    auto info = inspect_program("sh");
    ASSERT_TRUE(info);
    EXPECT_EQ(info->path, std::filesystem::canonical("/bin/sh"));
    EXPECT_FALSE(info->is_static);
    EXPECT_TRUE(info->points.empty());
}

TEST_F(Program, CannotBeRun) {
    expect_error("", ENOENT);
    expect_error("no-such-program-anywhere", ENOENT);
    expect_error(directory_.path() + "/none", ENOENT);
    expect_error(directory_.file("text", "hello", 0644), EACCES);
    expect_error(directory_.path(), EACCES);
    expect_error(directory_.path() + "/text/below", ENOTDIR);
}

TEST_F(Program, Scripts) {
    std::string script = directory_.file("script", "#! /bin/sh -e\nexit\n", 0755);
    auto info = inspect_program(script);
    ASSERT_TRUE(info) << info.error().message;
    EXPECT_EQ(info->path, std::filesystem::canonical("/bin/sh"));
    auto nested = inspect_program(directory_.file("nested", "#!" + script + "\n", 0755));
    ASSERT_TRUE(nested);
    EXPECT_EQ(nested->path, std::filesystem::canonical("/bin/sh"));
    std::string loop = directory_.path() + "/loop";
    directory_.file("loop", "#!" + loop + "\n", 0755);
    expect_error(loop, ELOOP);
    expect_error(directory_.file("lost", "#!/no/such/interpreter\n", 0755), ENOENT);
}

TEST_F(Program, NeitherBinaryNorScript) {
    std::string path = directory_.file("plain", "echo hello\n", 0755); // execvp gives it to a shell
    auto info = inspect_program(path);
    ASSERT_TRUE(info);
    EXPECT_FALSE(info->is_static);
}

TEST_F(Program, Static) {
    std::string path = directory_.path() + "/static";
    std::string source = directory_.file("s.c", "#include <pthread.h>\n"
                                                "int main(void) {\n"
                                                "    static pthread_mutex_t m;\n"
                                                "    return pthread_mutex_lock(&m);\n"
                                                "}\n");
    if (std::system(("cc -static -o '" + path + "' '" + source + "'").c_str()) != 0)
        GTEST_SKIP() << "no C compiler with a static C library";
    auto info = inspect_program(path);
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->is_static);
    std::set<unsigned> indices;
    for (const LibcPoint& point : info->points)
        indices.insert(point.index);
    EXPECT_TRUE(indices.contains(index_of("pthread_mutex_lock")));
    ASSERT_EQ(std::system(("strip '" + path + "'").c_str()), 0);
    info = inspect_program(path);
    ASSERT_TRUE(info);
    EXPECT_TRUE(info->is_static);
    EXPECT_TRUE(info->points.empty());
}

} // namespace
} // namespace pctctl
