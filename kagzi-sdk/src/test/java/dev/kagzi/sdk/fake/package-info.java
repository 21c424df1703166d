/**
 * An in-memory server for tests of the SDK alone. Tests can stop and start it, make calls fail or
 * wait, and inspect the calls that it received. It does not model the engine; the end-to-end tests
 * use the real server.
 */
@NullMarked
package dev.kagzi.sdk.fake;

import org.jspecify.annotations.NullMarked;
