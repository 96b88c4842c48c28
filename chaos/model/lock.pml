/*
 * The protocol of one lock: leases, deadlines, renewals, releases, the guard, and passing the lock on inside a process.
 *
 * There are two processes of clients, one server with a replica, a network that loses, delays and repeats, and clocks
 * that drift. No number here grows without end: times are counted down, and an owner number is used again once nothing
 * refers to it. So a search visits every state of runs of any length.
 *
 *   GUARD    the server may be replaced by its replica, or restart with older data or none; clients have the guard
 *   TOKENS   with GUARD: every grant has a fencing token
 *   PASSING  process 0 has two tasks and passes the lock on between them
 *
 * configurations.ts lists what is searched. docs/model.md explains it, and names the file that does each step for real.
 */
#include "state.pml"
#include "server.pml"
#include "copies.pml"
#include "client.pml"
#include "link.pml"
#include "faults.pml"
#include "clock.pml"

init {
  atomic {
    run Client(0);
    run Client(1);
    run Link(0);
    run Link(1);
    run Nemesis();
    run Clock()
  }
}
