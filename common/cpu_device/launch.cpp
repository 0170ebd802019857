// SPDX-License-Identifier: MIT
//
// Launches: the workers, what they share out among themselves, and the watchdog over them.
#include "launch.hpp"

#include <signal.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "access.hpp"
#include "api.hpp"
#include "common/io/front_door.hpp"
#include "common/io/text.hpp"
#include "devices.hpp"
#include "fast.hpp"
#include "meetings.hpp"
#include "program_image.hpp"
#include "spinning.hpp"
#include "strict.hpp"
#include "symbolize.hpp"
#include "worker.hpp"

namespace cpu_device {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

// An OS thread that waits for work, for as long as the process lives.
class WorkerThread {
public:
    explicit WorkerThread(unsigned number) {
        worker_.number = number;
        std::thread([this] { live(); }).detach();
        wait(microseconds::max());
    }

    Worker& worker() { return worker_; }

    void start(std::function<void(Worker&)> work) {
        const std::lock_guard<std::mutex> lock(mutex_);
        work_ = std::move(work);
        idle_ = false;
        changed_.notify_all();
    }

    // Whether it has finished, after waiting for that at most so long.
    bool wait(microseconds longest) {
        std::unique_lock<std::mutex> lock(mutex_);
        const auto idle = [this] { return idle_; };
        if (longest != microseconds::max()) return changed_.wait_for(lock, longest, idle);
        changed_.wait(lock, idle);
        return true;
    }

private:
    void live() {
        become_worker(worker_);
        std::unique_lock<std::mutex> lock(mutex_);
        for (;;) {
            idle_ = true;
            changed_.notify_all();
            changed_.wait(lock, [this] { return !idle_; });
            lock.unlock();
            work_(worker_);
            lock.lock();
        }
    }

    Worker worker_;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::function<void(Worker&)> work_;
    bool idle_ = false;
};

struct WorkerPool {
    std::mutex one_launch;
    std::mutex growing;
    std::vector<std::unique_ptr<WorkerThread>> threads;
    std::string last_error;
    size_t error_count = 0;
    std::vector<std::string> first_errors;
    bool prints_errors = true, prints_waits = true;
    const EndOfGrids* ends = nullptr;
    uint64_t begun_before_ends = 0;
    std::vector<std::string> notes;
    std::set<uintptr_t> noted;  // places
    std::atomic<Observer*> observer{nullptr};
    std::atomic<uint64_t> launches_begun{0}, launches_ended{0};

