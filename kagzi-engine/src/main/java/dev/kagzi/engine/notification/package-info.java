/**
 * What servers on one database tell each other: that there is work, that a run has ended, that a
 * worker should stop a run. A notice only makes things faster; each has a slow fallback, so that a
 * lost one delays and never loses.
 *
 * <p>One coalesced NOTIFY per server and few milliseconds, on a connection of its own, never inside
 * a transaction of the journal: NOTIFY takes a lock at commit that all databases' committers share.
 * While a server is alone it says nothing.
 */
@NullMarked
package dev.kagzi.engine.notification;

import org.jspecify.annotations.NullMarked;
