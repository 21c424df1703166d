/**
 * Workers: their registrations, heartbeats and Attach streams, and the recovery of their runs.
 *
 * <p>Owns {@code workers} and {@code worker_events}. A worker is one registration. Its heartbeats
 * show that it is alive and renew the leases of the claims that they list. The break of its Attach
 * stream is the first sign that it died. Heartbeats have their own journal, so that busy lanes do
 * not delay renewals.
 */
@NullMarked
package dev.kagzi.engine.internal.worker;

import org.jspecify.annotations.NullMarked;