    void grow(size_t count) {
        while (threads.size() < count) {
            auto next = std::make_unique<WorkerThread>(static_cast<unsigned>(threads.size()));
            const std::lock_guard<std::mutex> lock(growing);
            threads.push_back(std::move(next));
        }
    }
};

// What the blocks are doing that have begun and are not finished.
void print_states(WorkerPool& of) {
    constexpr int kShown = 8;
    const std::lock_guard<std::mutex> lock(of.growing);
    int blocks = 0;
    for (const auto& thread : of.threads) {
        const Worker& worker = thread->worker();
        if (worker.in_block && blocks++ < kShown) {
            std::fputs(block_state(worker).c_str(), stderr);
        }
    }
    if (blocks > kShown) std::fprintf(stderr, "  and %d blocks more\n", blocks - kShown);
}

// For test programs, which nobody watches: a process that runs for ever, whatever keeps it, ends
// and says where its kernels were. They may be running still, so this is a last look, not a sure one.
void limit_time(WorkerPool& of) {
    const double seconds = number_from_environment("CPU_DEVICE_TIME_LIMIT_SECONDS", 0);
    if (seconds <= 0) return;
    std::thread([&of, seconds] {
        std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
        std::fflush(stdout);
        std::fprintf(stderr,
                     "the process has used up the %g seconds that CPU_DEVICE_TIME_LIMIT_SECONDS "
                     "gives it; unfinished blocks:\n",
                     seconds);
        print_states(of);
        std::abort();
    }).detach();
}

WorkerPool& pool() {
    static WorkerPool* const instance = [] {
        install_watchdog_handler();
        io::end_with_front_door();
        WorkerPool* made = new WorkerPool;  // its threads live to the very end of the process
        limit_time(*made);
        return made;
    }();
    return *instance;
}

uint64_t usual_worker_count() {
    const double asked = number_from_environment("CPU_DEVICE_THREADS", 0);
    if (asked >= 1) return static_cast<uint64_t>(std::min(asked, 1024.0));
    return std::max(1u, std::thread::hardware_concurrency());
}

// How long no thread may get anywhere. What is observed takes about ten times as long.
constexpr int kTimesIfObserved = 10;
double patience_seconds(bool observed) {
    // Without hooks a loop that works looks like one that waits: it is said how far the grid is.
    if (is_fast()) return number_from_environment("CPU_DEVICE_WATCHDOG_SECONDS", 0);
    return number_from_environment("CPU_DEVICE_WATCHDOG_SECONDS", 10) *
           (observed ? kTimesIfObserved : 1);
}

// ---------------------------------------------------------------- what a worker does

void run_blocks(Worker& worker, Launch& launch) {
    worker.launch = &launch;
    worker.gang = &worker.alone;
    worker.sharing = &worker.alone;
    worker.cluster_rank = 0;
    worker.cluster_index = dim3(0, 0, 0);
    prepare_for_launch(worker);
    while (!launch.stopped) {
        const uint64_t index = launch.next_block++;
        if (index >= launch.block_count) break;
        worker.block = position(index, launch.request->configuration.grid);
        worker.alone.phase = worker.cluster_told = 0;
        run_block(worker);
    }
}

// The members of a gang meet; the last to come chooses the cluster that they run next.
void choose_cluster(Gang& gang, Launch& launch) {
    std::unique_lock<std::mutex> lock(gang.mutex);
    const uint64_t meeting = gang.meetings;
    if (++gang.here < gang.members.size()) {
        gang.all_here.wait(lock, [&] { return gang.meetings != meeting; });
        return;
    }
    gang.here = 0;
    gang.meetings++;
    if (!launch.stopped && !launch.cooperative) ClusterExits::judge(launch, gang);
    gang.cluster = launch.stopped ? UINT64_MAX : launch.next_block++;
    gang.phase = 0;
    gang.at_barrier.clear();
    gang.is_watched = is_proxy_watched(launch, gang.cluster * gang.members.size());
    gang.clocks.begin(static_cast<uint32_t>(gang.members.size()) * launch.threads);
    for (Worker* member : gang.members) {
        member->idle_since = UINT64_MAX;
        member->cluster_told = 0;
        member->cluster_left = false;
    }
    gang.all_here.notify_all();
}

void run_clusters(Worker& worker, Launch& launch, Gang& gang, unsigned rank) {
    const dim3 grid = launch.request->configuration.grid, cluster = launch.gang;
    worker.launch = &launch;
    worker.gang = &gang;
    worker.sharing = launch.cooperative ? &worker.alone : &gang;
    worker.cluster_rank = rank;
    const uint3 place = position(rank, cluster);
    worker.cluster_index = dim3(place);
    prepare_for_launch(worker);
    worker.exits.begin_block(launch.gang_size);
    const dim3 clusters(grid.x / cluster.x, grid.y / cluster.y, grid.z / cluster.z);
    for (;;) {
        choose_cluster(gang, launch);
        if (gang.cluster >= launch.block_count / launch.gang_size) break;
        const uint3 origin = position(gang.cluster, clusters);
        worker.block = {origin.x * cluster.x + place.x, origin.y * cluster.y + place.y,
                        origin.z * cluster.z + place.z};
        run_block(worker);
        leave_cluster(worker);
    }
}

// ---------------------------------------------------------------- the watchdog

// Ends a launch that gets nowhere. Counts its own looks rather than the clock, so that time spent
// in a debugger does not count.
class Watchdog {
public:
    static constexpr milliseconds kLook{50};

    explicit Watchdog(Launch& launch) : launch_(launch) {}

    void look(const std::vector<WorkerThread*>& threads) {
        uint64_t progress = 0;
        for (WorkerThread* thread : threads) progress += thread->worker().progress;
        looks_ = progress == seen_ ? looks_ + 1 : 0;
        seen_ = progress;
        if (launch_.patience > 0 && !launch_.timed_out) judge(threads);
        // Lanes that touch memory or wait notice that by themselves. Others must be interrupted.
        if (launch_.timed_out || launch_.stopped) looks_since_end_++;
        if (looks_since_end_ < kGraceLooks) return;
        for (WorkerThread* thread : threads) {
            pthread_kill(thread->worker().thread, watchdog_signal());
        }
    }

private:
    static double seconds(int looks) {
        return std::chrono::duration<double>(kLook).count() * looks;
    }

