/**
 * Memory limits for payloads. Payloads are the only large objects in a server, and their number
 * grows with the number of callers. Without a limit in bytes, enough callers would exhaust any
 * heap.
 *
 * <p>Promise: no limit exceeds a share of the heap ({@code MemoryConfig}). What does not fit is
 * refused or postponed, never queued without bound.
 *
 * <p>Knows no other package.
 */
@NullMarked
package dev.kagzi.engine.memory;

import org.jspecify.annotations.NullMarked;
