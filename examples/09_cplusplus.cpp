/* examples/09_cplusplus.cpp — C++17: communicators that free themselves, containers, lambdas as operators
 *
 * The three classes are what a program would keep in a header of its own. A rank that leaves by an
 * exception aborts its communicator on the way, so that the other ranks do not wait for it.
 *
 *   c++ -std=c++17 -Iinclude examples/09_cplusplus.cpp -o 09 -pthread && ./09
 */
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <numeric>
#include <stdexcept>
#include <thread>
#include <utility>
#include <vector>

#include "coll/comm.h"
#include "coll/transports/threads.h"

/* ---- the classes ------------------------------------------------------------------------- */

class failure : public std::runtime_error
{
  public:
    explicit failure(coll_status why) : std::runtime_error(coll_status_text(why)), status(why)
    {
    }
    const coll_status status;
};

static void check(coll_status status)
{
    if (status != COLL_OK)
        throw failure(status);
}

/* The library's number of an element type; of one that it does not know, its size. */
template <class T> inline constexpr coll_type type_of = COLL_OPAQUE(sizeof(T));
template <> inline constexpr coll_type type_of<double> = COLL_F64;
template <> inline constexpr coll_type type_of<float> = COLL_F32;
template <> inline constexpr coll_type type_of<std::int32_t> = COLL_I32;

/* A rank's communicator. Others point to it, so it stays where it was made. */
class communicator
{
  public:
    communicator(coll_threads *world, std::uint32_t rank, std::uint32_t p, std::size_t scratch)
        : arena(scratch)
    {
        check(coll_comm_init(&comm, &coll_threads_transport, coll_threads_rank(world, rank),
                             rank, p, arena.data(), arena.size()));
    }
    communicator(const communicator &) = delete;
    communicator &operator=(const communicator &) = delete;
    ~communicator()
    {
        if (std::uncaught_exceptions() > exceptions)
            (void)coll_comm_abort(&comm, COLL_ERR_CANCELLED);
        (void)coll_comm_free(&comm);
    }

    std::uint32_t rank() const
    {
        return comm.rank;
    }

    /* In place, on anything that has data() and size(). */
    template <class Range> void allreduce(Range &range, coll_operator op)
    {
        using T = typename Range::value_type;
        check(coll_allreduce(&comm, COLL_IN_PLACE, std::data(range), std::size(range),
                             type_of<T>, op));
    }

  private:
    friend class request;
    template <class T, class F> friend class operation;
    std::vector<std::byte> arena;
    coll_comm comm;
    const int exceptions = std::uncaught_exceptions();
};

/* A call that runs, and is waited for at the latest where it goes out of scope. It does not move either,
 * but a function may return one: C++17 makes it where the caller wants it. */
class request
{
  public:
    template <class Range> request(communicator &of, Range &range, coll_operator op)
    {
        using T = typename Range::value_type;
        check(coll_iallreduce(&of.comm, COLL_IN_PLACE, std::data(range), std::size(range),
                              type_of<T>, op, &call));
    }
    request(const request &) = delete;
    request &operator=(const request &) = delete;
    ~request()
    {
        if (running)
            (void)coll_wait(&call);
    }
    void wait()
    {
        running = false;
        check(coll_wait(&call));
    }

  private:
    coll_request call;
    bool running = true;
};

/* An operator on elements of type T: any callable of two of them. Known to a communicator as long as it
 * exists. */
template <class T, class F> class operation
{
  public:
    operation(communicator &of, F callable, bool commutative) : comm(of), f(std::move(callable))
    {
        const coll_op op = COLL_OP(combine, &f, commutative, false);
        check(coll_comm_add_op(&comm.comm, &entry, &op, type_of<T>, &number));
    }
    operation(const operation &) = delete;
    operation &operator=(const operation &) = delete;
    ~operation()
    {
        (void)coll_comm_remove_op(&comm.comm, number);
    }
    operator coll_operator() const
    {
        return number;
    }

  private:
    static void combine(void *dst, const void *a, const void *b, std::size_t count, void *arg)
    {
        const auto *x = static_cast<const T *>(a), *y = static_cast<const T *>(b);
        for (std::size_t i = 0; i < count; i++)
            static_cast<T *>(dst)[i] = (*static_cast<F *>(arg))(x[i], y[i]);
    }
    communicator &comm;
    F f;
    coll_op_entry entry;
    coll_operator number;
};

/* T is given, and the callable deduced. */
template <class T, class F>
operation<T, F> make_operation(communicator &comm, F f, bool commutative)
{
    return {comm, std::move(f), commutative};
}

/* ---- the program ------------------------------------------------------------------------- */

static constexpr std::uint32_t P = 4;

/* How many numbers, their mean, and the sum of squared distances from it. */
struct moments {
    double n, mean, squares;
};

/* Mean and deviation of the numbers 1 … 4000, of which each rank has a quarter: moments are merged by a
 * lambda (Chan, Golub, LeVeque 1983) while the ranks find their sum. */
static bool statistics(communicator &comm)
{
    std::vector<double> mine(1000);
    std::iota(mine.begin(), mine.end(), 1.0 + 1000.0 * comm.rank());

    const double own = std::accumulate(mine.begin(), mine.end(), 0.0);
    std::array<double, 1> sum{own};
    request summing(comm, sum, COLL_SUM);

    const auto merge = make_operation<moments>(
        comm,
        [](const moments &a, const moments &b) {
            const double n = a.n + b.n, apart = b.mean - a.mean;
            return moments{n, a.mean + apart * b.n / n,
                           a.squares + b.squares + apart * apart * a.n * b.n / n};
        },
        true);
    std::array<moments, 1> all{{{1000, own / 1000, 0}}};
    for (const double x : mine)
        all[0].squares += (x - all[0].mean) * (x - all[0].mean);
    comm.allreduce(all, merge);
    summing.wait();
    if (comm.rank() == 0)
        std::printf("%.0f numbers, sum %.0f, mean %.1f, deviation %.4f\n", all[0].n, sum[0],
                    all[0].mean, std::sqrt(all[0].squares / all[0].n));
    /* of 1 … n: (n + 1) / 2, and the square root of (n² − 1) / 12 */
    return sum[0] == 4000.0 * 4001 / 2 && all[0].n == 4000 && all[0].mean == 2000.5 &&
           std::fabs(all[0].squares / 4000 - (4000.0 * 4000 - 1) / 12) < 1e-6;
}

/* Rank 1 throws instead of taking part; the others end with COLL_ERR_PEER. */
static void leave(communicator &comm)
{
    std::vector<float> x(10, 1);
    if (comm.rank() == 1)
        throw std::logic_error("rank 1 has enough");
    comm.allreduce(x, COLL_MAX);
}

int main()
{
    coll_threads *world = coll_threads_create(P);
    std::array<bool, P> right{}, told{};
    std::vector<std::thread> threads;
    if (!world)
        return 1;
    for (std::uint32_t rank = 0; rank < P; rank++)
        threads.emplace_back([=, &right, &told] {
            try {
                {
                    communicator comm(world, rank, P, 4096);
                    right[rank] = statistics(comm);
                }
                communicator comm(world, rank, P, 4096);
                leave(comm);
            } catch (const failure &e) {
                told[rank] = e.status == COLL_ERR_PEER;
            } catch (const std::logic_error &e) {
                told[rank] = rank == 1;
                std::printf("%s\n", e.what());
            }
        });
    for (auto &thread : threads)
        thread.join();
    coll_threads_destroy(world);
    for (std::uint32_t rank = 0; rank < P; rank++)
        if (!right[rank] || !told[rank])
            return 1;
    return 0;
}