    void judge(const std::vector<WorkerThread*>& threads) {
        const double waited = seconds(looks_);
        if (waited >= launch_.patience) return give_up(waited, false);
        if (launch_.observer == nullptr) return;
        if (only_waits(threads)) return give_up(waited, true);
        if (waited >= launch_.patience / kTimesIfObserved) say_that_it_waits();
    }

    void give_up(double waited, bool only_waits) {
        launch_.waited = waited;
        launch_.only_waits = only_waits;
        launch_.timed_out = true;
    }

    // Whether all threads that run do nothing but wait, as long as those of a launch that is not
    // observed may: half of the time they are not looked at, then it is seen what they read, and
    // then nothing new may come.
    bool only_waits(const std::vector<WorkerThread*>& threads) {
        const double patience = launch_.patience / kTimesIfObserved;
        if (looks_ == 0 || launch_.gets_somewhere) {
            launch_.examination = 0;
            launch_.gets_somewhere = launch_.polled_is_known = false;
            looks_since_something_ = looks_;
        }
        const double waited = seconds(looks_ - looks_since_something_);
        if (launch_.examination == 0) {
            if (waited >= patience / 2) ask(threads);
        } else if (!launch_.polled_is_known) {
            if (waited >= patience * 3 / 4 && all_came_round(threads)) {
                launch_.polled_is_known = true;
                remember_rounds(threads);
            }
        } else {
            return waited >= patience && all_came_round(threads) && !launch_.gets_somewhere;
        }
        return false;
    }

    void ask(const std::vector<WorkerThread*>& threads) {
        remember_rounds(threads);
        launch_.examination = ++examinations_;
    }

    void remember_rounds(const std::vector<WorkerThread*>& threads) {
        rounds_.clear();
        for (WorkerThread* thread : threads) rounds_.push_back(thread->worker().idle_rounds);
    }

    // Those that have no block left to run need not.
    bool all_came_round(const std::vector<WorkerThread*>& threads) const {
        for (size_t i = 0; i < threads.size(); i++) {
            const uint64_t rounds = threads[i]->worker().idle_rounds - rounds_[i];
            if (rounds < kRoundsThatTell && !threads[i]->wait(milliseconds(0))) return false;
        }
        return true;
    }

    // Whoever sits before it is not to wonder all that time.
    void say_that_it_waits() {
        if (std::exchange(has_said_, true)) return;
        char text[256];
        std::snprintf(text, sizeof text,
                      " gets nowhere for %g s: perhaps a loop that never ends; it is ended "
                      "after %g",
                      launch_.patience / kTimesIfObserved, launch_.patience);
        if (!pool().prints_waits) return;
        std::fflush(stdout);
        std::fprintf(stderr, "%s\n",
                     io::wrapped("kernel " + name_of_kernel(*launch_.request) + text).c_str());
    }

