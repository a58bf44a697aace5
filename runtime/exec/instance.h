// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* Copies of stores in the memory of a device (device/device.h).
 *
 * Rows are elements of the dimension by which a store's home is cut, or of its first one. Of every row this
 * rank knows whether the host or the device has its value, or both. That is kept as a few intervals, so it
 * costs the same for any store; where more would be needed, rows go back to the host. All of this is about
 * this rank's two memories: what other ranks have is the business of need.c and move.c, which bring
 * everything to the host. */
#ifndef CF_EXEC_INSTANCE_H
#define CF_EXEC_INSTANCE_H

#include "exec/exec.h"

enum { CF_INSTANCE_POISON = 0xfb }; /* fills what is stale, for tests; as a double about -1e288 */

/* The dimension of rows. */
int cf_instance_dim(const cf_store *s);
/* All functions do nothing for a store without an instance, and empty ranges are allowed. */

/* Rows [lo, hi) are current on the host. */
cf_status cf_instance_host(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);
/* The host, or a message to it, is about to write all of rows [lo, hi). Not afterwards: to keep the number of
 * intervals small, rows may come from the device. */
cf_status cf_instance_host_wrote(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);
/* There is memory for rows [lo, hi) on the device; fetch: and they are current there. Makes an instance. */
cf_status cf_instance_device(cf_exec *x, cf_store *s, int64_t lo, int64_t hi, bool fetch);
/* A kernel is about to write rows [lo, hi), which need not be fetched for others of its group. */
cf_status cf_instance_claim(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);
/* A kernel that was launched writes rows [lo, hi). Not before its launch: what has to go to the host to keep
 * the number of intervals small is read at once. */
cf_status cf_instance_device_wrote(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);
/* Messages of rows of the store may go to and from the device's memory: there are k ranges that will come,
 * and to mark them brings no other rows to the host. */
bool cf_instance_direct(const cf_store *s, uint32_t k);
/* A message to the device is about to write rows [lo, hi), for which there is memory. */
cf_status cf_instance_comes(cf_exec *x, cf_store *s, int64_t lo, int64_t hi);
/* All of rows [lo, hi) are current on the device. */
bool cf_instance_there(const cf_store *s, int64_t lo, int64_t hi);
/* Where the device has the store: row 0 is there, though only rows with memory are. NULL: nowhere. */
void *cf_instance_base(const cf_store *s);
/* Everything is current on the host, and the device has nothing of it. */
cf_status cf_instance_home(cf_exec *x, cf_store *s);
/* Memory of the device for other purposes; CF_ENOMEM, without a message, if nothing more can be given up for
 * it. */
cf_status cf_instance_memory(cf_exec *x, size_t bytes, void **out);
/* A group begins: what it uses from here on is not given up for want of memory. */
void cf_instance_turn(cf_exec *x);

#endif