    static constexpr int kGraceLooks = 6;
    Launch& launch_;
    bool has_said_ = false;
    uint64_t seen_ = 0;
    int looks_ = 0;  // since the last progress
    int looks_since_something_ = 0;
    uint64_t examinations_ = 0;
    std::vector<uint64_t> rounds_;  // of each thread, when it was asked
    int looks_since_end_ = 0;       // since the launch failed
};

// ---------------------------------------------------------------- a launch

std::vector<WorkerThread*> start_blocks(Launch& launch, WorkerPool& from) {
    const uint64_t count = std::min(usual_worker_count(), launch.block_count);
    from.grow(count);
    std::vector<WorkerThread*> started;
    for (uint64_t i = 0; i < count; i++) {
        started.push_back(from.threads[i].get());
        started.back()->start([&launch](Worker& worker) { run_blocks(worker, launch); });
        // What one does in less time than it takes to wake others it does alone.
        constexpr microseconds kWakes{100};
        if (is_fast() && i == 0 && started[0]->wait(kWakes)) break;
    }
    return started;
}

// A gang needs a worker for each of its blocks, however few there usually are.
std::vector<WorkerThread*> start_clusters(Launch& launch, WorkerPool& from,
                                          std::vector<std::unique_ptr<Gang>>& gangs) {
    const unsigned size = launch.gang_size;
    const uint64_t usual = std::max<uint64_t>(1, usual_worker_count() / size);
    const uint64_t count = std::min(launch.block_count / size, usual);
    from.grow(count * size);
    std::vector<WorkerThread*> started;
    for (uint64_t i = 0; i < count; i++) {
        gangs.push_back(std::make_unique<Gang>());
        Gang& gang = *gangs.back();
        for (unsigned rank = 0; rank < size; rank++) {
            gang.members.push_back(&from.threads[i * size + rank]->worker());
        }
        for (unsigned rank = 0; rank < size; rank++) {
            started.push_back(from.threads[i * size + rank].get());
            started.back()->start([&launch, &gang, rank](Worker& worker) {
                run_clusters(worker, launch, gang, rank);
            });
        }
    }
    return started;
}

// Notes, once a shuffle, that what a thread stored may depend on a value that it did not get.
void note_undefined(const Worker& worker, WorkerPool& to) {
    for (const UndefinedShuffle& shuffle : worker.undefined) {
        if (shuffle.stored_at == 0 || !to.noted.insert(shuffle.place).second) continue;
        to.notes.push_back("kernel " + name_of_kernel(*worker.launch->request) + ", block " +
                           coordinates(shuffle.block) + ", thread " + coordinates(shuffle.thread) +
                           ": the shuffle at " + user_line({shuffle.place}) + " " + shuffle.why +
                           ": the value is undefined, and what is stored at " +
                           user_line({shuffle.stored_at}) + " must not depend on it");
    }
}

// How many threads of a launch have come to their end. Where work is looked at, that counts as progress as well, so
// that only the blocks tell.
class ThreadsEnded {
public:
    ThreadsEnded(const std::vector<WorkerThread*>& threads, const Launch& launch)
        : threads_(threads), launch_(launch), before_(progress()) {}

    double count() const {
        if (is_fast()) return static_cast<double>(progress() - before_);
        const uint64_t begun =
            std::min(launch_.next_block * launch_.gang_size, launch_.block_count);
        return static_cast<double>(begun - std::min<uint64_t>(begun, threads_.size())) *
               launch_.threads;
    }

private:
    uint64_t progress() const {
        uint64_t all = 0;
        for (WorkerThread* thread : threads_) all += thread->worker().progress;
        return all;
    }

    const std::vector<WorkerThread*>& threads_;
    const Launch& launch_;
    const uint64_t before_;
};

void run_to_the_end(Launch& launch, WorkerPool& from) {
    std::vector<std::unique_ptr<Gang>> gangs;
    const std::vector<WorkerThread*> threads =
        launch.gang_size == 1 ? start_blocks(launch, from) : start_clusters(launch, from, gangs);
    Watchdog watchdog(launch);
    const double all_threads = static_cast<double>(launch.block_count) * launch.threads;
    Progress progress(*launch.request, from.launches_begun, all_threads);
    const ThreadsEnded ended(threads, launch);
    for (WorkerThread* thread : threads) {
        while (!thread->wait(Watchdog::kLook)) {
            watchdog.look(threads);
            if (tells_progress()) progress.look(ended.count());
        }
    }
    if (tells_progress()) progress.end();
    if (launch.failure.happened()) return;
    for (WorkerThread* thread : threads) note_undefined(thread->worker(), from);
}

// Workers keep the launch, and the block that they could not finish, until it has been told of.
void forget_launch(WorkerPool& to) {
    const std::lock_guard<std::mutex> lock(to.growing);
    for (const auto& thread : to.threads) {
        thread->worker().launch = nullptr;
        thread->worker().in_block = false;
    }
}

void print(const std::string& text) {
    std::fflush(stdout);  // so that the message comes after what the program printed before
    std::fprintf(stderr, "%s\n", is_strict() ? io::wrapped(text).c_str() : text.c_str());
}

void say(WorkerPool& to, const std::string& text) {
    to.last_error = text;
    to.error_count++;
    constexpr size_t kKept = 16;
    if (to.first_errors.size() < kKept) to.first_errors.push_back(text);
    if (to.prints_errors) print(text);
}

}  // namespace

double number_from_environment(const char* name, double otherwise) {
    const char* text = std::getenv(name);
    if (text == nullptr) return otherwise;
    char* end = nullptr;
    const double value = std::strtod(text, &end);
    return end != text && value >= 0 ? value : otherwise;
}

uint3 position(uint64_t index, dim3 extent) {
    return {static_cast<unsigned>(index % extent.x),
            static_cast<unsigned>(index / extent.x % extent.y),
            static_cast<unsigned>(index / extent.x / extent.y)};
}

void tell(const std::string& text) {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    say(all, text);
}

void mention(const std::string& text) {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    if (all.prints_errors) print(text);
}

cudaError_t run_launch(const LaunchRequest& request) {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    Launch launch;
    launch.request = &request;
    const dim3 block = request.configuration.block, grid = request.configuration.grid;
    launch.threads = block.x * block.y * block.z;
    launch.block_count = uint64_t{grid.x} * grid.y * grid.z;
    launch.cooperative = request.configuration.cooperative;
    launch.gang = launch.cooperative ? grid : request.configuration.cluster;
    launch.gang_size = launch.gang.x * launch.gang.y * launch.gang.z;
    launch.memory = allocation_table();
    launch.device_memory = device_memory_range();
    launch.device = current_device();  // its stream may be gone, where a graph runs it
    launch.program = program_image().all;
    launch.observer = all.observer;
    launch.patience = patience_seconds(launch.observer != nullptr);
    ++all.launches_begun;
    if (all.ends != nullptr) {
        constexpr uint64_t kMostLaunches = 1000;
        const bool are_many = all.launches_begun - all.begun_before_ends > kMostLaunches;
        if (are_many || launch.cooperative || launch.block_count < all.ends->fewest_blocks()) {
            ++all.launches_ended;
            return are_many ? cudaErrorNotSupported : cudaSuccess;
        }
        launch.next_block = launch.block_count / launch.gang_size - 1;
    }
    std::string name;
    if (launch.observer != nullptr) {
        name = name_of_kernel(request);
        launch.observer->begin_launch({name.c_str(), request.configuration});
    }
    const void* const kernel = request.kernel_address != nullptr
                                   ? request.kernel_address
                                   : reinterpret_cast<const void*>(request.run);
    launch.watches_proxy = may_use_proxy(kernel);
    {
        const FaultHandlers handlers;
        run_to_the_end(launch, all);
    }
    note_proxy_use(kernel, launch.uses_proxy);
    ++all.launches_ended;
    for (const auto& [place, failure] : launch.overlooked.all()) {
        if (all.noted.insert(place).second)
            say(all, failure_text(failure, name_of_kernel(request)) +
                         " (undefined; a GPU runs on, and so does this launch)");
    }
    const bool failed = launch.failure.happened();
    if (launch.observer != nullptr) launch.observer->end_launch(failed);
    if (!failed) {
        forget_launch(all);
        return cudaSuccess;
    }
    const Failure& failure = launch.failure.get();
    say(all, failure_text(failure, name_of_kernel(request)));
    const std::string& explanation = launch.failure.explanation();
    if (!explanation.empty() && all.prints_errors) std::fputs(explanation.c_str(), stderr);
    all.last_error += explanation.empty() ? "" : "\n" + explanation;
    if (failure.code == cudaErrorLaunchTimeout) print_states(all);
    forget_launch(all);
    remember_failure(failure.code);
    return failure.code;
}

EndOfGrids::EndOfGrids(uint64_t fewest_blocks) : fewest_blocks_(fewest_blocks) {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    all.ends = this;
    all.begun_before_ends = all.launches_begun;
}

EndOfGrids::~EndOfGrids() {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    all.ends = nullptr;
}

bool EndOfGrids::exist() {
    return pool().ends != nullptr;
}

Observer* set_observer(Observer* observer) {
    WorkerPool& all = pool();
    const std::lock_guard<std::mutex> lock(all.one_launch);
    return all.observer.exchange(observer);
}

uint64_t launches_begun() {
    return pool().launches_begun;
}

bool is_launch_running() {
    return pool().launches_begun != pool().launches_ended;
}

Observer* observer() {
    return pool().observer;
}

const char* last_error_text() {
    return pool().last_error.c_str();
}

std::string take_last_error() {
    return std::exchange(pool().last_error, "");
}

size_t error_count() {
    return pool().error_count;
}

const std::vector<std::string>& first_errors() {
    return pool().first_errors;
}

const std::vector<std::string>& notes() {
    return pool().notes;
}

void print_waits(bool yes) {
    pool().prints_waits = yes;
}

void print_errors(bool yes) {
    pool().prints_errors = yes;
}

}  // namespace cpu_device
